package checker_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/checker/internal/object"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// A long history of one lock without a quiet moment is judged by every check, however many
// outcomes are unknown.
func TestOneLock(t *testing.T) {
	for _, percent := range []int{0, 5, 40} {
		in, err := checker.NewInput(oneLock(3000, percent))
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range checker.Judge(in, checks.Default()).Checks {
			if c.Verdict != checker.Pass && c.Verdict != checker.Skipped {
				t.Errorf("%d %% unknown: %s: %s", percent, name, checkertest.Answer(c))
			}
		}
	}
}

// A section with so many requests that they are looked up is judged as short ones are. (In which time, BenchmarkLongSection
// says.)
func TestLongSection(t *testing.T) {
	in, err := checker.NewInput(sectionsOf(6000, 10*64))
	if err != nil {
		t.Fatal(err)
	}
	r := checker.Judge(in, checks.Default())
	for _, name := range []string{checker.Assumptions, checker.MutualExclusion, checker.DataFenced, checker.FencingTokens} {
		if c := r.Checks[name]; c.Verdict != checker.Pass {
			t.Errorf("%s: %s", name, checkertest.Answer(c))
		}
	}
}

// grantEarly changes a history such that somebody is granted the lock just before its holder
// releases it, in one of so many sections; it says how often.
func grantEarly(h *history.History, every int) (n int) {
	release, holder := -1, 0
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.F() == history.FRelease && e.Type() == history.Invoke:
			release = i
		case e.F() == history.FAcquire && e.Type() == history.OK && release >= 0:
			if holder++; holder%every == 0 && e.Client() != h.Events[release].Client() {
				e.Time = h.Events[release].Time - 1
				n++
			}
			release = -1
		}
	}
	return n
}

// Violations in a long history without a quiet moment are found one by one, each reduced to
// the two grants that it is about, whatever else is unknown. (Where the store counts, a release
// and an acquire of unknown outcome explain every one of them.)
func TestOneLockViolated(t *testing.T) {
	for _, model := range []history.Model{{}, {Kind: history.ModelReadWrite}, {Kind: history.ModelReentrant}} {
		for _, tc := range []struct{ every, findings int }{{2000, 0}, {300, object.MaxFindings}} {
			h := oneLock(10_000, map[bool]int{false: 5, true: 0}[model.Counts()])
			planted := grantEarly(h, tc.every)
			in, err := checker.NewInput(h)
			if err != nil {
				t.Fatal(err)
			}
			in.Model = model
			r := judgeLocks(in, 0)
			want := tc.findings
			if want == 0 {
				want = planted
			}
			if r.Verdict != checker.Fail || len(r.Findings) != want || planted < want {
				t.Errorf("%q, %d planted: %s", model.Kind, planted, checkertest.Answer(r))
			}
			for _, f := range r.Findings {
				if f.Rule != "double-grant" || len(f.Grants) != 2 {
					t.Errorf("%q: %s of %v", model.Kind, f.Rule, f.Grants)
				}
			}
		}
	}
}

// A counted lock with unknown outcomes everywhere is judged, too.
func TestOneLockCounted(t *testing.T) {
	h := oneLock(10_000, 5)
	grantEarly(h, 2000)
	in, err := checker.NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	in.Model = history.Model{Kind: history.ModelReentrant}
	if r := judgeLocks(in, 0); r.Verdict != checker.Pass {
		t.Error(checkertest.Answer(r))
	}
}

// What the sweep finds is a finding only where Porcupine confirms it, and what has run out of
// time is unknown.
func TestUnconfirmed(t *testing.T) {
	h := oneLock(200, 0)
	grantEarly(h, 20)
	in, err := checker.NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	in.Limit = 0
	if r := judgeLocks(in, 0); r.Verdict != checker.Unknown || r.Code != checker.CodeTimeout || len(r.Findings) > 0 {
		t.Errorf("without time: %s", checkertest.Answer(r))
	}
	if in, err = checker.NewInput(oneLock(200, 0)); err != nil {
		t.Fatal(err)
	}
	in.Limit = 0
	if r := judgeLocks(in, 0); r.Verdict != checker.Pass {
		t.Errorf("legal, without time: %s", checkertest.Answer(r))
	}
	var proof checker.LockProof
	if err := judgeLocks(in, 0).ProofInto(&proof); err != nil || proof.Replayed < proof.Operations || proof.Operations < 400 {
		t.Errorf("proof %+v, %v", proof, err)
	}
}
