"""What adapters of lockstorm in Python share: the pipes, the clock, and a thread that makes the calls.

An adapter is a class with ABOUT and some of: open(request), attempt(request, cancelled), release(hold),
extend(hold, ttl), ask(hold), and, where the store is its own fence, read(hold, register) and
write(hold, register, base, value). What they raise says what is known: Busy, NotHeld, NotSent,
Conflict; anything else is of unknown outcome. All calls come from one thread, as those of a user would: locks that keep
their token by thread need that. The protocol is docs/adapters.md.
"""
import json
import os
import queue
import sys
import threading
import time
import traceback

now = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC)  # noqa: E731


class Busy(Exception):
    """Somebody else has the lock."""


class NotHeld(Exception):
    """The store says that the lock is not held by the caller."""


class NotSent(Exception):
    """The request has certainly not left."""


class Conflict(Exception):
    """The store has undone what was written: another client was first."""


class Unsupported(Exception):
    """Nobody knows that operation."""


DEFINITE = {Busy: "busy", NotHeld: "not-held", NotSent: "not-sent", Conflict: "conflict"}


def need(module, package):
    """Imports a module that Debian's Python has, or says how to get it."""
    try:
        return __import__(module)
    except ImportError:
        debian = "/usr/bin/python3"
        if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
            os.execv(debian, [debian] + sys.argv)
        print(f"the Python module {module} is missing (Debian: apt-get install {package})", file=sys.stderr)
        sys.exit(69)


class Program:
    """The adapter as a program: it reads requests until its pipe ends."""

    def __init__(self, adapter):
        self.adapter = adapter
        for name in ("LOCKSTORM_IN", "LOCKSTORM_OUT"):
            if not os.environ.get(name, "").isdigit():
                sys.exit(f"the environment variable {name} does not contain the number of a file descriptor: do not start this adapter by hand; lockstorm starts it (--backend exec:cmd=FILE)")
        self.read = os.fdopen(int(os.environ["LOCKSTORM_IN"]), "r", encoding="utf-8")
        self.write = os.fdopen(int(os.environ["LOCKSTORM_OUT"]), "w", encoding="utf-8")
        self.writing = threading.Lock()
        self.calls = queue.SimpleQueue()
        self.holds = {}
        self.cancelled = {}
        self.numbers = 0
        self.going = {}

    def say(self, **line):
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with self.writing:
            self.write.write(text)
            self.write.flush()

    def wait(self, notice, **more):
        """Tells what needs a go, and waits for it; returns its number."""
        with self.writing:
            self.numbers += 1
            n = self.numbers
            gone = self.going[n] = threading.Event()
        if notice == "point":  # the report shows the line that reaches it
            at = sys._getframe(1)
            more["source"] = f"{os.path.basename(at.f_code.co_filename)}:{at.f_lineno}"
        self.say(notice=notice, n=n, **more)
        gone.wait()
        return n

    def lost(self, hold, message):
        self.say(notice="lost", hold=hold, message=message)

    def serve(self):
        self.adapter.program = self
        threading.Thread(target=self.work, daemon=True).start()
        for line in self.read:
            request = json.loads(line)
            op = request["op"]
            if op == "hello":
                self.say(id=request["id"], answer="ok", about=self.adapter.ABOUT)
            elif op == "ping":
                self.say(id=request["id"], answer="ok", now=now())
            elif op == "go":
                self.going.pop(request["n"]).set()
            elif op == "cancel":
                event = self.cancelled.get(request["hold"])
                if event:
                    event.set()
                    self.adapter.cancel(request["hold"])
            else:
                if op == "acquire":
                    self.cancelled[request["id"]] = threading.Event()
                self.calls.put(request)
        os._exit(0)  # what is held is not released

    def work(self):
        while True:
            request = self.calls.get()
            try:
                more = self.call(request) or {}
                answer = "granted" if request["op"] in ("acquire", "try") else "ok"
            except tuple(DEFINITE) as error:
                answer, more = DEFINITE[type(error)], {"message": str(error)}
            except Unsupported:
                answer, more = "unsupported", {}
            except Exception as error:  # noqa: BLE001 what it was is the answer
                answer, more = "error", {"message": f"{type(error).__name__}: {error}"}
                traceback.print_exc()
            self.say(id=request["id"], answer=answer, **more)

    def call(self, request):
        op = request["op"]
        if op == "open":
            return self.adapter.open(request)
        if op in ("acquire", "try"):
            cancelled = self.cancelled.get(request["id"])
            try:
                hold, more = self.adapter.attempt(request, cancelled)
            finally:
                self.cancelled.pop(request["id"], None)
            self.holds[request["id"]] = hold
            return more
        if op not in ("release", "extend", "ask", "read", "write"):
            raise Unsupported
        hold = self.holds[request["hold"]]
        if op == "release":
            return self.adapter.release(hold)
        if op == "extend":
            return self.adapter.extend(hold)
        if op == "read":
            return {"value": str(self.adapter.read(hold, request["register"]))}
        if op == "write":
            return self.adapter.write(hold, request["register"], int(request["base"]), int(request["value"]))
        return {"held": bool(self.adapter.ask(hold))}


class Adapter:
    """What an adapter has where it says nothing else."""

    program = None

    def cancel(self, attempt):
        """An attempt that waits is to end: its event is set."""


def serve(adapter):
    Program(adapter).serve()
