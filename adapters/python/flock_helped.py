#!/usr/bin/env python3
"""flock(2) on the library lockstorm.py: the control of the adapters in Python that use this library.

Run it with: lockstorm run --backend exec:cmd=adapters/python/flock_helped.py --nemesis client-pause [-- waits]
With the argument waits, the adapter waits for the lock by itself. The lock is correct: if one of its runs fails, the defect is in
lockstorm.py or in lockstorm, and a failure of a library may have the same cause.
"""
import fcntl
import os
import sys

import lockstorm


class Flock(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "flock_helped.py", "version": "1", "doc": "flock(2) on a file, from Python, with lockstorm.py",
        "topologies": ["local"], "ends": "process", "clock": "monotonic", "waits": "waits" in sys.argv[1:],
        "versions": {"python": sys.version.split()[0]},
    }

    def open(self, request):
        self.folder = request["dir"]

    def attempt(self, request, cancelled):
        file = open(os.path.join(self.folder, request["lock"] + ".lock"), "a")
        while True:
            sent = lockstorm.now()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file, {"sent": sent}
            except BlockingIOError as error:
                if cancelled is None or cancelled.wait(0.02):
                    file.close()
                    raise lockstorm.Busy(str(error)) from error

    def release(self, file):
        if file.closed:
            raise lockstorm.NotHeld("the lock had already been released")
        file.close()


lockstorm.serve(Flock())
