#!/usr/bin/env python3
"""The lock of rq's scheduler as an adapter of lockstorm: one worker of several runs the scheduler of a queue.

Run it with: lockstorm run --backend exec:cmd=adapters/python/rq_scheduler.py -- [one|two]

A client is a scheduler: acquire_locks, heartbeat once per second, stop. "one" schedules the queue of the lock. "two" schedules a queue
of its own as well, as a worker with several queues does. The library's lease is a minute and a second, whatever the time to live of the run.
"""
import sys
import threading

import lockstorm

redis = lockstorm.need("redis", "python3-redis")
rq = lockstorm.need("rq", "python3-rq")
from rq.scheduler import RQScheduler  # noqa: E402

TWO = "two" in sys.argv[1:]
LEASE = 61 * 1_000_000_000  # interval + 60 s


class Stamped(RQScheduler):
    """The library's scheduler, which notes when it asks for the lock, and records each renewal."""

    program, attempt, sent, died = None, 0, 0, False

    def acquire_locks(self, auto_start=False):
        self.sent = lockstorm.now()
        return super().acquire_locks(auto_start)

    def beat(self, stopped):
        """What work() does besides its jobs."""
        while not stopped.wait(self.interval):
            n = self.program.wait("renewing", hold=self.attempt)
            sent = lockstorm.now()
            try:
                self.heartbeat()
            except redis.RedisError as error:
                self.died = True  # the library's process ends, and deletes nothing
                self.program.say(notice="renewed", n=n, failed="error", message=str(error))
                return
            self.program.say(notice="renewed", n=n, sent=sent, ttl_ns=LEASE)


class Rq(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "rq_scheduler.py", "version": "1", "library": "rq " + rq.VERSION,
        "doc": "the lock of rq's scheduler: SET NX EX with the process id as the value; DEL without a check of the owner",
        "topologies": ["redis-single", "redis-single-aof"], "ends": "lease", "renews": True, "clock": "monotonic", "recovery_ns": 62_000_000_000,
        "keys": ["rq:scheduler-lock:{run}:{lock}"],
        "versions": {"python": sys.version.split()[0], "rq": rq.VERSION, "redis-py": redis.__version__},
        "notes": "A lock expires 61 s after its last heartbeat. The library does not notice a lost lock.",
    }

    def open(self, request):
        node = request["nodes"][0]
        self.connection, self.run, self.client = redis.Redis(host=node["host"], port=node["port"]), request["run"], request["client"]

    def attempt(self, request, cancelled):
        queue = f"{self.run}:{request['lock']}"
        scheduler = Stamped([queue, f"{self.run}:{self.client}"] if TWO else [queue], self.connection)
        scheduler.program, scheduler.attempt = self.program, request["id"]
        if queue not in scheduler.acquire_locks():
            if TWO and scheduler.acquired_locks:
                scheduler.stop()  # its worker ends, as another that came before has the queue
            raise lockstorm.Busy
        stopped = threading.Event()
        beating = threading.Thread(target=scheduler.beat, args=(stopped,), daemon=True)
        beating.start()
        return (scheduler, stopped, beating), {"sent": scheduler.sent, "ttl_ns": LEASE}

    def release(self, hold):
        scheduler, stopped, beating = hold
        if stopped.is_set():
            raise lockstorm.NotHeld("the scheduler had already been stopped")
        stopped.set()
        beating.join()
        if scheduler.died:
            raise lockstorm.NotSent("the scheduler had ended when its heartbeat failed, so it sent no release")
        scheduler.stop()


lockstorm.serve(Rq())
