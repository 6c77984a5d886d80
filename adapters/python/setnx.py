#!/usr/bin/env python3
"""SET NX PX with a release by compare-and-delete, by hand: the algorithm of the backend redis-lua in Python.

Run it with: lockstorm run --backend exec:cmd=adapters/python/setnx.py
It shows that a lock is judged alike in either language: the faults of docs/backends.md fail the same checks.
"""
import socket
import sys

import lockstorm

RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


class Redis:
    """One connection, made anew after an error: an answer that comes late is never taken for another one's."""

    def __init__(self, host, port, limit):
        self.address, self.limit, self.file = (host, port), limit, None

    def call(self, *words):
        if self.file is None:
            try:
                self.socket = socket.create_connection(self.address, timeout=self.limit)
            except OSError as error:
                raise lockstorm.NotSent(str(error)) from error
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.file = self.socket.makefile("rb")
        text = b"*%d\r\n" % len(words)
        for word in words:
            word = str(word).encode()
            text += b"$%d\r\n%s\r\n" % (len(word), word)
        try:
            self.socket.sendall(text)
            return self.answer()
        except (OSError, ValueError, EOFError):
            self.socket.close()
            self.file = None
            raise

    def answer(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError("the connection was closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        return rest


class SetNX(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "setnx.py", "version": "1", "doc": "SET NX PX, released by compare-and-delete, in Python",
        "topologies": ["redis-single", "redis-single-aof"], "ends": "lease", "clock": "monotonic", "keys": ["lockstorm:{run}:{lock}"],
        "versions": {"python": sys.version.split()[0]},
    }

    def open(self, request):
        node = request["nodes"][0]
        self.redis = Redis(node["host"], node["port"], request["timeout_ns"] / 1e9)
        self.run, self.ttl = request["run"], request["lease_ns"] // 1000000

    def attempt(self, request, cancelled):
        key, sent = f"lockstorm:{self.run}:{request['lock']}", lockstorm.now()
        if self.redis.call("SET", key, request["owner"], "NX", "PX", self.ttl) is None:
            raise lockstorm.Busy
        return (key, request["owner"]), {"sent": sent, "ttl_ns": self.ttl * 1000000}

    def release(self, hold):
        if self.redis.call("EVAL", RELEASE, 1, *hold) == 0:
            raise lockstorm.NotHeld


if __name__ == "__main__":
    lockstorm.serve(SetNX())
