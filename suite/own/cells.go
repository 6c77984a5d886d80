package own

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
			Name: "lua-pause", Text: "a lease runs out while its holder is paused: the clients overlap, but every answer of the lock is correct",
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
			Name: "fenced-on", Text: "with the fence alone the same pause fails nothing: stale requests are refused",
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
			Name: "fenced-off", Text: "a lock with tokens that nobody checks loses updates like any other",
			Run: suite.MustLine("--backend redis-fenced --fencing off " + pause),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitViolation},
				Verdicts: verdicts{checker.DataPlain: checker.Fail, checker.DataFenced: checker.Skipped},
			},
		},
		{
			Name: "fenced-both", Text: "side by side: the plain register loses updates, the fenced one none",
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
	return suite.Expectation{
		Exit:     codes{harness.ExitViolation},
		Verdicts: verdicts{checker.Liveness: checker.Fail, checker.MutualExclusion: checker.Pass},
	}
}

func killCells() []suite.Case {
	return []suite.Case{
		{
			Name: "setnx-kill", Text: "without a time to live a dead holder blocks all other clients",
			Run: suite.MustLine("--backend redis-setnx --nemesis client-kill --time 4s --seed 2"), Expect: onlyBlocks(),
		},
		{
			Name: "setnx-expire-kill", Text: "a holder that dies between SETNX and EXPIRE blocks the other clients forever",
			Run: suite.MustLine("--backend redis-setnx-expire --nemesis client-kill --time 4s --seed 2"), Expect: onlyBlocks(),
		},
		{
			Name: "lua-kill", Text: "a lease frees the lock of a dead holder in time",
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
			Name: "excl-kill", Text: "a lock file outlives its holder and blocks all other clients",
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
			Name: "del-pause", Text: "a blind DEL after a pause frees another client's lock",
			Run: suite.MustLine("--backend redis-del --nemesis client-pause --seed 2"), Expect: foreignRelease,
		},
		{
			Name: "get-del-pause", Text: "a DEL whose GET was right a moment ago frees it, too",
			Run: suite.MustLine("--backend redis-get-del --nemesis client-pause:at=between-get-and-del --seed 2"), Expect: foreignRelease,
		},
		{
			Name: "watchdog-stall", Text: "a watchdog renews while the section hangs",
			Run: suite.MustLine("--backend redis-watchdog --nemesis client-stall --seed 2"), Expect: passes(),
		},
		{
			Name: "watchdog-pause", Text: "a pause stops the watchdog, too",
			Run: suite.MustLine("--backend redis-watchdog --nemesis client-pause --seed 2"),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitViolation},
				Verdicts: verdicts{checker.LockLinearizability: checker.Pass, checker.Ownership: checker.Pass},
				Classes:  classes{checker.MutualExclusion: checker.Inherent},
			},
		},
		{
			Name: "flock-pause", Text: "a paused holder of a file lock only blocks",
			Run: suite.MustLine("--backend file-flock --nemesis client-pause --time 5s --seed 2"), Expect: passes(),
		},
		{
			Name: "mutex-workload", Text: "without data, the overlap alone is found",
			Run: suite.MustLine("--backend redis-lua --workload mutex --nemesis client-pause --time 5s --seed 2"),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitViolation},
				Verdicts: verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Skipped},
			},
		},
		{
			Name: "trusting", Text: "clients that never look at their deadline overlap wherever they are paused",
			Run:    suite.MustLine("--backend redis-lua --nemesis client-pause:at=acquired --discipline trusting --time 5s --seed 2"),
			Expect: fails(checker.MutualExclusion),
		},
	}
}
