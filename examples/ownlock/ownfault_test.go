package ownlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/suite"
)

// The fault breaks the lock, is named as the cause, and the old file comes back.
func TestStaleFile(t *testing.T) {
	t.Parallel()
	out := lockstormtest.Violates(t, ownlock.Catalogue(), "--backend own-lock --nemesis stale-file"+settings,
		checker.MutualExclusion, checker.Defect)
	for _, f := range out.Results.Checks[checker.MutualExclusion].Findings {
		if !strings.HasPrefix(f.Cause, "fault #") || !strings.Contains(f.Cause, "stale-file") || f.Fault == 0 {
			t.Errorf("another cause: %s", f.Cause)
		}
	}
	for _, f := range out.Record.Faults {
		if f.HealEnd == nil || f.HealEnd.Message() != "old files restored: 1" {
			t.Errorf("how it was healed: %+v", f.HealEnd)
		}
	}
}

// Two faults with a bug each, which must never pass for faults that struck.
func plantedFaults() []nemesis.Spec {
	spec := func(name string, f nemesis.Fault) nemesis.Spec {
		return nemesis.Spec{
			Name: name, Doc: "a fault with a bug", Proven: "It is not.", End: "It fails.", Family: history.FamilyStore,
			Whom: nemesis.OwnTargets, Fault: f,
		}
	}
	return []nemesis.Spec{
		spec("fault-unproven", planted{}),
		spec("fault-unhealed", planted{proof: "it struck", heal: errors.New("the old file is gone")}),
	}
}

// planted strikes nothing.
type planted struct {
	proof string
	heal  error
}

func (planted) Available(nemesis.Setting) error { return nil }

func (p planted) Inject(context.Context, nemesis.World, nemesis.Target) (nemesis.Effect, error) {
	return nemesis.Effect{Proof: p.proof, Heal: func(context.Context) (string, error) { return "", p.heal }}, nil
}

// A fault that proves nothing has hit nobody: the run is inconclusive, and says why.
func TestAFaultWithoutProof(t *testing.T) {
	t.Parallel()
	out := lockstormtest.Run(t, catalogue(), "--backend own-lock --nemesis fault-unproven"+settings, suite.Expectation{
		Exit: []int{harness.ExitUnknown}, Verdicts: map[string]checker.Verdict{checker.Coverage: checker.Unknown},
	})
	for _, f := range out.Record.Faults {
		if f.Effective() || !strings.Contains(f.Effect.Message(), "returned no proof") {
			t.Errorf("the fault: %+v", f.Effect)
		}
	}
}

// A fault that is not healed ends the run: what the lock did after it proves nothing.
func TestAFaultThatIsNotHealed(t *testing.T) {
	t.Parallel()
	out := lockstormtest.Run(t, catalogue(), "--backend own-lock --nemesis fault-unhealed"+settings,
		suite.Expectation{Exit: []int{harness.ExitUnknown}})
	if out.Trouble == nil || !strings.Contains(out.Trouble.Error(), "lockstorm could not undo the fault fault-unhealed: the old "+
		"file is gone") {
		t.Errorf("trouble: %v", out.Trouble)
	}
}
