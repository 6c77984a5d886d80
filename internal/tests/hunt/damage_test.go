package hunt

import (
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/shrink"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// damaged shrinks the sound record as long as its damage would not be noticed, and damages
// what is left.
func (f *Fixture) damaged(c Case) (*Fixture, error) {
	hurt := func(h *history.History) (*history.History, bool) {
		bad := &history.History{Events: slices.Clone(h.Events), Sources: h.Sources}
		return bad, c.Plant.Edit(rand.New(rand.NewPCG(c.Seed, 13)), bad)
	}
	sound := shrink.Shrink(sim.Run(sim.Draw(c.Seed)).History, shrink.Stays{}, func(h *history.History) bool {
		bad, done := hurt(h)
		if !done {
			return false
		}
		before, err := Judge(h)
		if err != nil || len(before.Checks[checker.Assumptions].Findings) > 0 {
			return false
		}
		r, err := Judge(bad)
		return err == nil && !noticed(c.Plant, r)
	})
	f.History, _ = hurt(sound)
	return f, nil
}

// rulesOf are the rules that results have findings of, by check.
func rulesOf(r *checker.Results) map[string]bool {
	out := map[string]bool{}
	for name, c := range r.Checks {
		for _, f := range c.Findings {
			out[name+" "+ruleOf(name, f)] = true
		}
		if c.Verdict == checker.Unknown && doubtless[c.Code] {
			out[name+" "+string(c.Code)] = true
		}
	}
	return out
}
