#!/usr/bin/env python3
"""portalocker's RedisLock as an adapter of lockstorm: a lock by publish and subscribe.

Run it with: lockstorm run --backend exec:cmd=adapters/python/portalocker_redis.py --nemesis client-pause
Who holds the lock is subscribed to its channel. Who wants it asks there, and ends the connection of a holder that does not answer for
one second. The holder is told by an interrupt of its main thread.
"""
import queue
import signal
import sys
import threading

import lockstorm

redis = lockstorm.need("redis", "python3-redis")
portalocker = lockstorm.need("portalocker", "python3-portalocker")


class RedisLock(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "portalocker_redis.py", "version": "1", "doc": "RedisLock of portalocker: publish and subscribe",
        "library": f"portalocker {portalocker.__version__}", "topologies": ["redis-single", "redis-single-aof"], "ends": "connection",
        "clock": "monotonic", "waits": True, "signals": [{"kind": "channel", "name": "an interrupt of the main thread"}],
        "notes": "If the holder does not answer for 1 s (unavailable_timeout), a waiting client ends the holder's connection. The holder then loses the lock.",
        "versions": {"python": sys.version.split()[0], "redis-py": redis.__version__},
    }

    def open(self, request):
        self.run, self.held = request["run"], {}
        threading.Thread(target=self.tell, daemon=True).start()
        node = request["nodes"][0]
        self.redis = {"host": node["host"], "port": node["port"]}  # each lock makes a connection of its own, as it does by default

    interrupts = queue.SimpleQueue()

    def interrupted(self, *_):
        """The library tells the main thread, which may be writing: somebody else looks which lock was lost."""
        self.interrupts.put(None)

    def tell(self):
        while True:
            self.interrupts.get()
            self.look()

    def look(self):
        for attempt, lock in list(self.held.items()):
            if lock.thread is not None and not lock.thread.is_alive():
                del self.held[attempt]
                self.program.lost(attempt, "the thread of the library that keeps the lock has ended, and has interrupted the main thread")

    def attempt(self, request, cancelled):
        lock = portalocker.RedisLock(f"lockstorm:{self.run}:{request['lock']}", redis_kwargs=dict(self.redis))
        while cancelled is None or not cancelled.is_set():
            sent = lockstorm.now()
            try:
                if cancelled is None:
                    lock.acquire(timeout=0, fail_when_locked=True)
                else:
                    lock.acquire(timeout=1)  # its own wait cannot be ended from outside
            except portalocker.AlreadyLocked as error:
                if cancelled is None:
                    raise lockstorm.Busy from error
                continue
            self.held[request["id"]] = lock
            return (request["id"], lock), {"sent": sent}
        raise lockstorm.Busy

    def release(self, hold):
        attempt, lock = hold
        if lock.thread is None:
            raise lockstorm.NotHeld("the lock had already been released")
        alive = lock.thread.is_alive()
        self.held.pop(attempt, None)
        lock.release()
        if not alive:
            raise RuntimeError("unknown outcome: release() returned without an error, but the connection had been lost, so another client may have held the lock")


if __name__ == "__main__":
    adapter = RedisLock()
    signal.signal(signal.SIGINT, adapter.interrupted)
    lockstorm.serve(adapter)
