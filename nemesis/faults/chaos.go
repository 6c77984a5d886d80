package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Names of the parameters of chaos.
const (
	paramEvery = "every"
	paramOnly  = "only"
)

// maxDrawn bounds a plan.
const maxDrawn = 100_000

func chaos() nemesis.Spec {
	return nemesis.Spec{
		Name: "chaos", Doc: "injects random faults one after another, drawn by the seed from those that can work in the run, with " +
			"their defaults",
		Notes:  "`plan.json` and the check `coverage` say what it left out, and why.",
		Proven: "That of each fault.",
		End:    "That of each fault.",
		Family: history.FamilyMixed, Links: nemesis.ToServers | nemesis.ToRegister, Draw: drawChaos,
		Params: []catalog.Param{
			{Name: paramEvery, Default: "2ttl", Doc: "shortest time from the end of one injection to the next"},
			{Name: paramOnly, Doc: "the faults to draw from, joined by + (default: all)"},
		},
	}
}

// drawChaos draws one step after the other. What cannot work is left out, with its reason.
func drawChaos(c *nemesis.Catalogue, v catalog.Values, in nemesis.Input, rnd *rand.Rand) (nemesis.Drawn, error) {
	every, err := v.Length(paramEvery, in.TTL)
	if err != nil {
		return nemesis.Drawn{}, fmt.Errorf("nemesis chaos: %w", err)
	}
	if every <= 0 {
		return nemesis.Drawn{}, errors.New("nemesis chaos: every= must be greater than 0")
	}
	from, without, err := drawable(c, v[paramOnly], in)
	if err != nil {
		return nemesis.Drawn{}, err
	}
	d := nemesis.Drawn{Without: without}
	if in.Duration/every > maxDrawn {
		return d, fmt.Errorf("nemesis chaos: every=%s would inject up to %d faults in a run of %v, but the limit is %d faults: "+
			"choose a longer every=", v[paramEvery], in.Duration/every, in.Duration, maxDrawn)
	}
	for begin := in.FirstStrike(); begin < in.Duration; {
		st, end, err := nemesis.OneStep(from[rnd.IntN(len(from))], in, begin, rnd)
		if err != nil {
			return d, err
		}
		if st == nil { // too long for what is left: something shorter may still fit
			begin += max(every/2, time.Millisecond)
			continue
		}
		d.Steps = append(d.Steps, *st)
		begin = end + every
	}
	if len(d.Steps) == 0 {
		return d, fmt.Errorf("nemesis chaos: no fault fits into a run of %v: choose a longer --time", in.Duration)
	}
	return d, nil
}

// drawable are the faults that can work, and why the others cannot.
func drawable(c *nemesis.Catalogue, only string, in nemesis.Input) ([]nemesis.Spec, map[string]string, error) {
	wanted, err := wantedFaults(c, only)
	if err != nil {
		return nil, nil, err
	}
	var out []nemesis.Spec
	without := map[string]string{}
	for _, s := range c.All() {
		if s.Fault == nil || (wanted != nil && !slices.Contains(wanted, s.Name)) {
			continue
		}
		if why := s.WhyNot(in.Setting); why != "" {
			without[s.Name] = why
			continue
		}
		out = append(out, s)
	}
	if len(out) > 0 {
		return out, without, nil
	}
	var why []string
	for name, reason := range without {
		why = append(why, name+": "+reason)
	}
	slices.Sort(why)
	return nil, without, fmt.Errorf("nemesis chaos: no fault can work in this run (%s)", strings.Join(why, "; "))
}

// wantedFaults are those of `only`; nil stands for all.
func wantedFaults(c *nemesis.Catalogue, only string) ([]string, error) {
	if only == "" {
		return nil, nil
	}
	wanted := strings.Split(only, "+")
	for _, name := range wanted {
		s, err := c.Get(name)
		if err != nil {
			return nil, fmt.Errorf("nemesis chaos: only=%s: %w", only, err)
		}
		if s.Fault == nil {
			return nil, fmt.Errorf("nemesis chaos: only=%s: chaos cannot inject %s: name other faults", only, name)
		}
	}
	return wanted, nil
}
