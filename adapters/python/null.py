#!/usr/bin/env python3
"""No lock at all, as an adapter: every attempt is granted. What it costs is what the protocol costs.

Run it with: lockstorm run --backend exec:cmd=adapters/python/null.py (it must fail)
"""
import json
import os
import sys

read = os.fdopen(int(os.environ["LOCKSTORM_IN"]), "rb", buffering=1 << 16)
write = int(os.environ["LOCKSTORM_OUT"])
ABOUT = {"protocol": 1, "name": "null.py", "version": "1", "doc": "no lock at all: every attempt is granted, in Python", "ends": "never", "versions": {"python": sys.version.split()[0]}}
ANSWERS = {"open": "ok", "ping": "ok", "try": "granted", "release": "ok"}
for line in read:
    request = json.loads(line)
    if request["op"] == "hello":
        answer = '"ok","about":' + json.dumps(ABOUT)
    else:
        answer = '"' + ANSWERS.get(request["op"], "unsupported") + '"'
    os.write(write, f'{{"id":{request["id"]},"answer":{answer}}}\n'.encode())
