package own

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// databaseCells are of locks in databases, and of the workloads and checks that came with them.
func databaseCells() []suite.Case {
	return []suite.Case{
		{
			Name: "sql-for-update-killed", Text: "the connection of a holder is ended: two clients believe that they hold the lock, but only committed writes count",
			Run:    suite.MustLine("--backend sql-for-update --clients 3 --nemesis kill-connection --time 8s --seed 1"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass}, Verdicts: verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Pass}},
		},
		{
			Name: "postgres-advisory-killed", Text: "an advisory lock ends with its connection: two holders, until the first one checks",
			Run: suite.MustLine("--backend postgres-advisory --clients 3 --nemesis kill-connection --time 8s --seed 1"), Expect: doubleHolder(checker.Inherent),
		},
		{
			Name: "mariadb-get-lock-restart", Text: "a lock of GET_LOCK ends with its server",
			Run: suite.MustLine("--backend mariadb-get-lock --nemesis server-restart --time 5s --seed 1"), Expect: doubleHolder(checker.Inherent),
		},
		{
			Name: "sql-optimistic-restart", Text: "with a version in the row no lock is needed",
			Run: suite.MustLine("--backend sql-optimistic --topology mariadb --nemesis server-restart --time 5s --seed 1"), Expect: passes(),
		},
		{
			Name: "sql-lease-promote", Text: "a lease that was not replicated is lost when the replica is promoted",
			Run: suite.MustLine("--backend sql-lease-row --topology mariadb-replica --nemesis promote-replica --time 18s --seed 1"), Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "sql-lease-register", Text: "a token in the condition of the statement is a fence",
			Run:    suite.MustLine("--backend sql-lease-row --register postgres --fencing on --clients 3 --nemesis client-pause --time 8s --seed 1"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass}, Verdicts: verdicts{checker.DataFenced: checker.Pass}},
		},
		{
			Name: "setnx-two-locks", Text: "two clients that wait for each other, each with a lock that never ends",
			Run:    suite.MustLine("--backend redis-setnx --workload two-locks --locks 2 --clients 4 --time 3s --seed 1"),
			Expect: suite.Expectation{Verdicts: verdicts{checker.Liveness: checker.Fail}, Rules: rules{checker.Liveness: {"deadlocked"}}},
		},
		{
			Name: "job-twice", Text: "a lock alone does not ensure that a job is done once",
			Run: suite.MustLine("--backend redis-lua --workload job --time 4s --seed 1"), Expect: fails(checker.Once),
		},
		{
			Name: "value-cas-restock", Text: "a value that comes back fools a comparison of values",
			Run: suite.MustLine("--backend sql-value-cas --workload stock --time 8s --seed 1"), Expect: fails(checker.Stock),
		},
		{
			Name: "seed001-reentrant", Text: "the inner unlock frees the outer lock",
			Run: suite.MustLine("--backend zk-seed001 --workload reentrant --time 3s --seed 1"), Expect: fails(checker.MutualExclusion),
		},
	}
}
