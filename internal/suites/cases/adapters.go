package cases

import "github.com/lockstorm/lockstorm/history"

// What adapters are called with.
const (
	ofPython = "--backend exec:cmd=adapters/python/"
	ofJava   = "--backend exec:cmd=adapters/java/"
	ofNode   = "--backend exec:cmd=adapters/node/"
	ofPHP    = "--backend exec:cmd=adapters/php/"
	ofGo     = "--backend exec:cmd=adapters/go/launch"
	ofEnv    = "--backend exec:cmd=env" // of a program with variables of the environment, its first arguments
)

// Disciplines of adapters: of a library that signals nothing, nobody can be told.
var (
	toldAndObey = []string{history.Told, history.Obey}
	obey        = []string{history.Obey}
)

// Faults of adapters.
const (
	lateRelease = "client-pause:at=before-release,for=1.5ttl"
	cut         = "partition-client:mode=cut"
)

var (
	redisFaults    = []string{"none", "client-pause", lateRelease, "client-kill", cut, "lost-reply", "server-restart", "delete-key"}
	zkFaults       = []string{"none", "client-pause", lateRelease, "client-kill", cut, "lost-reply", "server-restart", "session-expire"}
	keyless        = []string{"none", "client-pause", lateRelease, "client-kill", cut, "lost-reply", "server-restart"} // nobody knows its keys, or it has none
	otherWay       = []string{"none", "client-pause", "client-kill", "session-expire"}                                 // of a variant that differs in little
	swallowed      = "partition-client:mode=blackhole,at=acquired,for=3ttl"                                            // until everything that has a time limit has ended
	electionFaults = []string{"none", "client-pause", lateRelease, "client-kill", cut, "lost-reply", "server-restart", "delete-key"}
	processFault   = []string{"none", "client-pause", lateRelease, "client-kill"}
)

// Adapters are the libraries of other languages as their users have them: rows of docs/adapters-measured.md. Each runs from the
// root of this repository. Of what cannot be had under a fault there is no row.
func Adapters() []Variant {
	return []Variant{
		{"redis-py Lock", ofPython + "redis_py.py" + three, toldAndObey, redisFaults},
		{"redis-py Lock, extend in the background", ofPython + "redis_py.py" + extended, toldAndObey, redisFaults},
		{"portalocker RedisLock", ofPython + "portalocker_redis.py" + three, toldAndObey, []string{"none", "client-pause", lateRelease, "client-kill", cut, "server-restart", "server-pause"}},
		{"python-etcd3 Lock", ofPython + "etcd3_lock.py" + three, toldAndObey, keyless},
		{"tooz RedisLock", ofPython + "tooz_lock.py" + three + " -- redis", toldAndObey, redisFaults},
		{"tooz PostgresLock", ofPython + "tooz_lock.py" + three + " -- postgresql", obey, keyless},
		{"tooz MySQLLock", ofPython + "tooz_lock.py" + three + " -- mysql", obey, keyless},
		{"rq's scheduler", ofPython + "rq_scheduler.py" + three + " -- one", obey, []string{"none", "client-pause", cut, "lost-reply", "server-restart", "delete-key"}},
		{"rq's scheduler with two queues", ofPython + "rq_scheduler.py" + three + " -- two", obey, []string{"none"}},
		{"kazoo Lock", ofPython + "kazoo_lock.py" + three, toldAndObey, zkFaults},
		{"kazoo Lock, reports the loss only in state LOST", ofPython + "kazoo_lock.py" + three + " -- lost-on=lost", told, append([]string{cut, "server-restart"}, otherWay...)},
		{"kazoo ReadLock and WriteLock", ofPython + "kazoo_lock.py --workload rwlock" + three + " -- rwlock", told, otherWay},
		{"Curator InterProcessMutex", ofJava + "curator" + three, toldAndObey, zkFaults},
		{"Curator InterProcessMutex, reports the loss only in state LOST", ofJava + "curator" + three + " -- lost-on=lost", told, []string{cut, "server-restart", "session-expire"}},
		{"Curator InterProcessSemaphoreMutex", ofJava + "curator" + three + " -- semaphore", told, otherWay},
		{"Curator InterProcessReadWriteLock", ofJava + "curator --workload rwlock" + three + " -- rwlock", told, otherWay},
		{"Curator LeaderLatch", ofJava + "curator" + three + " -- latch", told, otherWay},
		{"Symfony RedisStore", ofPHP + "symfony_lock.php" + three + " -- redis", obey, append([]string{"client-kill:at=saved"}, redisFaults...)},
		{"Symfony FlockStore", ofPHP + "symfony_lock.php" + three + " -- flock", obey, processFault},
		{"Laravel RedisStore", ofPHP + "laravel_lock.php" + three + " -- redis", obey, keyless},
		{"Laravel FileStore", ofPHP + "laravel_lock.php" + longLease + " -- file", obey, append([]string{"client-pause:at=checked,for=1.5ttl"}, processFault...)},
		{"Laravel FileStore, critical sections of 0.8 ttl", ofPHP + "laravel_lock.php --workload counter:hold=0.8ttl" + longLease + " -- file", obey, []string{"none"}},
		{"malkusch/lock PHPRedisMutex", ofPHP + "malkusch_lock.php" + three, obey, redisFaults},
		{"node-redis, SET NX PX without a lock library", ofNode + "redis_setnx.js" + three, obey, redisFaults},
		{"proper-lockfile", ofNode + "proper_lockfile.js" + longLease, toldAndObey, []string{"none", "client-pause:for=3s", "client-pause:at=before-release,for=3s", "client-kill"}},
		{"rueidislock, KeyMajority 1", ofGo + three + " -- rueidislock", toldAndObey, redisFaults},
		{"rueidislock 1.0.14, KeyMajority 1", ofEnv + three + " -- MODFILE=old.mod adapters/go/launch rueidislock", toldAndObey, redisFaults},
		{"client-go leader election", ofGo + leading + " -- clientgo", toldAndObey, append([]string{swallowed}, electionFaults...)},
		{"client-go leader election, ReleaseOnCancel not set", ofGo + leading + " -- clientgo keep", told, []string{"none", lateRelease, cut, swallowed}},
		{"client-go leader election, critical sections longer than the lease", ofGo + three + " --ttl 3s --time 30s --workload counter:hold=2.5ttl -- clientgo", told, []string{"none", cut, swallowed}},
		{"certmagic FileStorage", ofGo + three + " --ttl 10s --time 45s -- certmagic", obey, processFault},
		{"PostgreSQL advisory lock of a session, through PgBouncer", ofGo + three + " -- pgadvisory session", obey, []string{"none"}},
		{"PostgreSQL advisory lock of a transaction, through PgBouncer", ofGo + three + " -- pgadvisory transaction", obey, []string{"none", "client-pause", lateRelease, "client-kill", cut, "lost-reply:nodes=pgbouncer-1", "server-restart"}},
		{"SQLite BEGIN IMMEDIATE", ofPython + "sqlite_lock.py" + three, obey, processFault},
		{"flock of Python's standard library", ofPython + "flock.py" + three, obey, processFault},
	}
}

// Three clients, as few as can show who came between; the shortest lease of libraries that count in seconds is 2 s.
const (
	three     = " --clients 3"
	longLease = three + " --ttl 2s --time 10s"
	leading   = three + " --ttl 3s --time 20s" // of an election that tries again every 2/15 of its lease
)
