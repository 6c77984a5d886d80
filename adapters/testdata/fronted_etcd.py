#!/usr/bin/env python3
"""python-etcd3 behind a server of its own that passes connections on to servers of etcd: servers on a topology of lockstorm."""
import os
import socket
import socketserver
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))


def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in source, sink:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Front(socketserver.BaseRequestHandler):
    def handle(self):
        for address in sys.argv[3:]:
            try:
                host, port = address.split(":")
                behind = socket.create_connection((host, int(port)), timeout=1)
            except OSError:
                continue
            behind.settimeout(None)
            threading.Thread(target=copy, args=(behind, self.request), daemon=True).start()
            return copy(self.request, behind)


if sys.argv[1:2] == ["front"]:
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[2])), Front).serve_forever()

import etcd3_lock  # noqa: E402
import lockstorm  # noqa: E402


class Fronted(etcd3_lock.Etcd3Lock):
    ABOUT = {
        **etcd3_lock.Etcd3Lock.ABOUT, "name": "fronted_etcd.py", "topologies": ["fronted"], "over": "etcd-three",
        "servers": [{"name": "front-1", "keeps": True, "command": [
            os.path.abspath(__file__), "front", "{port}", "{address:etcd-1}", "{address:etcd-2}", "{address:etcd-3}"]}],
    }

    def open(self, request):
        super().open({**request, "nodes": [n for n in request["nodes"] if n["name"] == "front-1"]})


lockstorm.serve(Fronted())
