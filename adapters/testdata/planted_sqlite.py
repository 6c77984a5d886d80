#!/usr/bin/env python3
"""sqlite_lock.py with a bug in it, which its argument names: each must be found, by its own finding.

  autocommit  never begins the transaction: everybody is let in, and updates are lost
  forgets     rolls back where it should commit, and says that it has committed
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import lockstorm  # noqa: E402
import sqlite_lock  # noqa: E402

WAY = sys.argv[1]


class Planted(sqlite_lock.SQLite):
    def attempt(self, request, cancelled):
        hold, more = super().attempt(request, cancelled)
        if WAY == "autocommit":
            hold[0].execute("COMMIT")
        return hold, more

    def release(self, hold):
        if WAY == "forgets":
            hold[0].execute("ROLLBACK")
        if WAY in ("autocommit", "forgets"):
            hold.pop().close()
        else:
            super().release(hold)


lockstorm.serve(Planted())
