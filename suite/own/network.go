package own

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
			Name: "partition-cut", Text: "a client whose link is cut blocks no other client for longer than its lease",
			Run: suite.MustLine(run + "partition-client"), Expect: passes(),
		},
		{
			Name: "partition-blackhole-all", Text: "no client reaches the server, and none is told so",
			Run: suite.MustLine(run + "partition-client:mode=blackhole,clients=all"), Expect: passes(),
		},
		{
			Name: "partition-blackhole-answers", Text: "requests arrive, but answers do not",
			Run: suite.MustLine(run + "partition-client:mode=blackhole,way=from"), Expect: passes(),
		},
		{
			Name: "partition-loss", Text: "packets are lost and sent again: requests arrive late",
			Run: suite.MustLine(run + "partition-client:mode=loss"), Expect: passes(),
		},
		{
			Name: "partition-hold", Text: "a release is held in the network and delivered late",
			Run: suite.MustLine(run + "partition-client:mode=hold,at=releasing"), Expect: passes(),
		},
		{
			Name: "latency", Text: "half of the clients are far away",
			Run: suite.MustLine(run + "partition-client:mode=latency,clients=half"), Expect: passes(),
		},
		{
			Name: "flap", Text: "connections are reset again and again",
			Run: suite.MustLine(run + "flap"), Expect: passes(),
		},
	}
}

func lostReplyCells() []suite.Case {
	return []suite.Case{
		{
			Name: "lost-reply", Text: "a grant whose answer is lost blocks all clients for no longer than its lease; whether the lost answer is a grant or a refusal is chance",
			Run: suite.MustLine("--backend redis-lua --nemesis lost-reply:at=before-acquire --time 5s --seed 3"),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitPass},
				Verdicts: verdicts{checker.MutualExclusion: checker.Pass, checker.Liveness: checker.Pass},
			},
		},
		{
			Name: "lost-reply-setnx", Text: "without a time to live it blocks them forever",
			Run: suite.MustLine("--backend redis-setnx --nemesis lost-reply:at=before-acquire --time 7s --seed 3"), Expect: onlyBlocks(),
		},
	}
}

func replicaCells() []suite.Case {
	return []suite.Case{
		{
			Name: "replication", Text: "a replica that falls behind harms nobody while its master lives",
			Run: suite.MustLine("--backend redis-lua --topology redis-replica --nemesis partition-replication --time 5s --seed 3"), Expect: passes(),
		},
		{
			Name: "wait-isolated", Text: "with WAIT an isolated master grants nothing",
			Run: suite.MustLine("--backend redis-sentinel-wait --nemesis leader-isolate --time 9s --seed 3"), Expect: passes(),
		},
		{
			Name: "redlock-restart-3", Text: "a majority that restarts empty forgets the lock",
			Run: suite.MustLine("--backend redlock --nemesis server-restart:nodes=3,at=acquired --ttl 2s --time 7s --seed 3"), Expect: ofClass(checker.Defect),
		},
		{
			Name: "redlock-delayed-restart-3", Text: "delayed restarts cure it",
			Run: suite.MustLine("--backend redlock-delayed --nemesis server-restart:nodes=3,at=acquired --time 9s --seed 3"), Expect: passes(),
		},
	}
}

func storeCells() []suite.Case {
	return []suite.Case{
		{
			Name: "slow-server", Text: "a server that is slow breaks nothing",
			Run: suite.MustLine("--backend redis-lua --nemesis slow-server --time 5s --seed 3"), Expect: passes(),
		},
		{
			Name: "flush", Text: "somebody empties the store",
			Run: suite.MustLine("--backend redis-lua --nemesis flush --time 3s --seed 3"), Expect: ofClass(checker.Defect),
		},
		{
			Name: "delete-key", Text: "an operator deletes the key of a lock that is held",
			Run: suite.MustLine("--backend redis-lua --nemesis delete-key --time 3s --seed 3"), Expect: ofClass(checker.Defect),
		},
		{
			Name: "clock-back", Text: "a clock that jumps back makes leases longer, never shorter",
			Run: suite.MustLine("--backend redis-lua --nemesis clock-jump:by=-5s --time 5s --seed 3"), Expect: passes(),
		},
	}
}

func mixedCells() []suite.Case {
	return []suite.Case{
		{
			Name: "chaos-flock", Text: "a file lock withstands every fault of clients",
			Run: suite.MustLine("--backend file-flock --nemesis chaos:only=client-pause+client-kill+client-stall --time 6s --seed 3"), Expect: passes(),
		},
		{
			Name: "skipped", Text: "of two faults, the one that cannot work is skipped and the other is injected",
			Run: suite.MustLine("--backend redis-lua --nemesis failover-kill --nemesis client-kill --time 5s --seed 3"), Expect: passes(),
		},
	}
}
