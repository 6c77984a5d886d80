#!/usr/bin/env python3
"""Locks of tooz, OpenStack's library of coordination, as an adapter of lockstorm.

Run it with: lockstorm run --backend exec:cmd=adapters/python/tooz_lock.py -- [redis|postgresql|mysql] [wait=0.9] [names=NAME,NAME]

The coordinator beats by itself (start_heart), which renews the locks that it has. It tells nobody of a lock that it could not renew: it
writes a line to the log. Its time to live counts whole seconds. The locks of databases are tied to a connection. A wait is
acquire(blocking=0.9), again and again: with 1 those of databases wait for ever (docs/libraries.md). names are the
library's names of the locks L1, L2 and so on.
"""
import math
import sys

import lockstorm

tooz = lockstorm.need("tooz", "python3-tooz")
from importlib.metadata import version  # noqa: E402

import tenacity  # noqa: E402
from tooz import coordination  # noqa: E402

STORE = (sys.argv[1:] or ["redis"])[0]
WAIT = float(next((word[5:] for word in sys.argv if word.startswith("wait=")), 0.9))
NAMES = next((word[6:].split(",") for word in sys.argv if word.startswith("names=")), None)
LEASE = STORE == "redis"  # locks of the others live as long as their connection
DOCS = {"redis": "RedisLock", "postgresql": "PostgresLock", "mysql": "MySQLLock"}
if STORE == "postgresql":
    lockstorm.need("psycopg2", "python3-psycopg2")
if LEASE:
    from redis.exceptions import ConnectionError  # noqa: A004


class Tooz(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "tooz_lock.py", "version": "1", "library": "tooz " + version("tooz"), "doc": DOCS[STORE] + " of tooz",
        "topologies": {"redis": ["redis-single", "redis-single-aof"], "postgresql": ["postgres"], "mysql": ["mariadb"]}[STORE],
        "ends": "lease" if LEASE else "connection", "renews": LEASE, "waits": True, "clock": "monotonic",
        "calls": ["ask"] if LEASE else [], "recovery_ns": 4_000_000_000,
        "signals": [{"kind": "method", "name": "is_still_owner"}] if LEASE else [],
        "keys": ["b'_tooz'_b'{run}:{lock}'_lock"] if LEASE else [],
        "versions": {"python": sys.version.split()[0], "tooz": version("tooz")},
        "notes": "If the library cannot renew a lock, it only writes a line to its log: the holder does not learn that the lock is lost." if LEASE else "",
    }

    def open(self, request):
        node, self.run, self.ttl = request["nodes"][0], request["run"], math.ceil(request["lease_ns"] / 1e9)
        at = f"{node['host']}:{node['port']}"
        url = {
            "redis": f"redis://{at}?lock_timeout={self.ttl}",
            "postgresql": f"postgresql://lockstorm@{at}/postgres",
            "mysql": f"mysql://root@{at}/lockstorm",
        }[STORE]
        self.coordinator = coordination.get_coordinator(url, f"{self.run}-{request['client']}".encode())
        self.coordinator.start(start_heart=True)

    def attempt(self, request, cancelled):
        lock = self.coordinator.get_lock(self.name(request["lock"]).encode())
        lock.sent, lock.unsure = lockstorm.now(), None
        self.watch(lock, request["id"])
        got = False
        while not got:
            if not LEASE:
                lock.sent = lockstorm.now()
            try:
                got = lock.acquire(blocking=False if cancelled is None else WAIT)  # its own wait cannot be ended from outside
            except tenacity.RetryError:
                got = False
            if cancelled is None or cancelled.is_set():
                break
        if not got and lock.unsure:
            raise RuntimeError(f"unknown outcome: the lock was not acquired, but an earlier try got no answer: {lock.unsure}")
        if not got:
            raise lockstorm.Busy
        return lock, {"sent": lock.sent, **({"ttl_ns": self.ttl * 1_000_000_000} if LEASE else {})}

    def name(self, lock):
        return NAMES[int(lock[1:]) - 1] if NAMES else f"{self.run}:{lock}"

    def watch(self, lock, attempt):
        """Notes when the request that the lease runs from leaves, and records each renewal."""
        if not LEASE:
            return
        beat, do_acquire = lock.heartbeat, lock._lock.do_acquire

        def sends(token):
            lock.sent = lockstorm.now()
            try:
                return do_acquire(token)
            except ConnectionError as error:  # the library tries once more, with another token
                lock.unsure = error
                raise

        def heartbeat():
            if not lock.acquired:
                return beat()
            n = self.program.wait("renewing", hold=attempt)
            sent = lockstorm.now()
            try:
                renewed = beat()
            except tooz.ToozError as error:
                self.program.say(notice="renewed", n=n, failed="not-held" if "no longer owned" in str(error) else "error", message=str(error))
                raise
            except Exception as error:
                self.program.say(notice="renewed", n=n, failed="error", message=f"{type(error).__name__}: {error}")
                raise
            if not renewed:
                self.program.say(notice="renewed", n=n, failed="error", message="the client released the lock while the renewal was under way")
            else:
                self.program.say(notice="renewed", n=n, sent=sent, ttl_ns=self.ttl * 1_000_000_000)
            return renewed

        lock._lock.do_acquire, lock.heartbeat = sends, heartbeat

    def release(self, lock):
        unsure = []
        if LEASE:  # the library releases once more if its connection broke, and then does not know its own lock
            inner = lock._lock.release

            def noted():
                try:
                    inner()
                except ConnectionError as error:
                    unsure.append(error)
                    raise

            lock._lock.release = noted
        if not lock.release():
            if unsure:
                raise RuntimeError(f"unknown outcome: release() returned False, but its first try got no answer: {unsure[0]}")
            raise lockstorm.NotHeld("release() returned False")

    def ask(self, lock):
        return lock.is_still_owner()


lockstorm.serve(Tooz())
