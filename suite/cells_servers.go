package suite

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

// ofClass is a violation whose overlaps are all of one class.
func ofClass(class checker.Class) Expectation {
	return Expectation{Exit: codes{harness.ExitViolation}, Classes: classes{checker.MutualExclusion: class}}
}

func serverCells() []Case {
	return []Case{
		{
			Name: "restart", Text: "a server without persistence forgets the lock: a defect, also for the lock object",
			Run: MustLine("--backend redis-lua --nemesis server-restart --ttl 3s --topology redis-single --seed 2"),
			Expect: Expectation{
				Exit:     codes{harness.ExitViolation},
				Verdicts: verdicts{checker.MutualExclusion: checker.Fail, checker.LockLinearizability: checker.Fail},
				Classes:  classes{checker.MutualExclusion: checker.Defect},
			},
		},
		{
			Name: "restart-aof", Text: "a server that persists every write remembers it",
			Run: MustLine("--backend redis-lua --nemesis server-restart --ttl 3s --topology redis-single-aof --seed 2"), Expect: passes(),
		},
		{
			Name: "failover-long-lease", Text: "a lease that outlives a slow fail-over is lost by it",
			// Whether another client is granted the lock before the old holder asks depends on the moment.
			Run:    MustLine("--backend redis-sentinel --nemesis failover-kill --ttl 5s --time 15s --seed 1"),
			Expect: Expectation{Exit: codes{harness.ExitViolation}, Classes: classes{checker.LockLinearizability: checker.Defect}},
		},
		{
			Name: "server-pause", Text: "a server that stands still for a while breaks nothing",
			Run: MustLine("--backend redis-lua --nemesis server-pause --time 6s --seed 2"), Expect: passes(),
		},
		{
			Name: "hit-nobody", Text: "a fault that never finds its moment leaves the run inconclusive",
			Run: MustLine("--backend redis-lua --clients 1 --nemesis client-kill:at=waiting --time 3s --seed 2"),
			Expect: Expectation{
				Exit:     codes{harness.ExitUnknown},
				Verdicts: verdicts{checker.Coverage: checker.Unknown},
			},
		},
		{
			Name: "many", Text: "twenty clients and four locks",
			Run: MustLine("--backend redis-lua --nemesis none --clients 20 --locks 4 --time 2s --seed 2"), Expect: passes(),
		},
	}
}

// combinedCells have faults that meet on the same server or client.
func combinedCells() []Case {
	const aof = "--backend redis-lua --topology redis-single-aof --time 4s --seed 1 "
	return []Case{
		{
			Name: "two-faults", Text: "deaths of clients and pauses of the server in one plan",
			Run: MustLine("--backend redis-lua --nemesis client-kill --nemesis server-pause --time 6s --seed 2"), Expect: passes(),
		},
		{
			Name: "two-server-faults", Text: "restarts that meet restarts of the same server",
			Run:    MustLine(aof + "--nemesis server-restart:at=random,every=200ms --nemesis server-restart:at=random,every=230ms"),
			Expect: passes(),
		},
		{
			Name: "server-pause-restart", Text: "restarts of a server that is paused",
			Run:    MustLine(aof + "--nemesis server-pause:at=random,every=300ms,for=100ms --nemesis server-restart:at=random,every=170ms"),
			Expect: passes(),
		},
		{
			Name: "client-pause-kill", Text: "kills of clients that are paused",
			Run:    MustLine("--backend file-flock --nemesis client-pause:at=random,every=500ms,for=450ms --nemesis client-kill:at=random,every=150ms --time 3s --seed 1"),
			Expect: passes(),
		},
		{
			Name: "kill-while-server-paused", Text: "kills of clients whose server is paused",
			Run:    MustLine("--backend redis-lua --nemesis server-pause:at=random,every=1.6ttl --nemesis client-kill:at=random,every=0.7ttl --time 6s --seed 1"),
			Expect: passes(),
		},
	}
}

func providerCells() []Case {
	return []Case{
		{
			Name: "embedded-pause", Text: "the embedded server shows the overlap as a real one does",
			Run:    MustLine("--backend redis-lua --nemesis client-pause --provider embedded --time 5s --seed 2"),
			Expect: ofClass(checker.Inherent),
		},
		{
			Name: "embedded-restart", Text: "the embedded server forgets the lock as a real one does",
			Run:    MustLine("--backend redis-lua --nemesis server-restart --ttl 3s --provider embedded --time 6s --seed 2"),
			Expect: ofClass(checker.Defect),
		},
	}
}

// controlSeeds is how often each control is run.
const controlSeeds = 20

// Controls show that the harness itself is right, with the seeds 1 to 20 each: no lock at
// all must fail, a correct lock without faults must pass.
func Controls() []Case {
	var cases []Case
	for seed := 1; seed <= controlSeeds; seed++ {
		for _, c := range []struct {
			name, text string
			expect     Expectation
		}{
			{"none", "no lock at all fails", Expectation{Exit: codes{harness.ExitViolation}}},
			{"file-flock", "a lock of the kernel passes", passes()},
			{"redis-lua", "a correct lock of a server passes", passes()},
		} {
			cases = append(cases, Case{
				Name: fmt.Sprintf("control-%s-%d", c.name, seed), Text: c.text,
				Run: MustLine(fmt.Sprintf("--backend %s --nemesis none --time 1s --seed %d", c.name, seed)), Expect: c.expect,
			})
		}
	}
	return cases
}
