#!/usr/bin/env python3
"""A lock on memcached as people write it: add, and a delete that asks nobody. It is flawed: who comes late deletes the lock of another.

Run it with: lockstorm run --backend exec:cmd=adapters/python/memcached_lock.py --nemesis client-pause:at=before-release
It brings its server: lockstorm knows nothing of memcached but what "servers" says. memcached_cas_lock.py is the same without the flaw.
"""
import socket
import sys

import lockstorm


class Memcached:
    """One connection, made anew after an error: an answer that comes late is never taken for another one's."""

    def __init__(self, node, limit):
        self.address, self.limit, self.file = (node["host"], node["port"]), limit, None

    def call(self, text):
        """Sends a command, and returns the lines of its answer."""
        if self.file is None:
            try:
                self.socket = socket.create_connection(self.address, timeout=self.limit)
            except OSError as error:
                raise lockstorm.NotSent(str(error)) from error
            self.file = self.socket.makefile("rb")
        try:
            self.socket.sendall(text.encode())
            lines = [self.line()]
            while lines[0].startswith("VALUE ") and lines[-1] != "END":
                lines.append(self.line())
            return lines
        except OSError:
            self.socket.close()
            self.file = None
            raise

    def line(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection was closed")
        return line[:-2].decode()


class Lock(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "memcached_lock.py", "version": "1", "doc": "add with an expiry on memcached, released by a blind delete",
        "topologies": ["memcached"], "ends": "lease", "clock": "monotonic", "versions": {"python": sys.version.split()[0]},
        "servers": [{
            "name": "memcached-1", "command": ["memcached", "-l", "127.0.0.1", "-p", "{port}", "-U", "0", "-u", "nobody"],
            "version": ["-V"], "package": "memcached", "keeps": False,
        }],
    }

    def open(self, request):
        self.store = Memcached(request["nodes"][0], request["timeout_ns"] / 1e9)
        self.run, self.ttl = request["run"], request["lease_ns"]

    def attempt(self, request, cancelled):
        key, sent = f"{self.run}:{request['lock']}", lockstorm.now()
        # memcached counts whole seconds, and the first of them may be short.
        seconds, owner = -(-self.ttl // 10**9) + 1, request["owner"]
        answer = self.store.call(f"add {key} 0 {seconds} {len(owner)}\r\n{owner}\r\n")[0]
        if answer == "NOT_STORED":
            raise lockstorm.Busy
        self.expect(answer, "STORED")
        return (key, owner), {"sent": sent, "ttl_ns": self.ttl}

    def release(self, hold):
        answer = self.store.call(f"delete {hold[0]}\r\n")[0]
        if answer == "NOT_FOUND":
            raise lockstorm.NotHeld
        self.expect(answer, "DELETED")

    @staticmethod
    def expect(answer, good):
        if answer != good:
            raise RuntimeError(f"memcached answered {answer!r}")


if __name__ == "__main__":
    lockstorm.serve(Lock())
