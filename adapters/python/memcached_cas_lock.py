#!/usr/bin/env python3
"""memcached_lock.py without its flaw: a release asks who has the lock, and takes it away with cas, only if that is still so.

Run it with: lockstorm run --backend exec:cmd=adapters/python/memcached_cas_lock.py --nemesis client-pause:at=before-release --fail-on defect
"""
import lockstorm
import memcached_lock


class CasLock(memcached_lock.Lock):
    ABOUT = {
        **memcached_lock.Lock.ABOUT, "name": "memcached_cas_lock.py", "doc": "add with an expiry on memcached, released by gets and cas",
    }

    def release(self, hold):
        key, owner = hold
        lines = self.store.call(f"gets {key}\r\n")
        if lines == ["END"] or lines[1] != owner:
            raise lockstorm.NotHeld
        unique = lines[0].split()[4]
        answer = self.store.call(f"cas {key} 0 -1 0 {unique}\r\n\r\n")[0]  # -1: it expires at once
        if answer in ("EXISTS", "NOT_FOUND"):
            raise lockstorm.NotHeld
        self.expect(answer, "STORED")


if __name__ == "__main__":
    lockstorm.serve(CasLock())
