package cases

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Network are the other promises of the docs, about links, servers, clocks and stores,
// each with a seed of its own.
func Network() []suite.Case {
	return slices.Concat(linkCells(), lostReplyCells(), replicaCells(), storeCells(), libraryCells(), mixedCells())
}

func linkCells() []suite.Case {
	const run = "--backend redis-lua --time 6s --seed 3 --nemesis "
	return []suite.Case{
		{
			Name: "partition-cut", Text: "the network link of a client is cut: this client blocks the other clients at most until its lease is over",
			Run: suite.MustLine(run + "partition-client"), Expect: passes(),
		},
		{
			Name: "partition-blackhole-all", Text: "the network swallows all packets between the clients and the server (mode=blackhole): no violation",
			Run: suite.MustLine(run + "partition-client:mode=blackhole,clients=all"), Expect: passes(),
		},
		{
			Name: "partition-blackhole-answers", Text: "the network delivers the clients' requests, but swallows the server's answers: no violation",
			Run: suite.MustLine(run + "partition-client:mode=blackhole,way=from"), Expect: passes(),
		},
		{
			Name: "partition-loss", Text: "the network loses packets, and the clients' requests arrive late: no violation",
			Run: suite.MustLine(run + "partition-client:mode=loss"), Expect: passes(),
		},
		{
			Name: "partition-hold", Text: "the network delivers a client's release late: no violation",
			Run: suite.MustLine(run + "partition-client:mode=hold,at=releasing"), Expect: passes(),
		},
		{
			Name: "latency", Text: "the packets of half of the clients are delayed (mode=latency): no violation",
			Run: suite.MustLine(run + "partition-client:mode=latency,clients=half"), Expect: passes(),
		},
		{
			Name: "flap", Text: "the clients' connections are reset again and again: no violation",
			Run: suite.MustLine(run + "flap"), Expect: passes(),
		},
	}
}

func lostReplyCells() []suite.Case {
	return []suite.Case{
		{
			Name: "lost-reply", Text: "the answer to an acquire is lost: the granted lock blocks all clients at most until its lease is over",
			Run: suite.MustLine("--backend redis-lua --nemesis lost-reply:at=before-acquire --time 5s --seed 3"),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitPass},
				Verdicts: verdicts{checker.MutualExclusion: checker.Pass, checker.Liveness: checker.Pass},
			},
		},
		{
			Name: "lost-reply-setnx", Text: "the answer to an acquire is lost, and the lock has no time to live: the granted lock blocks all clients forever",
			Run: suite.MustLine("--backend redis-setnx --nemesis lost-reply:at=before-acquire --time 7s --seed 3"), Expect: onlyBlocks(),
		},
	}
}

func replicaCells() []suite.Case {
	return []suite.Case{
		{
			Name: "replication", Text: "a Redis replica is cut off from its master: no violation while the master lives",
			Run: suite.MustLine("--backend redis-lua --topology redis-replica --nemesis partition-replication --time 5s --seed 3"), Expect: passes(),
		},
		{
			Name: "wait-isolated", Text: "Redis Sentinel with WAIT: an isolated master grants no lock",
			Run: suite.MustLine("--backend redis-sentinel-wait --nemesis leader-isolate --time 9s --seed 3"), Expect: passes(),
		},
		{
			Name: "redlock-restart-3", Text: "Redlock: three of five nodes restart without their data and forget the lock, and two clients hold the lock",
			Run: suite.MustLine("--backend redlock --nemesis server-restart:nodes=3,at=acquired --ttl 2s --time 7s --seed 3"), Expect: ofClass(checker.Defect),
		},
		{
			Name: "redlock-delayed-restart-3", Text: "Redlock with delayed restarts: three of five nodes restart without their data, but two clients never hold the lock at once",
			Run: suite.MustLine("--backend redlock-delayed --nemesis server-restart:nodes=3,at=acquired --time 9s --seed 3"), Expect: passes(),
		},
	}
}

func storeCells() []suite.Case {
	return []suite.Case{
		{
			Name: "slow-server", Text: "the server is slow: no violation",
			Run: suite.MustLine("--backend redis-lua --nemesis slow-server --time 5s --seed 3"), Expect: passes(),
		},
		{
			Name: "flush", Text: "the data of the server is deleted (FLUSHALL) while a client holds the lock: a second client gets the lock",
			Run: suite.MustLine("--backend redis-lua --nemesis flush --time 3s --seed 3"), Expect: ofClass(checker.Defect),
		},
		{
			Name: "delete-key", Text: "an operator deletes the key of a lock that is held: a second client gets the lock",
			Run: suite.MustLine("--backend redis-lua --nemesis delete-key --time 3s --seed 3"), Expect: ofClass(checker.Defect),
		},
		{
			Name: "clock-back", Text: "the server's clock jumps back: leases end later, never earlier, so no violation occurs",
			Run: suite.MustLine("--backend redis-lua --nemesis clock-jump:by=-5s --time 5s --seed 3"), Expect: passes(),
		},
	}
}

func mixedCells() []suite.Case {
	return []suite.Case{
		{
			Name: "chaos-flock", Text: "under the fault `chaos` (clients are paused or killed, or only their critical section is stopped), a file lock shows no violation",
			Run: suite.MustLine("--backend file-flock --nemesis chaos:only=client-pause+client-kill+client-stall --time 6s --seed 3"), Expect: passes(),
		},
		{
			Name: "skipped", Text: "a run requests two faults: the fault that cannot work is skipped, and the other fault is injected",
			Run: suite.MustLine("--backend redis-lua --nemesis failover-kill --nemesis client-kill --time 5s --seed 3"), Expect: passes(),
		},
	}
}
