package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// ofClass is a violation whose overlaps are all of one class.
func ofClass(class checker.Class) suite.Expectation {
	return suite.Expectation{Exit: codes{harness.ExitViolation}, Classes: classes{checker.MutualExclusion: class}}
}

func serverCells() []suite.Case {
	return []suite.Case{
		{
			Name: "restart", Text: "a server without persistence restarts and forgets the lock: the checks mutual-exclusion and lock-linearizability both find the defect",
			Run: suite.MustLine("--backend redis-lua --nemesis server-restart --ttl 3s --topology redis-single --seed 2"),
			Expect: violates(verdicts{checker.MutualExclusion: checker.Fail, checker.LockLinearizability: checker.Fail},
				classes{checker.MutualExclusion: checker.Defect}),
		},
		{
			Name: "restart-aof", Text: "a server that writes every change to its disk restarts, and still has the lock",
			Run: suite.MustLine("--backend redis-lua --nemesis server-restart --ttl 3s --topology redis-single-aof --seed 2"), Expect: passes(),
		},
		{
			Name: "failover-long-lease", Text: "a fail-over ends before a lease has run out: the new master does not have the lock, although the lease is still running",
			// Whether another client is granted the lock before the old holder asks depends on the moment.
			Run:    suite.MustLine("--backend redis-sentinel --nemesis failover-kill --ttl 5s --time 15s --seed 1"),
			Expect: suite.Expectation{Exit: codes{harness.ExitViolation}, Classes: classes{checker.LockLinearizability: checker.Defect}},
		},
		{
			Name: "server-pause", Text: "the server is paused for a while: no violation",
			Run: suite.MustLine("--backend redis-lua --nemesis server-pause --time 6s --seed 2"), Expect: passes(),
		},
		{
			Name: "hit-nobody", Text: "no client reaches the point at which the fault must strike, so the run is inconclusive",
			Run: suite.MustLine("--backend redis-lua --clients 1 --nemesis client-kill:at=waiting --time 3s --seed 2"),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitUnknown},
				Verdicts: verdicts{checker.Coverage: checker.Unknown},
			},
		},
		{
			Name: "many", Text: "twenty clients share four locks: no violation",
			Run: suite.MustLine("--backend redis-lua --nemesis none --clients 20 --locks 4 --time 2s --seed 2"), Expect: passes(),
		},
	}
}

// combinedCells have faults that meet on the same server or client.
func combinedCells() []suite.Case {
	const aof = "--backend redis-lua --topology redis-single-aof --time 4s --seed 1 "
	return []suite.Case{
		{
			Name: "two-faults", Text: "faults kill clients and pause the server: no violation",
			Run: suite.MustLine("--backend redis-lua --nemesis client-kill --nemesis server-pause --time 6s --seed 2"), Expect: passes(),
		},
		{
			Name: "two-server-faults", Text: "two faults restart the same server at overlapping times: no violation",
			Run:    suite.MustLine(aof + "--nemesis server-restart:at=random,every=200ms --nemesis server-restart:at=random,every=230ms"),
			Expect: passes(),
		},
		{
			Name: "server-pause-restart", Text: "one fault pauses a server, and another fault restarts the paused server: no violation",
			Run:    suite.MustLine(aof + "--nemesis server-pause:at=random,every=300ms,for=100ms --nemesis server-restart:at=random,every=170ms"),
			Expect: passes(),
		},
		{
			Name: "client-pause-kill", Text: "one fault pauses clients, and another fault kills the paused clients: no violation",
			Run:    suite.MustLine("--backend file-flock --nemesis client-pause:at=random,every=500ms,for=450ms --nemesis client-kill:at=random,every=150ms --time 3s --seed 1"),
			Expect: passes(),
		},
		{
			Name: "kill-while-server-paused", Text: "one fault pauses the server, and another fault kills clients meanwhile: no violation",
			Run:    suite.MustLine("--backend redis-lua --nemesis server-pause:at=random,every=1.6ttl --nemesis client-kill:at=random,every=0.7ttl --time 6s --seed 1"),
			Expect: passes(),
		},
	}
}

func providerCells() []suite.Case {
	return []suite.Case{
		{
			Name: "embedded-pause", Text: "the lock is on lockstorm's embedded Redis server, and a holder is paused until its lease is over: two clients believe that they hold the lock, as with a real server",
			Run:    suite.MustLine("--backend redis-lua --nemesis client-pause --provider embedded --time 5s --seed 2"),
			Expect: ofClass(checker.Inherent),
		},
		{
			Name: "embedded-restart", Text: "lockstorm's embedded Redis server restarts and forgets the lock, as a real server without persistence does",
			Run:    suite.MustLine("--backend redis-lua --nemesis server-restart --ttl 3s --provider embedded --time 6s --seed 2"),
			Expect: ofClass(checker.Defect),
		},
	}
}
