package hunt

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/oracle"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/plant"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// Case is one history of the hunt.
type Case struct {
	Seed  uint64
	Plant *plant.Plant // nil: a correct service, and a sound record
}

// Outcome is what became of a case.
type Outcome struct {
	Case          Case
	Trace         *sim.Trace
	Struck        bool // the bug found its place, or there is none
	Must          int  // violations that the record shows
	Events        int
	Disagreements []Disagreement
}

// Cases is the case of a seed: every other one is planted, each kind in turn.
func Cases(seed uint64) Case {
	if seed%2 == 0 {
		return Case{Seed: seed}
	}
	plants := Plants()
	return Case{Seed: seed, Plant: &plants[seed/2%uint64(len(plants))]}
}

// Plants are all kinds of wrongs.
func Plants() []plant.Plant { return append(plant.Services(), plant.Records()...) }

// Play simulates a case, has it judged, and compares.
func (c Case) Play() (*Outcome, error) {
	cfg := sim.DrawVaried(c.Seed)
	if c.Plant != nil {
		cfg = sim.Draw(c.Seed) // its bug chooses what it needs
	}
	if c.Plant != nil && c.Plant.Bug != sim.NoBug {
		cfg.Bug = c.Plant.Bug
		if c.Plant.Prepare != nil {
			c.Plant.Prepare(&cfg)
		}
	}
	t := sim.Run(cfg)
	out := &Outcome{Case: c, Trace: t, Struck: true, Events: len(t.History.Events)}
	if c.Plant != nil && c.Plant.Edit != nil {
		out.damage()
		return out, nil
	}
	if cfg.Bug != sim.NoBug {
		out.Struck = len(t.Truth.Breaches) > 0
	}
	r, err := Judge(t.History)
	if err != nil {
		return nil, err
	}
	wants := oracle.Wants(t)
	for _, w := range wants {
		if w.Must {
			out.Must++
		}
	}
	out.Disagreements = Compare(wants, r)
	return out, nil
}

// damage damages the record of a case: whatever it shows then must not be believed.
func (o *Outcome) damage() {
	p := o.Case.Plant
	h := o.Trace.History
	if o.Struck = p.Edit(rand.New(rand.NewPCG(o.Case.Seed, 13)), h); !o.Struck {
		return
	}
	o.Must = 1
	// What is not even a history was noticed, too.
	if r, err := Judge(h); err == nil && !noticed(p, r) {
		o.Disagreements = []Disagreement{{
			Sign: Sign{Sort: Unnoticed, Check: checker.Assumptions, Rule: p.Name},
			Text: "the record was damaged, but the judge did not notice it; verdict: " + string(r.Verdict),
		}}
	}
}

// noticed reports whether a judge has seen that a record is damaged.
func noticed(p *plant.Plant, r *checker.Results) bool {
	a := r.Checks[checker.Assumptions]
	if p.Torn {
		return a.Verdict == checker.Unknown && r.Verdict != checker.Pass
	}
	return len(a.Findings) > 0 && r.Verdict == checker.Unknown
}

// Judge has a history judged by all checks.
func Judge(h *history.History) (*checker.Results, error) {
	in, err := checker.NewInput(h)
	if err != nil {
		return nil, err
	}
	return checker.Judge(in, checks.Default()), nil
}
