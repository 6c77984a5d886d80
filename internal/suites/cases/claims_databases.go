package cases

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/suite"
)

// claimsOfDatabases are those of rows and transactions.
func claimsOfDatabases() []Claim {
	return []Claim{
		{
			Number: 33, Text: "SELECT ... FOR UPDATE in one transaction is a lock", Articles: "004",
			Note: "The claim is true for an existing row. The claim is false for a row that does not exist: in MariaDB and PostgreSQL and at every isolation level, SELECT ... FOR UPDATE succeeds for two clients at once, so both clients believe that they have the lock. But if the table has a unique key, only one of the two clients can insert the row. (In some cases the isolation level alone prevents the second insert.)",
			Runs: missingRows(),
		},
		{
			Number: 34, Text: "two clients that take row locks in opposite orders wait for each other (a deadlock)", Articles: "004",
			Note: "The databases report the deadlock: PostgreSQL reports it after a second, MariaDB at once. With locks outside a database, nobody reports the deadlock. If the locks have a time to live, the clients wait until it runs out. With SETNX (without a time to live), the clients wait forever.",
			Runs: []ClaimRun{
				as("postgres", "--backend sql-for-update --workload two-locks --locks 2 --clients 4 --time 5s", suite.Expectation{Exit: codes{0}, Figures: figures{"deadlocks_reported": suite.AtLeast(1), "mutual_wait_max_ns": suite.AtMost(3e9)}}, "deadlocks_reported", "deadlock_report_max_ns", "mutual_wait_max_ns"),
				as("mariadb", "--backend sql-for-update --topology mariadb --workload two-locks --locks 2 --clients 4 --time 5s", suite.Expectation{Exit: codes{0}, Figures: figures{"deadlocks_reported": suite.AtLeast(1), "mutual_wait_max_ns": suite.AtMost(1e9)}}, "deadlocks_reported", "deadlock_report_max_ns", "mutual_wait_max_ns"),
				as("postgres-advisory", "--backend postgres-advisory --workload two-locks --locks 2 --clients 4 --time 5s", within("deadlocks_reported", suite.AtLeast(1)), "deadlocks_reported", "mutual_wait_max_ns"),
				as("redis-lua", "--backend redis-lua --workload two-locks --locks 2 --clients 4 --time 5s", suite.Expectation{Exit: codes{0}, Figures: figures{"mutual_wait_max_ns": suite.AtLeast(2e8)}}, "deadlocks_reported", "mutual_wait_max_ns"),
				as("redis-setnx", "--backend redis-setnx --workload two-locks --locks 2 --clients 4 --time 4s", suite.Expectation{Verdicts: verdicts{checker.Liveness: checker.Fail}, Rules: rules{checker.Liveness: {"deadlocked"}}}, "mutual_wait_max_ns"),
			},
		},
		{
			Number: 36, Text: "locks in Redis are the fastest, locks in databases are the slowest, and locks in ZooKeeper are slow", Articles: "000, 004",
			Note:  "In each run, one client acquires and releases the lock again and again, without faults. The runs measure the number of grants, and the time to acquire the lock. An acquire takes longer if the server writes the lock to its disk before it answers. A session lock in a database (an advisory lock) is fast, because the server does not write the lock to its disk.",
			Alone: true,
			Compares: []Comparison{
				{"one client gets more grants per second from Redis than from a queue in ZooKeeper", figGrants, "redis-lua", "zk-sequential", 1.5},
				{"one client gets more grants per second from Redis than from etcd", figGrants, "redis-lua", "etcd-mutex", 1.5},
				{"one client gets more grants per second from Redis than from a session lock in a database", figGrants, "redis-lua", "postgres-advisory", 1.5},
				{"one client gets more grants per second from Redis with persistence (AOF) than from a row lock in MariaDB", figGrants, "redis-lua-aof", "sql-for-update-mariadb", 1.5},
				{"one client gets more grants per second from etcd than from ZooKeeper", figGrants, "etcd-mutex", "zk-sequential", 1.5},
				{"one client gets more grants per second from ZooKeeper than from a row lock in PostgreSQL", figGrants, "zk-sequential", "sql-for-update-postgres", 1},
			},
			Runs: speedRuns(),
		},
	}
}

// missingRows are the two engines and three isolation levels, with a primary key and without.
func missingRows() []ClaimRun {
	out := []ClaimRun{
		as("there-postgres", "--backend sql-for-update --time 3s", passes(), figGrants),
		as("there-mariadb", "--backend sql-for-update --topology mariadb --time 3s", passes(), figGrants),
	}
	for _, engine := range []string{"postgres", "mariadb"} {
		for _, level := range []string{"read-committed", "repeatable-read", "serializable"} {
			for _, key := range []string{"yes", "no"} {
				line := fmt.Sprintf("--backend sql-for-update-missing-row:isolation=%s,key=%s --topology %s --locks 12 --clients 16 --workload counter:hold=300ms,think=0s,try=0 --time 4s", level, key, engine)
				// A second row is kept out by a key, by a serializable transaction, and by the gap locks of InnoDB.
				must := suite.Expectation{Verdicts: verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Pass}}
				if key == "no" && (level == "read-committed" || (level == "repeatable-read" && engine == "postgres")) {
					must.Verdicts[checker.DataPlain] = checker.Fail
				}
				out = append(out, but(strings.Join([]string{engine, level, "key", key}, "-"), line, must, alone, "violations", "updates_lost_plain"))
			}
		}
	}
	return out
}

// speedRuns are one client each, by what they run on.
func speedRuns() []ClaimRun {
	var out []ClaimRun
	for _, b := range []struct{ name, flags string }{
		{"redis-lua", "--backend redis-lua"},
		{"redis-lua-aof", "--backend redis-lua --topology redis-single-aof"},
		{"redlock", "--backend redlock"},
		{"zk-sequential", "--backend zk-sequential"},
		{"zk-sequential-three", "--backend zk-sequential --topology zk-three"},
		{"etcd-mutex", "--backend etcd-mutex-shared-session"},
		{"etcd-mutex-three", "--backend etcd-mutex-shared-session --topology etcd-three"},
		{"postgres-advisory", "--backend postgres-advisory"},
		{"mariadb-get-lock", "--backend mariadb-get-lock"},
		{"sql-for-update-postgres", "--backend sql-for-update"},
		{"sql-for-update-mariadb", "--backend sql-for-update --topology mariadb"},
		{"sql-insert-unique", "--backend sql-insert-unique"},
		{"sql-lease-row", "--backend sql-lease-row"},
		{"nats-kv", "--backend nats-kv"},
		{"file-flock", "--backend file-flock"},
	} {
		out = append(out, as(b.name, b.flags+" --workload mutex:hold=0s,think=0s,try=0 --clients 1 --time 3s", suite.Expectation{Exit: codes{0}}, figGrants, figP50, figP99))
	}
	return out
}
