package explore

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/nemesis"
)

var overlap = Target{checker.MutualExclusion, "overlap", checker.Inherent}

// resultsWith has a violation, or none.
func resultsWith(shown bool, at time.Duration) *checker.Results {
	r := &checker.Results{Checks: map[string]checker.Result{checker.MutualExclusion: {Verdict: checker.Pass}}}
	if shown {
		r.Checks[checker.MutualExclusion] = checker.Result{Verdict: checker.Fail, Findings: []checker.Finding{
			{Rule: "overlap", Class: checker.Inherent, Gating: true, From: at.Nanoseconds() - 1000, To: at.Nanoseconds()},
			{Rule: "overlap", Class: checker.Inherent, Gating: true, From: time.Hour.Nanoseconds(), To: 2 * time.Hour.Nanoseconds()},
		}}
	}
	return r
}

// world runs trials without servers: a violation shows as its rule says.
type world struct {
	runs int
	rule func(t *harness.Trial, run int) bool
}

func (w *world) run(_ context.Context, t *harness.Trial, dir string) (*checker.Results, error) {
	w.runs++
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return resultsWith(w.rule(t, w.runs), 2500*time.Millisecond), nil
}

func trial(t *testing.T) (*harness.Catalogue, *harness.Trial) {
	t.Helper()
	cat := harness.New(stores.All()...)
	cfg := harness.Defaults()
	cfg.Backend, cfg.Nemesis, cfg.Seed, cfg.Locks = "none", []string{"client-pause", "client-kill"}, 1, 2
	tr, err := harness.Resolve(cat, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cat, tr
}

func shrunk(t *testing.T, ctx context.Context, runs int, rule func(t *harness.Trial, run int) bool) (*Shrunk, *world, string,
	error,
) {
	t.Helper()
	cat, tr := trial(t)
	w := &world{rule: rule}
	s := &Shrinker{Catalogue: cat, Target: overlap, Runs: runs, Rate: 10, Dir: t.TempDir(), Run: w.run}
	out, err := s.Shrink(ctx, tr, (2500 * time.Millisecond).Nanoseconds())
	return out, w, s.Dir, err
}

// steps are those of a fault.
func steps(t *harness.Trial, fault string) (n int) {
	for _, q := range t.Plan.Requests {
		if q.Fault == fault {
			n += len(q.Steps)
		}
	}
	return n
}

// What is not needed is left out, and what is needed stays: here a pause and three clients.
func TestShrink(t *testing.T) {
	out, w, dir, err := shrunk(t, t.Context(), 1000, func(t *harness.Trial, _ int) bool {
		return steps(t, "client-pause") > 0 && t.Config.Clients >= 3 && t.Config.Time >= 1200*time.Millisecond
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.After.Steps != 1 || out.After.Clients != 3 || out.After.Locks != 1 || out.After.Time > 1600*time.Millisecond ||
		out.Again != 10 || out.Of != 10 || out.Cut != "" || out.Runs != w.runs {
		t.Errorf("%+v after %d runs", out, w.runs)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != "shrunk" || out.Dir != filepath.Join(dir, "shrunk") {
		t.Errorf("%v stay", left)
	}
	b, err := json.Marshal(out)
	if err != nil || len(b) == 0 {
		t.Error(err)
	}
}

// Where nothing is needed, nothing stays.
func TestShrinkToNothing(t *testing.T) {
	out, _, _, err := shrunk(t, t.Context(), 1000, func(*harness.Trial, int) bool { return true })
	if err != nil || out.After != (Size{0, 1, 1, shortest}) {
		t.Errorf("%+v, %v", out, err)
	}
}

// What shows in every second run only cannot be shrunk, and says so.
func TestShrinkOfChance(t *testing.T) {
	_, w, _, err := shrunk(t, t.Context(), 1000, func(_ *harness.Trial, run int) bool { return run%2 == 0 })
	if !errors.Is(err, ErrNotAgain) || w.runs > 12 {
		t.Errorf("%v after %d runs", err, w.runs)
	}
}

// The bound of runs, and an interruption, leave what was found.
func TestShrinkIsCutOff(t *testing.T) {
	always := func(*harness.Trial, int) bool { return true }
	out, w, _, err := shrunk(t, t.Context(), 20, always)
	if err != nil || out.Cut == "" || w.runs != 20 || out.Of != 10 {
		t.Errorf("%+v, %v, %d runs", out, err, w.runs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, _, dir, err := shrunk(t, ctx, 1000, func(_ *harness.Trial, run int) bool {
		if run == 7 {
			cancel()
		}
		return true
	})
	if err != nil || out.Cut == "" {
		t.Errorf("%+v, %v", out, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v stay", left)
	}
}

// The test decides in both directions, and each error is as rare as it is said to be.
func TestTrying(t *testing.T) {
	count := func(pattern ...bool) (n int, taken bool) {
		var tr trying
		for _, shown := range pattern {
			tr.add(shown)
			n++
			if taken, over := tr.decided(); over {
				return n, taken
			}
		}
		return -1, false
	}
	if n, taken := count(true, true, true, true, true); n != 4 || !taken {
		t.Errorf("taken after %d: %v", n, taken)
	}
	if n, taken := count(false, false, false); n != 2 || taken {
		t.Errorf("refused after %d: %v", n, taken)
	}
	if n, taken := count(true, false, true, true, true, true, true, true); n != 8 || !taken {
		t.Errorf("taken after %d: %v", n, taken)
	}
}

// The target is what reports tell first, and may be that of one check.
func TestTargetOf(t *testing.T) {
	r := resultsWith(true, time.Second)
	r.Checks[checker.DataPlain] = checker.Result{
		Verdict:  checker.Fail,
		Findings: []checker.Finding{{Rule: "lost-update", Class: checker.Defect, Gating: true, To: 5}},
	}
	if got, at, ok := TargetOf(r, ""); !ok || got.Check != checker.DataPlain || at != 5 ||
		got.String() != "data-plain (lost-update, defect)" {
		t.Errorf("%v %d", got, at)
	}
	if got, at, ok := TargetOf(r, checker.MutualExclusion); !ok || got != overlap || at != time.Second.Nanoseconds() ||
		!overlap.Shows(r) {
		t.Errorf("%v %d", got, at)
	}
	if _, _, ok := TargetOf(resultsWith(false, 0), ""); ok || overlap.Shows(resultsWith(false, 0)) {
		t.Error("a violation in a run that passed")
	}
}

// What strikes while another fault is active strikes at any time once that is left out; else it follows that to its new place.
func TestKeepFollowsWhile(t *testing.T) {
	three := func(text string) *schedule {
		s := &schedule{}
		s.cfg.Nemesis = []string{"a", "b", text}
		s.plan.Requests = []nemesis.Request{{Spec: "a"}, {Spec: "b"}, {Spec: text, Steps: []nemesis.Step{{While: 2}}}}
		return s
	}
	for text, without := range map[string][2]string{
		"c:while=2": {"c:while=1", "c"}, "c:while=2,at=x": {"c:while=1,at=x", "c:at=x"}, "c:at=x,while=2": {"c:at=x,while=1", "c:at=x"},
		"c:at=x,while=2,for=1s": {"c:at=x,while=1,for=1s", "c:at=x,for=1s"},
	} {
		for left, want := range without {
			s := three(text)
			s.keep(func(i int) bool { return i != left })
			if n := len(s.plan.Requests); n != 2 || s.cfg.Nemesis[1] != want || s.plan.Requests[1].Spec != want ||
				s.plan.Requests[1].Steps[0].While != 1-left {
				t.Errorf("%s without fault %d: %+v", text, left+1, s.plan.Requests)
			}
		}
	}
}
