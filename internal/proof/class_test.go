package proof_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// Judge and verifier give an overlap the same class, whenever it begins. HUNT_TWINS is how many records are tried.
func TestTwinsOfClasses(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= uint64(setting.Random(t, "HUNT_TWINS", 60)); seed++ {
		cfg := sim.DrawVaried(seed)
		for name, h := range map[string]*history.History{
			"grid": sim.Grid(seed), "coarse": sim.Coarse(sim.Run(cfg).History, 2*cfg.Tolerance),
		} {
			in, err := checker.NewInput(h)
			if err != nil {
				t.Fatal(err)
			}
			record, judge := proof.New(in.Record), causes.Of(in)
			for _, o := range overlapsOf(in) {
				want, reason, _ := judge.Classify(o)
				class, why := record.ClassAt(o.First, o.Second, o.Span.From)
				if seen[class+" "+why]++; class != string(want) || why != string(reason) {
					t.Errorf("%s %d: grants %s and %s at %d: the verifier says %s (%s), the judge %s (%s)", name, seed, o.First.ID, o.Second.ID,
						o.Span.From, class, why, want, reason)
				}
			}
		}
	}
	t.Log(seen)
}

// overlapsOf are overlaps of all neighbours, at all moments that mean something to one of them, whether they were or not.
func overlapsOf(in *checker.Input) (out []facts.Overlap) {
	for _, lock := range in.Locks {
		granted := in.ByOK(lock)
		for i := 1; i < len(granted); i++ {
			a, b := granted[i-1], granted[i]
			moments := []int64{b.From(), in.Hold(a).To, in.Hold(b).To}
			for _, g := range []*history.Grant{a, b} {
				if d := g.DeadlineAt(b.From()); d.Set {
					moments = append(moments, d.V-in.Run.Tolerance-1, d.V-in.Run.Tolerance, d.V, d.V+2*in.Run.Tolerance)
				}
			}
			for _, at := range moments {
				if at >= b.From() {
					out = append(out, facts.Overlap{First: a, Second: b, Span: history.Interval{From: at, To: at + 1}})
				}
			}
		}
	}
	return out
}
