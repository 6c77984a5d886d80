package own

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Databases are what the docs say of locks in databases: the rows of docs/databases.md, in that order.
// They hold with every seed.
func Databases() []suite.Case {
	cases := slices.Concat(fencedByTransaction(), connectionLocks(), lostPackets(), replicaCases(), waitCases())
	for i := range cases {
		cases[i].Name = "databases/" + cases[i].Name // pairs have the others
	}
	return cases
}

// noLoss is a run in which no acknowledged update is lost, whoever believed what.
func noLoss() suite.Expectation {
	return suite.Expectation{Exit: codes{harness.ExitPass, harness.ExitUnknown}, Verdicts: verdicts{checker.DataPlain: checker.Pass}}
}

// fencedByTransaction lose nothing under any fault that works on them.
func fencedByTransaction() []suite.Case {
	var out []suite.Case
	for _, backend := range []string{"sql-for-update", "sql-optimistic"} {
		for _, engine := range []string{"postgres", "mariadb"} {
			for _, fault := range []string{
				"none", "client-pause", "client-stall", "client-kill", "partition-client", "partition-client:mode=blackhole", "flap", "lost-reply", "watch-delay",
				"server-pause", "server-restart", "server-kill", "slow-server", "clock-jump", "flush", "kill-connection", "chaos",
			} {
				name := fmt.Sprintf("%s/%s/%s", backend, engine, strings.NewReplacer(":", "-", "=", "-").Replace(fault))
				out = append(out, suite.Case{
					Name: name, Text: "the transaction or the version is the fence", Expect: noLoss(),
					Run: suite.MustLine(fmt.Sprintf("--backend %s --topology %s --nemesis %s --time 6s", backend, engine, fault)),
				})
			}
		}
	}
	return out
}

// connectionLocks are safe while their connection lives, and no longer.
func connectionLocks() []suite.Case {
	var out []suite.Case
	for _, backend := range []string{"postgres-advisory", "mariadb-get-lock"} {
		for _, fault := range []string{"none", "client-kill"} {
			out = append(out, suite.Case{
				Name: backend + "/" + fault, Text: "the server keeps the lock while the connection lives, and frees it with its holder",
				Run: suite.MustLine("--backend " + backend + " --nemesis " + fault + " --time 6s"), Expect: passes(),
			})
		}
		for _, fault := range []string{"kill-connection", "server-restart"} {
			out = append(out, suite.Case{
				Name: backend + "/" + fault, Text: "the lock ends with the connection: two holders until the first one checks",
				Run: suite.MustLine("--backend " + backend + " --nemesis " + fault + " --time 6s"), Expect: doubleHolder(checker.Inherent),
			})
		}
		out = append(out, suite.Case{
			Name: backend + "/watched", Text: "a holder that checks its connection every tenth of the ttl learns of its end in that time",
			Run:    suite.MustLine("--backend " + backend + ":watch=0.1ttl --workload counter:hold=0.5ttl --nemesis kill-connection --time 6s"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass, harness.ExitViolation}, Verdicts: verdicts{checker.LockLinearizability: checker.Pass}},
		}, suite.Case{
			Name: backend + "/idle", Text: "with an idle time-out in the server, the lock of a connection that is cut off is freed; it is a lease then",
			Run:    suite.MustLine("--backend " + backend + ":idle=1s,watch=300ms --nemesis partition-client:mode=blackhole,at=acquired,for=3ttl --time 7s"),
			Expect: suite.Expectation{Verdicts: verdicts{checker.Liveness: checker.Pass}},
		})
	}
	return out
}

// lostPackets are locks of a client whose packets are lost for five times the ttl. Nobody sends anything on an
// idle connection: only keepalives find out, and a server that has ended the connection has freed the lock.
func lostPackets() []suite.Case {
	const loss = " --nemesis partition-client:mode=loss,at=acquired,for=5ttl --time 9s"
	taken := suite.Expectation{Exit: codes{harness.ExitPass}, Figures: figures{"acquire_p99_ns": suite.AtLeast(5e9)}}
	freed := suite.Expectation{Exit: codes{harness.ExitPass}, Figures: figures{"acquire_p99_ns": suite.AtMost(45e8)}}
	return []suite.Case{
		{
			Name: "postgres-advisory/lost", Text: "packets are lost: the lock stays taken until they are sent again",
			Run: suite.MustLine("--backend postgres-advisory" + loss), Expect: taken,
		},
		{
			Name: "mariadb-get-lock/lost", Text: "packets are lost: the lock stays taken until they are sent again",
			Run: suite.MustLine("--backend mariadb-get-lock" + loss), Expect: taken,
		},
		{
			Name: "postgres-advisory/lost-user-timeout", Text: "tcp_user_timeout covers only data that was sent, and an idle connection sends none: the lock stays taken",
			Run: suite.MustLine("--backend postgres-advisory:user-timeout=1500ms" + loss), Expect: taken,
		},
		{
			Name: "postgres-advisory/lost-keepalive", Text: "a keepalive of one second frees the lock after two",
			Run: suite.MustLine("--backend postgres-advisory:keepalive=1s" + loss), Expect: freed,
		},
		{
			Name: "postgres-advisory/lost-both", Text: "both settings together free the lock, too",
			Run: suite.MustLine("--backend postgres-advisory:keepalive=1s,user-timeout=1500ms" + loss), Expect: freed,
		},
		{
			Name: "postgres-advisory/lost-holding", Text: "the keepalive frees the lock of a client that goes on working: two holders until it checks",
			Run:    suite.MustLine("--backend postgres-advisory:keepalive=1s --clients 2 --workload counter:hold=4ttl --nemesis partition-client:mode=loss,at=acquired,for=4ttl,every=1ttl --time 14s"),
			Expect: suite.Expectation{Exit: codes{harness.ExitViolation}, Verdicts: verdicts{checker.MutualExclusion: checker.Fail}, Classes: classes{checker.MutualExclusion: checker.Inherent}},
		},
	}
}

// replicaCases lose the lease with the master, unless it waits for its replica.
func replicaCases() []suite.Case {
	var out []suite.Case
	for _, engine := range []string{"postgres", "mariadb"} {
		out = append(out, suite.Case{
			Name: "sql-lease-row/" + engine + "/asynchronous", Text: "the replica is promoted and never had the lease",
			Run: suite.MustLine("--backend sql-lease-row --topology " + engine + "-replica --nemesis promote-replica --time 14s"), Expect: doubleHolder(checker.Defect),
		}, suite.Case{
			Name: "sql-lease-row/" + engine + "/synchronous", Text: "nothing is acknowledged before the replica has it",
			Run: suite.MustLine("--backend sql-lease-row --topology " + engine + "-replica-sync --nemesis promote-replica --time 10s"), Expect: passes(),
		})
	}
	return out
}

// waitCases are locks that are taken in cross order.
func waitCases() []suite.Case {
	const cross = " --workload two-locks --locks 2 --clients 4 --time 5s"
	return []suite.Case{
		{
			Name: "two-locks/postgres", Text: "PostgreSQL reports a deadlock after a second",
			Run: suite.MustLine("--backend sql-for-update" + cross), Expect: within("deadlocks_reported", suite.AtLeast(1)),
		},
		{
			Name: "two-locks/mariadb", Text: "MariaDB reports it at once",
			Run: suite.MustLine("--backend sql-for-update --topology mariadb" + cross), Expect: suite.Expectation{Figures: figures{"deadlocks_reported": suite.AtLeast(1), "mutual_wait_max_ns": suite.AtMost(1e9)}},
		},
		{
			Name: "two-locks/redis-setnx", Text: "SETNX hangs",
			Run: suite.MustLine("--backend redis-setnx" + cross), Expect: blocksAll,
		},
	}
}
