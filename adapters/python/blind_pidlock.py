#!/usr/bin/env python3
"""pid_lock.py with a flaw that many a lock file has: what a dead process has left is removed without a second look.

Run it with: lockstorm run --backend exec:cmd=adapters/python/blind_pidlock.py --nemesis client-kill --nemesis client-pause:at=stale
Two clients find the same holder dead. The first takes over, and the second removes the file of the first.
"""
import contextlib
import os

import lockstorm
import pid_lock


class BlindPidLock(pid_lock.PidLock):
    ABOUT = {**pid_lock.PidLock.ABOUT, "name": "blind_pidlock.py"}

    @contextlib.contextmanager
    def guarded(self, path):
        yield

    def take(self, path, stale):
        mine = f"{path}.{os.getpid()}"
        with open(mine, "w") as file:
            file.write(str(os.getpid()))
        with contextlib.suppress(FileNotFoundError):
            if stale:
                os.remove(path)
        try:
            os.link(mine, path)
        except FileExistsError as error:
            raise lockstorm.Busy("another client was first") from error


lockstorm.serve(BlindPidLock())
