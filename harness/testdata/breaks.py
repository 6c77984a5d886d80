#!/usr/bin/env python3
"""An adapter that breaks the protocol with its fifth attempt, in the way that its argument names."""
import json
import os
import subprocess
import sys

read = os.fdopen(int(os.environ["LOCKSTORM_IN"]))
write = os.fdopen(int(os.environ["LOCKSTORM_OUT"]), "w")
way, attempts = sys.argv[1], 0


def say(request, answer, **more):
    write.write(json.dumps({"id": request["id"], "answer": answer, **more}) + "\n")
    write.flush()


for line in read:
    request = json.loads(line)
    op = request["op"]
    if op == "hello":
        say(request, "ok", about={"protocol": 1, "name": "breaks", "ends": "never"})
    elif op == "open":
        say(request, "ok")
        if way == "leaves":  # a child in a session of its own, and one that is an orphan, too
            subprocess.Popen(["setsid", "sleep", sys.argv[2]])
            subprocess.run(["sh", "-c", f"setsid sleep {sys.argv[2]} &"])
        while way == "forks":
            subprocess.Popen(["sleep", "60"])
    elif op == "try":
        attempts += 1
        if attempts == 5 and way == "noise":
            write.write("connected\n")
        if attempts == 5 and way == "dies":
            sys.exit(9)
        say(request, "granted")
    elif op == "release":
        say(request, "ok")
    else:
        say(request, "unsupported")
