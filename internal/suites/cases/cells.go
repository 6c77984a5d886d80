package cases

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Cells are what the README and the docs promise of clients, fences and servers, each with
// a seed of its own.
func Cells() []suite.Case {
	return slices.Concat(fenceCells(), killCells(), pauseCells(), serverCells(), combinedCells(), providerCells(), sessionCells(), databaseCells())
}

func fenceCells() []suite.Case {
	const pause = "--nemesis client-pause --ttl 1s --clients 3 --time 10s --seed 1 "
	return []suite.Case{
		{
			Name: "lua-pause", Text: "a holder is paused until its lease is over: two clients believe that they hold the lock, and updates are lost, although the lock gave only correct answers",
			Run: suite.MustLine("--backend redis-lua --workload counter " + pause),
			Expect: suite.Expectation{
				Exit: codes{harness.ExitViolation},
				Verdicts: verdicts{
					checker.MutualExclusion: checker.Fail, checker.LockLinearizability: checker.Pass, checker.DataPlain: checker.Fail,
					checker.DataFenced: checker.Skipped, checker.FencingTokens: checker.Skipped,
					checker.Ownership: checker.Pass, checker.Liveness: checker.Pass,
				},
				Classes: classes{checker.MutualExclusion: checker.Inherent, checker.DataPlain: checker.Inherent},
				Figures: figures{"first_violation_ns": suite.AtMost(6e9)}, // beside other runs; how soon it is ready, the benchmarks say
			},
		},
		{
			Name: "fenced-on", Text: "a holder is paused until its lease is over: the fence refuses the holder's late requests, so no update is lost",
			Run: suite.MustLine("--backend redis-fenced --fencing on " + pause),
			Expect: suite.Expectation{
				Exit: codes{harness.ExitPass},
				Verdicts: verdicts{
					checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Skipped,
					checker.DataFenced: checker.Pass, checker.FencingTokens: checker.Pass,
				},
				Classes: classes{checker.MutualExclusion: checker.Inherent},
				Figures: figures{
					"fence_refused": suite.AtLeast(1), "violations": suite.AtLeast(1),
					"updates_lost_fenced": suite.AtMost(0), "fence_refused_valid": suite.AtMost(0),
				},
			},
		},
		{
			Name: "fenced-off", Text: "a lock issues fencing tokens, but the data store does not check the tokens: updates are lost",
			Run:    suite.MustLine("--backend redis-fenced --fencing off " + pause),
			Expect: violates(verdicts{checker.DataPlain: checker.Fail, checker.DataFenced: checker.Skipped}, nil),
		},
		{
			Name: "fenced-both", Text: "a holder is paused until its lease is over: data without a fence loses updates, and data with a fence loses no update",
			Run: suite.MustLine("--backend redis-fenced " + pause),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitViolation},
				Verdicts: verdicts{checker.DataPlain: checker.Fail, checker.DataFenced: checker.Pass},
				Figures:  figures{"fence_refused": suite.AtLeast(1), "updates_lost_plain": suite.AtLeast(1), "updates_lost_fenced": suite.AtMost(0)},
			},
		},
	}
}

// onlyBlocks is a lock that comes back to nobody, and never lets two in.
func onlyBlocks() suite.Expectation {
	return violates(verdicts{checker.Liveness: checker.Fail, checker.MutualExclusion: checker.Pass}, nil)
}

func killCells() []suite.Case {
	return []suite.Case{
		{
			Name: "setnx-kill", Text: "a lock has no time to live: a dead holder blocks all other clients",
			Run: suite.MustLine("--backend redis-setnx --nemesis client-kill --time 4s --seed 2"), Expect: onlyBlocks(),
		},
		{
			Name: "setnx-expire-kill", Text: "a holder that dies between SETNX and EXPIRE blocks the other clients forever",
			Run: suite.MustLine("--backend redis-setnx-expire --nemesis client-kill --time 4s --seed 2"), Expect: onlyBlocks(),
		},
		{
			Name: "lua-kill", Text: "a holder dies: its lease runs out, and another client gets the lock within 2 s",
			Run: suite.MustLine("--backend redis-lua --nemesis client-kill --seed 2"),
			Expect: suite.Expectation{
				Exit:    codes{harness.ExitPass},
				Figures: figures{"recovery_max_ns": suite.AtMost(2e9)},
			},
		},
		{
			Name: "flock-kill", Text: "the kernel frees a file lock when its holder dies",
			Run: suite.MustLine("--backend file-flock --nemesis client-kill --time 4s --seed 2"), Expect: passes(),
		},
		{
			Name: "excl-kill", Text: "a lock file remains after its holder has died, and blocks all other clients",
			Run: suite.MustLine("--backend file-excl --nemesis client-kill --time 4s --seed 2"), Expect: fails(checker.Liveness),
		},
	}
}

func pauseCells() []suite.Case {
	foreignRelease := suite.Expectation{
		Exit:     codes{harness.ExitViolation},
		Verdicts: verdicts{checker.Ownership: checker.Fail},
		Classes:  classes{checker.Ownership: checker.Defect},
	}
	return []suite.Case{
		{
			Name: "del-pause", Text: "a client is paused until its lease is over, and then releases the lock with DEL: the DEL does not check the owner and deletes another client's lock",
			Run: suite.MustLine("--backend redis-del --nemesis client-pause --seed 2"), Expect: foreignRelease,
		},
		{
			Name: "get-del-pause", Text: "a client is paused between GET and DEL: the GET finds the client's own key, but the DEL deletes another client's key",
			Run: suite.MustLine("--backend redis-get-del --nemesis client-pause:at=between-get-and-del --seed 2"), Expect: foreignRelease,
		},
		{
			Name: "watchdog-stall", Text: "a critical section hangs, and a watchdog (a thread that renews the lease) keeps the lock: no violation",
			Run: suite.MustLine("--backend redis-watchdog --nemesis client-stall --seed 2"), Expect: passes(),
		},
		{
			Name: "watchdog-pause", Text: "a pause of the client also stops the watchdog that renews its lease: the lease runs out, and two clients believe that they hold the lock",
			Run: suite.MustLine("--backend redis-watchdog --nemesis client-pause --seed 2"),
			Expect: violates(verdicts{checker.LockLinearizability: checker.Pass, checker.Ownership: checker.Pass},
				classes{checker.MutualExclusion: checker.Inherent}),
		},
		{
			Name: "flock-pause", Text: "a paused holder of a file lock keeps the lock: the other clients wait, and no violation occurs",
			Run: suite.MustLine("--backend file-flock --nemesis client-pause --time 5s --seed 2"), Expect: passes(),
		},
		{
			Name: "mutex-workload", Text: "the clients write no data, but lockstorm still finds that two clients believed at the same time that they held the lock",
			Run:    suite.MustLine("--backend redis-lua --workload mutex --nemesis client-pause --time 5s --seed 2"),
			Expect: violates(verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Skipped}, nil),
		},
		{
			Name: "trusting", Text: "clients never check the deadline of their lease, and are paused after they got the lock: two clients believe that they hold the lock",
			Run:    suite.MustLine("--backend redis-lua --nemesis client-pause:at=acquired --discipline trusting --time 5s --seed 2"),
			Expect: fails(checker.MutualExclusion),
		},
	}
}
