package cases

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
	for _, lock := range [][2]string{
		{"sql-for-update", "each write is in the transaction that holds the row lock: no update is lost"},
		{"sql-optimistic", "each write is accepted only if the version number in the row is unchanged: no update is lost"},
	} {
		backend, text := lock[0], lock[1]
		for _, engine := range []string{"postgres", "mariadb"} {
			for _, fault := range []string{
				"none", "client-pause", "client-stall", "client-kill", "partition-client", "partition-client:mode=blackhole", "flap", "lost-reply", "watch-delay",
				"server-pause", "server-restart", "server-kill", "slow-server", "clock-jump", "flush", "kill-connection", "chaos",
			} {
				name := fmt.Sprintf("%s/%s/%s", backend, engine, strings.NewReplacer(":", "-", "=", "-").Replace(fault))
				out = append(out, suite.Case{
					Name: name, Text: text, Expect: noLoss(),
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
				Name: backend + "/" + fault, Text: "the server keeps the lock while the holder's connection lives, and frees it when the holder dies",
				Run: suite.MustLine("--backend " + backend + " --nemesis " + fault + " --time 6s"), Expect: passes(),
			})
		}
		for _, fault := range []string{"kill-connection", "server-restart"} {
			out = append(out, suite.Case{
				Name: backend + "/" + fault, Text: "a fault ends the holder's connection: the server frees the lock, and two clients hold it until the first checks its connection",
				Run: suite.MustLine("--backend " + backend + " --nemesis " + fault + " --time 6s"), Expect: doubleHolder(checker.Inherent),
			})
		}
		out = append(out, suite.Case{
			Name: backend + "/watched", Text: "the server ends a holder's connection: a check every 0.1 ttl notices it within 0.1 ttl",
			Run:    suite.MustLine("--backend " + backend + ":watch=0.1ttl --workload counter:hold=0.5ttl --nemesis kill-connection --time 6s"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass, harness.ExitViolation}, Verdicts: verdicts{checker.LockLinearizability: checker.Pass}},
		}, suite.Case{
			Name: backend + "/idle", Text: "the server ends connections that are idle for 1 s: the lock of a client that is cut off becomes free, as with a lease",
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
			Name: "postgres-advisory/lost", Text: "all packets of a holder are lost: the server does not notice, and nobody gets the lock until the network works again",
			Run: suite.MustLine("--backend postgres-advisory" + loss), Expect: taken,
		},
		{
			Name: "mariadb-get-lock/lost", Text: "all packets of a holder are lost: the server does not notice, and nobody gets the lock until the network works again",
			Run: suite.MustLine("--backend mariadb-get-lock" + loss), Expect: taken,
		},
		{
			Name: "postgres-advisory/lost-user-timeout", Text: "all packets of a holder are lost: tcp_user_timeout alone frees nothing, for it begins when the server sends, and on an idle connection it does not",
			Run: suite.MustLine("--backend postgres-advisory:user-timeout=1500ms" + loss), Expect: taken,
		},
		{
			Name: "postgres-advisory/lost-keepalive", Text: "all packets of a holder are lost: a TCP keepalive of one second frees the lock after two",
			Run: suite.MustLine("--backend postgres-advisory:keepalive=1s" + loss), Expect: freed,
		},
		{
			Name: "postgres-advisory/lost-both", Text: "all packets of a holder are lost: TCP keepalive and tcp_user_timeout together free the lock",
			Run: suite.MustLine("--backend postgres-advisory:keepalive=1s,user-timeout=1500ms" + loss), Expect: freed,
		},
		{
			Name: "postgres-advisory/lost-holding", Text: "all packets of a holder are lost, and it goes on working: TCP keepalive frees the lock, and two clients hold it until the first checks its connection",
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
			Name: "sql-lease-row/" + engine + "/asynchronous", Text: "replication is asynchronous: the replica becomes the master before it has the lease: two holders",
			Run: suite.MustLine("--backend sql-lease-row --topology " + engine + "-replica --nemesis promote-replica --time 14s"), Expect: doubleHolder(checker.Defect),
		}, suite.Case{
			Name: "sql-lease-row/" + engine + "/synchronous", Text: "replication is synchronous: a grant is acknowledged once the replica has the lease: no second holder after a fail-over",
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
			Name: "two-locks/postgres", Text: "two row locks in opposite orders: PostgreSQL reports the deadlock after one second",
			Run: suite.MustLine("--backend sql-for-update" + cross), Expect: within("deadlocks_reported", suite.AtLeast(1)),
		},
		{
			Name: "two-locks/mariadb", Text: "two row locks in opposite orders: MariaDB reports the deadlock at once",
			Run: suite.MustLine("--backend sql-for-update --topology mariadb" + cross), Expect: suite.Expectation{Figures: figures{"deadlocks_reported": suite.AtLeast(1), "mutual_wait_max_ns": suite.AtMost(1e9)}},
		},
		{
			Name: "two-locks/redis-setnx", Text: "two SETNX locks in opposite orders: the clients wait for each other for ever",
			Run: suite.MustLine("--backend redis-setnx" + cross), Expect: blocksAll,
		},
	}
}
