#!/usr/bin/env python3
"""A file with the pid of its holder: a lock that asks whether a process lives, and takes over what a dead one has left.

Run it with: lockstorm run --backend exec:cmd=adapters/python/pid_lock.py --nemesis client-kill
Whoever looks at the file, takes it over or removes it has flock(2) on a second file meanwhile, so that no pause can split a takeover.
"""
import contextlib
import fcntl
import os
import sys

import lockstorm


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # another user's
    return True


class PidLock(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "pid_lock.py", "version": "1", "doc": "a file with the pid of its holder, taken over when that is dead",
        "topologies": ["local"], "ends": "process", "clock": "monotonic", "versions": {"python": sys.version.split()[0]},
        "points": [{"name": "stale", "doc": "the holder was found dead, but the lock is not taken over yet"}],
    }

    def open(self, request):
        self.folder, self.held = request["dir"], set()

    def attempt(self, request, cancelled):
        path = os.path.join(self.folder, request["lock"] + ".pid")
        with self.guarded(path):
            sent = lockstorm.now()
            holder = self.holder(path)
            if holder == os.getpid() and path in self.held or holder not in (None, os.getpid()) and lives(holder):
                raise lockstorm.Busy(f"process {holder} holds it")
            if holder is not None:
                self.program.wait("point", hold=request["id"], name="stale")
            self.take(path, holder is not None)
        self.held.add(path)
        return path, {"sent": sent}

    def release(self, path):
        with self.guarded(path):
            if path not in self.held or self.holder(path) != os.getpid():
                raise lockstorm.NotHeld("the file is not ours")
            os.remove(path)
            self.held.remove(path)

    @contextlib.contextmanager
    def guarded(self, path):
        with open(path + ".guard", "a") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            yield

    def holder(self, path):
        """The pid in the file; None: there is no file, or nobody's."""
        try:
            with open(path) as file:
                return int(file.read() or 0) or None
        except FileNotFoundError:
            return None

    def take(self, path, stale):
        with open(path + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(path + ".new", path)


if __name__ == "__main__":
    lockstorm.serve(PidLock())
