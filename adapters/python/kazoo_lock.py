#!/usr/bin/env python3
"""The locks of kazoo as an adapter of lockstorm.

Run it with: lockstorm run --backend exec:cmd=adapters/python/kazoo_lock.py -- [lock|rwlock] [lost-on=suspended|lost]

lock is kazoo's Lock, rwlock its ReadLock and WriteLock. The session is on record as it is: what renews it, and how
long it lives. The client is told of a loss when the connection is suspended, as kazoo's documentation asks of its
users; lost-on=lost is for those who wait until the session has expired.
"""
import sys

import lockstorm

kazoo = lockstorm.need("kazoo", "python3-kazoo")
import kazoo.client  # noqa: E402
import kazoo.version  # noqa: E402
from kazoo.exceptions import CancelledError, NoNodeError, SessionExpiredError  # noqa: E402
from kazoo.protocol import connection  # noqa: E402
from kazoo.recipe import lock as recipes  # noqa: E402

KIND = "rwlock" if "rwlock" in sys.argv[1:] else "lock"
LOST_ON = "LOST" if "lost-on=lost" in sys.argv[1:] else "SUSPENDED"


class Watched(connection.ConnectionHandler):
    """kazoo's connection, which tells what renews the session. It changes nothing of what is sent."""

    adapter = None
    renewing = None  # number, xid and moment of the request that is on record and not answered
    lease, timeout, last, request_sent = None, 0, 0, 0

    def _submit(self, request, timeout, xid=None):
        now = lockstorm.now()
        if xid is not None and self.lease and not self.renewing and now - self.last >= self.timeout // 10:
            number = self.adapter.program.wait("renewing", lease=self.lease)
            self.renewing = (number, xid, lockstorm.now())
            self.last = now
        if xid is not None and xid != connection.PING_XID:
            self.request_sent = lockstorm.now()
        return super()._submit(request, timeout, xid)

    def _read_header(self, timeout):
        header, buffer, offset = super()._read_header(timeout)
        if self.renewing and header.xid == self.renewing[1]:
            self.renewed()
        return header, buffer, offset

    def renewed(self, failed=""):
        if not self.renewing:
            return
        number, _, sent = self.renewing
        self.renewing = None
        if failed:
            self.adapter.program.say(notice="renewed", n=number, failed=failed)
        else:
            self.adapter.program.say(notice="renewed", n=number, sent=sent, ttl_ns=self.lives())

    def lives(self):
        """A server that was cut off answers until it notices: the session may end that much earlier."""
        return self.timeout - (OUT_OF_TOUCH if len(self.client.hosts) > 1 else 0)

    def _connect(self, host, hostip, port):
        before = self.client._session_id if self.lease else None
        if before:
            number = self.adapter.program.wait("renewing", lease=self.lease)
            self.renewing = (number, None, lockstorm.now())
        asked = lockstorm.now()
        try:
            timeouts = super()._connect(host, hostip, port)
        except SessionExpiredError:
            self.renewed("not-held")
            self.adapter.expired(self.lease)
            self.lease = None
            raise
        except BaseException:
            self.renewed("error")
            raise
        self.renewed()
        return timeouts

    def opened(self, asked, session, timeout):
        """Is called between the answer to a connect and what kazoo tells of it."""
        lease = hex(session)
        self.timeout = timeout * 1000000
        if lease != self.lease:
            self.lease, self.last = lease, asked
            self.adapter.program.say(notice="opened", lease=lease, sent=asked, ttl_ns=self.timeout)

    def _invoke(self, timeout, request, xid=None):
        asked = lockstorm.now()
        answer = super()._invoke(timeout, request, xid)
        if isinstance(request, connection.Connect) and answer[0].time_out > 0:
            self.opened(asked, answer[0].session_id, answer[0].time_out)
        return answer

    def _connect_attempt(self, *args):
        try:
            return super()._connect_attempt(*args)
        finally:
            self.renewed("error")


OUT_OF_TOUCH = 6 * 100 * 1000000  # (syncLimit + 1) ticks of the servers that lockstorm starts


def noting(base):
    """One of kazoo's locks, which notes that the store had no node to delete: release says nothing of that. A deletion that was
    not answered may have been the one that deleted it."""

    class Noting(base):
        gone, unsure = False, False

        def _delete_node(self, node):
            try:
                super()._delete_node(node)
            except NoNodeError:
                self.gone = True
                raise
            except BaseException:
                self.unsure = True
                raise

    return Noting


class Kazoo(lockstorm.Adapter):
    ABOUT = {
        "protocol": 1, "name": "kazoo_lock.py", "version": "1", "library": "kazoo " + kazoo.version.__version__,
        "doc": {"lock": "Lock", "rwlock": "ReadLock and WriteLock"}[KIND] + " of kazoo: a queue of sequential ephemeral znodes",
        "topologies": ["zk-single", "zk-three"], "ends": "session", "renews": True, "waits": True, "clock": "monotonic",
        "model": {"session": True, **({"kind": "read-write"} if KIND == "rwlock" else {})},
        "signals": [{"kind": "channel", "name": "the listener of KazooState." + LOST_ON}], "recovery_ns": 4000000000,
        "versions": {"python": sys.version.split()[0], "kazoo": kazoo.version.__version__},
    }

    def open(self, request):
        Watched.adapter = self
        self.run, self.waiting, self.held = request["run"], {}, {}
        connection.ConnectionHandler, kazoo.client.ConnectionHandler = Watched, Watched
        hosts = ",".join(f"{node['host']}:{node['port']}" for node in request["nodes"])
        self.client = kazoo.client.KazooClient(hosts=hosts, timeout=request["lease_ns"] / 1e9)
        self.client.add_listener(self.state)
        self.client.start(timeout=20)
        self.connection = self.client._connection

    def state(self, state):
        if state == LOST_ON or (state == "LOST" and LOST_ON == "SUSPENDED"):
            for attempt in list(self.held):
                self.program.lost(attempt, "the state of the connection is " + state)

    def expired(self, lease):
        if lease:
            self.program.say(notice="lost", lease=lease, message="the session has expired")

    def attempt(self, request, cancelled):
        base = recipes.Lock
        if KIND == "rwlock":
            base = recipes.ReadLock if request.get("mode") == "shared" else recipes.WriteLock
        lock = noting(base)(self.client, f"/{self.run}/{request['lock']}", request["owner"])
        self.waiting[request["id"]] = lock
        try:
            got = lock.acquire(blocking=cancelled is not None)
        except CancelledError:
            got = False
        finally:
            del self.waiting[request["id"]]
        if not got:
            raise lockstorm.Busy
        self.held[request["id"]] = lock
        return (request["id"], lock), {"sent": self.connection.request_sent, "lease": self.connection.lease or "", "owner": request["owner"]}

    def cancel(self, attempt):
        lock = self.waiting.get(attempt)
        if lock:
            lock.cancel()

    def release(self, hold):
        attempt, lock = hold
        self.held.pop(attempt, None)
        released = lock.release()
        if lock.gone and lock.unsure:
            raise RuntimeError("unknown outcome: the lock's znode no longer exists, but an earlier request to delete the znode got no answer")
        if not released or lock.gone:
            raise lockstorm.NotHeld("the znode of this grant no longer exists")


lockstorm.serve(Kazoo())
