#!/usr/bin/env python3
"""setnx.py with a bug in it, which its argument names: each must be found, by its own finding.

  foreign  releases whatever there is: a late release frees the lock of the next holder
  split    compares and deletes in two steps, with a point between them
  late     renews itself, and tells of a loss two seconds after it has learnt of it
  count    may be entered again by its owner, and is free after the first release
"""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import lockstorm  # noqa: E402
import setnx  # noqa: E402

WAY = sys.argv[1]
RENEW = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
ENTER = """local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1"""


class Planted(setnx.SetNX):
    ABOUT = {
        **setnx.SetNX.ABOUT, "name": "planted.py",
        **({"points": [{"name": "compared", "doc": "the owner was compared, but nothing is deleted yet"}]} if WAY == "split" else {}),
        **({"renews": True, "signals": [{"kind": "channel", "name": "a call-back"}]} if WAY == "late" else {}),
        **({"model": {"kind": "reentrant"}} if WAY == "count" else {}),
    }

    def open(self, request):
        super().open(request)
        self.lock = threading.Lock()
        self.address = (request["nodes"][0]["host"], request["nodes"][0]["port"], request["timeout_ns"] / 1e9)

    def attempt(self, request, cancelled):
        if WAY == "count":
            sent = lockstorm.now()
            key = f"lockstorm:{self.run}:{request['lock']}"
            if not self.redis.call("EVAL", ENTER, 1, key, request["owner"], self.ttl):
                raise lockstorm.Busy
            return (key, request["owner"]), {"sent": sent, "ttl_ns": self.ttl * 1000000}
        hold, more = super().attempt(request, cancelled)
        stop = threading.Event()
        if WAY == "late":
            threading.Thread(target=self.renew, args=(request["id"], hold, stop), daemon=True).start()
        return (*hold, request["id"], stop), more

    def renew(self, attempt, hold, stop):
        redis = setnx.Redis(*self.address)
        while not stop.wait(self.ttl / 3000):
            number = self.program.wait("renewing", hold=attempt)
            sent = lockstorm.now()
            try:
                kept = redis.call("EVAL", RENEW, 1, *hold, self.ttl)
            except Exception:  # noqa: BLE001 it is of unknown outcome
                self.program.say(notice="renewed", n=number, failed="error")
                continue
            if kept:
                self.program.say(notice="renewed", n=number, sent=sent, ttl_ns=self.ttl * 1000000)
                continue
            self.program.say(notice="renewed", n=number, failed="not-held")
            time.sleep(2)  # the bug
            if not stop.is_set():
                self.program.lost(attempt, "the key is gone, or belongs to another client")
            return

    def release(self, hold):
        key, owner = hold[:2]
        if len(hold) > 2:
            hold[3].set()
        if WAY == "foreign":
            if not self.redis.call("DEL", key):
                raise lockstorm.NotHeld
        elif WAY == "split":
            if self.redis.call("GET", key) != owner.encode():
                raise lockstorm.NotHeld
            self.program.wait("point", hold=hold[2], name="compared")
            if not self.redis.call("DEL", key):
                raise lockstorm.NotHeld
        else:
            super().release((key, owner))


lockstorm.serve(Planted())
