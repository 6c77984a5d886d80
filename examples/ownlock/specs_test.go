package ownlock_test

import (
	"context"
	"strings"
	"testing"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// catalogue is that of the package, what the tests plant, and the smallest of everything.
func catalogue() *harness.Catalogue {
	cat := ownlock.Catalogue()
	cat.Nemeses.Add(plantedFaults()...)
	cat.Backends.Add(smallBackend())
	cat.Nemeses.Add(smallFault())
	cat.Workloads.Add(smallWorkload())
	cat.Checks.Add(smallCheck())
	return cat
}

// The smallest specs: all that may be left out is left out.

func smallBackend() backends.Spec {
	full := ownlock.Specs()[0]
	return backends.Spec{Name: "small-lock", Doc: "a lock", Topologies: full.Topologies, Ends: full.Ends, Open: full.Open}
}

func smallFault() nemesis.Spec {
	return nemesis.Spec{
		Name: "small-fault", Doc: "a fault", Proven: "It is said.", End: "Nothing happens.",
		Family: history.FamilyStore, Whom: nemesis.OwnTargets, Fault: planted{proof: "nothing was struck"},
	}
}

func smallWorkload() workloads.Spec {
	return workloads.Spec{Name: "small-work", Doc: "a workload", New: func(s workloads.Settings) workloads.Workload {
		return &small{s}
	}}
}

type small struct{ workloads.Settings }

func (w *small) Section(ctx context.Context, c *workloads.Client, t workloads.Turn) (bool, error) {
	return w.Run(ctx, c, t, func(h *workloads.Hold) error { return h.Work(ctx, nil, nil) })
}

func smallCheck() checker.Check {
	return checker.Check{Name: "small-check", Doc: "a question?", Run: func(in *checker.Input) checker.Result {
		return checker.Result{Verdict: checker.Pass, Figures: checker.Figures{"small_grants": int64(len(in.Grants))}}
	}}
}

// Specs without any optional field run.
func TestSmallSpecs(t *testing.T) {
	t.Parallel()
	out := lockstormtest.Safe(t, catalogue(), "--backend small-lock --nemesis small-fault --workload small-work --ttl 700ms "+
		"--time 1s --clients 2 --seed 42")
	if c := out.Results.Checks["small-check"]; c.Required || c.Figures["small_grants"] == 0 {
		t.Errorf("the check: %+v", c)
	}
}

// A wrong one is refused when it is added, with a sentence that says where and what.
func TestWrongSpecs(t *testing.T) {
	for want, add := range map[string]func(*harness.Catalogue){
		`the backend "` + ownlock.Name + `" is defined twice`: func(c *harness.Catalogue) { c.Backends.Add(ownlock.Specs()...) },
		"backend \"small-lock\": the field `Ends` (what ends a grant that is not released) is \"soon\": choose one of": func(c *harness.Catalogue) {
			s := smallBackend()
			s.Ends = "soon"
			c.Backends.Add(s)
		},
		"backend \"small-lock\": the field `Topologies` is empty": func(c *harness.Catalogue) {
			s := smallBackend()
			s.Topologies = nil
			c.Backends.Add(s)
		},
		"nemesis \"small-fault\": the field `Proven` is empty": func(c *harness.Catalogue) {
			s := smallFault()
			s.Proven = ""
			c.Nemeses.Add(s)
		},
		`nemesis "small-fault": every=often is not a length`: func(c *harness.Catalogue) {
			s := smallFault()
			s.Params = nemesis.CommonParams("1s", "often")
			c.Nemeses.Add(s)
		},
		"workload \"small-work\": the field `New` is missing": func(c *harness.Catalogue) {
			s := smallWorkload()
			s.New = nil
			c.Workloads.Add(s)
		},
		"check \"small-check\": the field `Run` is missing": func(c *harness.Catalogue) {
			s := smallCheck()
			s.Run = nil
			c.Checks.Add(s)
		},
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("said %q, want %q", text, want)
				}
			}()
			add(ownlock.Catalogue())
			t.Errorf("nobody refused it: %s", want)
		}()
	}
}
