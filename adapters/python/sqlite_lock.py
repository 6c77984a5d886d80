#!/usr/bin/env python3
"""BEGIN IMMEDIATE of SQLite as an adapter of lockstorm: the lock is the transaction in which the data is written.

Run it with: lockstorm run --backend exec:cmd=adapters/python/sqlite_lock.py --nemesis client-pause
It is the example of a store that is its own fence (settles): what is written takes effect with COMMIT, or not at all.
It needs Python's standard library alone.
"""
import os
import sqlite3
import sys

import lockstorm


class SQLite(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "sqlite_lock.py", "version": "1", "doc": "BEGIN IMMEDIATE of SQLite, from Python: the transaction is the lock, and the data is written in the transaction",
        "topologies": ["local"], "ends": "process", "clock": "monotonic", "settles": True,
        "versions": {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version},
    }

    def open(self, request):
        self.folder = request["dir"]

    def attempt(self, request, cancelled):
        sent = lockstorm.now()
        file = sqlite3.connect(os.path.join(self.folder, request["lock"] + ".db"), timeout=0, isolation_level=None)
        try:
            file.execute("BEGIN IMMEDIATE")
            file.execute("CREATE TABLE IF NOT EXISTS registers (name TEXT PRIMARY KEY, value INTEGER NOT NULL)")
        except sqlite3.OperationalError as error:
            file.close()  # which rolls back
            if "locked" in str(error):
                raise lockstorm.Busy(str(error)) from error
            raise
        file.execute("PRAGMA busy_timeout = 5000")  # Python's default: COMMIT waits for whoever reads
        return [file], {"sent": sent}

    def read(self, hold, register):
        row = hold[0].execute("SELECT value FROM registers WHERE name = ?", (register,)).fetchone()
        return row[0] if row else 0

    def write(self, hold, register, base, value):
        hold[0].execute("INSERT OR REPLACE INTO registers VALUES (?, ?)", (register, value))

    def release(self, hold):
        if not hold:
            raise lockstorm.NotHeld("the transaction has ended")
        file = hold.pop()
        if file is None:
            raise RuntimeError("unknown outcome: the transaction may or may not have been committed")
        try:
            file.execute("COMMIT")
        except sqlite3.OperationalError as error:  # SQLITE_BUSY: nothing was committed, and close rolls back
            if "locked" in str(error):
                raise lockstorm.Conflict(str(error)) from error
            hold.append(None)
            raise
        finally:
            file.close()


if __name__ == "__main__":
    lockstorm.serve(SQLite())
