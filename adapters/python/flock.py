#!/usr/bin/env python3
"""flock(2) as an adapter of lockstorm: the reference, in Python's standard library alone.

Run it with: lockstorm run --backend exec:cmd=adapters/python/flock.py
The protocol is docs/adapters.md.
"""
import fcntl
import json
import os
import sys
import time

ABOUT = {
    "protocol": 1, "name": "flock.py", "version": "1", "doc": "flock(2) on a file, from Python",
    "topologies": ["local"], "ends": "process", "clock": "monotonic",
    "versions": {"python": sys.version.split()[0]},
}

read = os.fdopen(int(os.environ["LOCKSTORM_IN"]), "r", encoding="utf-8")
write = os.fdopen(int(os.environ["LOCKSTORM_OUT"]), "w", encoding="utf-8")


def say(request, answer, **more):
    """One line a message; it must leave at once."""
    write.write(json.dumps({"id": request["id"], "answer": answer, **more}) + "\n")
    write.flush()


def attempt(request, folder, held):
    """One try. A lock that is not ours is closed again, so that it frees nothing later."""
    sent = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    file = open(os.path.join(folder, request["lock"] + ".lock"), "a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return say(request, "busy")
    held[request["id"]] = file
    return say(request, "granted", sent=sent)


def main():
    folder, held = None, {}
    for line in read:  # the end of the pipe is our end: what is held is not released
        request = json.loads(line)
        op = request["op"]
        if op == "hello":
            say(request, "ok", about=ABOUT)
        elif op == "open":
            folder = request["dir"]
            say(request, "ok")
        elif op == "ping":
            say(request, "ok", now=time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        elif op == "try":
            attempt(request, folder, held)
        elif op == "release":
            file = held.pop(request["hold"], None)
            if file:
                file.close()
            say(request, "ok" if file else "not-held")
        else:
            say(request, "unsupported")


main()
