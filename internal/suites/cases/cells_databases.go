package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// databaseCells are of locks in databases, and of the workloads and checks that came with them.
func databaseCells() []suite.Case {
	return []suite.Case{
		{
			Name: "sql-for-update-killed", Text: "the connection of a holder is ended: two clients believe that they hold the lock, but the transaction of the ended connection never commits, so no update is lost",
			Run:    suite.MustLine("--backend sql-for-update --clients 3 --nemesis kill-connection --time 8s --seed 1"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass}, Verdicts: verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Pass}},
		},
		{
			Name: "postgres-advisory-killed", Text: "an advisory lock ends with the connection of its holder: two clients believe that they hold the lock, until the first client checks its connection",
			Run: suite.MustLine("--backend postgres-advisory --clients 3 --nemesis kill-connection --time 8s --seed 1"), Expect: doubleHolder(checker.Inherent),
		},
		{
			Name: "mariadb-get-lock-restart", Text: "a lock taken with GET_LOCK ends when the MariaDB server restarts: two clients believe that they hold the lock",
			Run: suite.MustLine("--backend mariadb-get-lock --nemesis server-restart --time 5s --seed 1"), Expect: doubleHolder(checker.Inherent),
		},
		{
			Name: "sql-optimistic-restart", Text: "each update checks a version number in the row instead of taking a lock: no update is lost when the server restarts",
			Run: suite.MustLine("--backend sql-optimistic --topology mariadb --nemesis server-restart --time 5s --seed 1"), Expect: passes(),
		},
		{
			Name: "sql-lease-promote", Text: "a replica that has not received the lease is promoted: the lease is lost, and two clients hold the lock",
			Run: suite.MustLine("--backend sql-lease-row --topology mariadb-replica --nemesis promote-replica --time 18s --seed 1"), Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "sql-lease-register", Text: "each SQL statement checks the fencing token in its condition: no update is lost, although the holder is paused until its lease is over",
			Run:    suite.MustLine("--backend sql-lease-row --register postgres --fencing on --clients 3 --nemesis client-pause --time 8s --seed 1"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass}, Verdicts: verdicts{checker.DataFenced: checker.Pass}},
		},
		{
			Name: "setnx-two-locks", Text: "two clients wait for each other's lock, and neither lock has a time to live: the deadlock never ends",
			Run:    suite.MustLine("--backend redis-setnx --workload two-locks --locks 2 --clients 4 --time 3s --seed 1"),
			Expect: suite.Expectation{Verdicts: verdicts{checker.Liveness: checker.Fail}, Rules: rules{checker.Liveness: {"deadlocked"}}},
		},
		{
			Name: "job-twice", Text: "two clients hold the lock one after the other, and both do a job that must be done only once per period: a lock does not ensure that a job is done only once",
			Run: suite.MustLine("--backend redis-lua --workload job --time 4s --seed 1"), Expect: fails(checker.Once),
		},
		{
			Name: "value-cas-restock", Text: "an update checks only the old value of a row: after a sale and a refill of the stock, the row looks unchanged, and an update of the ledger (the count of changes) is lost",
			Run: suite.MustLine("--backend sql-value-cas --workload stock --time 8s --seed 1"), Expect: fails(checker.Stock),
		},
		{
			Name: "seed001-reentrant", Text: "a client acquires a lock a second time while it holds the lock: the release of the second grant already frees the lock, so another client gets the lock too early",
			Run: suite.MustLine("--backend zk-seed001 --workload reentrant --time 3s --seed 1"), Expect: fails(checker.MutualExclusion),
		},
	}
}
