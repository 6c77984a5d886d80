#!/usr/bin/env python3
"""The Lock of python-etcd3 as an adapter of lockstorm.

Run it with: lockstorm run --backend exec:cmd=adapters/python/etcd3_lock.py --workload counter:extend=background
A lease of etcd lasts whole seconds: a shorter one is rounded up. Clients try again and again, for the wait of release 0.12.0
fails with tenacity 8.2.1 (docs/libraries.md): the argument "waits" uses it all the same.
"""
import math
import sys

import lockstorm

etcd3 = lockstorm.need("etcd3", "python3-etcd3")


class Stamped(etcd3.Etcd3Client):
    """The library's client, which notes when the request for a lease leaves: the lease runs from there."""

    sent = 0

    def lease(self, *args, **kwargs):
        self.sent = lockstorm.now()
        return super().lease(*args, **kwargs)


class Etcd3Lock(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "etcd3_lock.py", "version": "1", "library": "python-etcd3 " + etcd3.__version__,
        "doc": "Lock of python-etcd3: a key with a lease, created if the key is absent, deleted if the key has the client's value",
        "topologies": ["etcd-single", "etcd-three"], "ends": "lease", "waits": "waits" in sys.argv, "clock": "monotonic",
        "calls": ["extend", "ask"], "signals": [{"kind": "method", "name": "is_acquired"}],
        "versions": {"python": sys.version.split()[0], "python-etcd3": etcd3.__version__},
        "notes": "The method is_acquired asks the server. The library does not renew leases by itself: its users call refresh. The library connects to only one address.",
        "recovery_ns": 10_000_000_000,
    }

    def open(self, request):
        node = request["nodes"][0]
        self.client = Stamped(host=node["host"], port=node["port"])
        self.run = request["run"]

    def attempt(self, request, cancelled):
        ttl = math.ceil(request["ttl_ns"] / 1e9)
        lock = etcd3.Lock(f"{self.run}/{request['lock']}", ttl, etcd_client=self.client)
        got = lock.acquire(timeout=0) if cancelled is None else False
        while cancelled is not None and not got and not cancelled.is_set():  # its own wait cannot be ended from outside
            got = lock.acquire(timeout=1)
        if not got:
            raise lockstorm.Busy
        return lock, {"sent": self.client.sent, "ttl_ns": ttl * 1_000_000_000, "owner": lock.uuid.hex()}

    def release(self, lock):
        if not lock.release():
            raise lockstorm.NotHeld("the lock's key has another value, or no longer exists")

    def extend(self, lock):
        sent = lockstorm.now()
        left = lock.refresh()[0].TTL
        if left <= 0:
            raise lockstorm.NotHeld("the lease of the lock has ended")
        return {"sent": sent, "ttl_ns": left * 1_000_000_000}

    def ask(self, lock):
        return lock.is_acquired()


if __name__ == "__main__":
    lockstorm.serve(Etcd3Lock())
