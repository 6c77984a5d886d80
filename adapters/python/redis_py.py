#!/usr/bin/env python3
"""redis.lock.Lock of redis-py as an adapter of lockstorm.

Run it with: lockstorm run --backend exec:cmd=adapters/python/redis_py.py[,sleep=0.1] --workload counter:extend=background
It is run with its defaults: it sleeps 0.1 s between two tries, and a thread keeps its own token.
"""
import sys

import lockstorm

redis = lockstorm.need("redis", "python3-redis")
from redis.exceptions import LockError, LockNotOwnedError  # noqa: E402


class Stamped(redis.lock.Lock):
    """The library's lock, which notes when a try leaves."""

    def do_acquire(self, token):
        self.sent = lockstorm.now()
        return super().do_acquire(token)


class RedisPy(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "redis_py.py", "version": "1", "library": "redis-py " + redis.__version__,
        "doc": "redis.lock.Lock of redis-py: SET NX PX; scripts compare the owner before they release or extend the lock",
        "topologies": ["redis-single", "redis-single-aof"], "ends": "lease", "waits": True, "clock": "monotonic", "keys": ["{run}:{lock}"],
        "calls": ["extend", "ask"], "signals": [{"kind": "method", "name": "owned"}, {"kind": "error", "name": "LockNotOwnedError of extend"}],
        "params": [{"name": "sleep", "default": "0.1", "doc": "seconds between two tries (the library's option sleep)"}],
        "versions": {"python": sys.version.split()[0], "redis-py": redis.__version__},
        "notes": "The method owned asks the server. The library does not renew leases by itself: its users extend the lock.",
    }

    def open(self, request):
        node = request["nodes"][0]
        self.client = redis.Redis(host=node["host"], port=node["port"])
        self.run, self.sleep = request["run"], float(request["params"]["sleep"])

    def attempt(self, request, cancelled):
        ttl = request["ttl_ns"] / 1e9
        lock = Stamped(self.client, f"{self.run}:{request['lock']}", timeout=ttl, sleep=self.sleep)
        if cancelled is None:
            got = lock.acquire(blocking=False)
        else:
            got = False
            while not got and not cancelled.is_set():  # its own wait cannot be ended from outside
                got = lock.acquire(blocking_timeout=1)
        if not got:
            raise lockstorm.Busy
        return lock, {"sent": lock.sent, "owner": lock.local.token.decode(), "ttl_ns": int(ttl * 1000) * 1000000}

    def release(self, lock):
        try:
            lock.release()
        except (LockNotOwnedError, LockError) as error:
            if isinstance(error, LockNotOwnedError) or "unlocked" in str(error):
                raise lockstorm.NotHeld(str(error)) from error
            raise

    def extend(self, lock):
        sent = lockstorm.now()
        try:
            lock.extend(lock.timeout, replace_ttl=True)
        except LockNotOwnedError as error:
            raise lockstorm.NotHeld(str(error)) from error
        return {"sent": sent, "ttl_ns": int(lock.timeout * 1000) * 1000000}

    def ask(self, lock):
        return lock.owned()


lockstorm.serve(RedisPy())
