package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

// Chaos is the name of the request that draws from all faults.
const Chaos = "chaos"

func chaosSpec() Spec {
	return Spec{
		Name: Chaos, Doc: "one fault after the other, drawn by the seed from all that can work here, each with its defaults",
		Proven: "Each fault as it does alone. What cannot work is left out, with its reason in plan.json and in coverage.",
		Family: history.FamilyMixed, Links: ToServers | ToRegister,
		Params: []catalog.Param{
			{Name: "every", Default: "2ttl", Doc: "from the end of one injection to the next, at least"},
			{Name: "only", Doc: "faults to draw from, joined by + (default: all)"},
		},
	}
}

// planChaos draws one step after the other. What cannot work is left out, with its reason.
func planChaos(c *Catalogue, v catalog.Values, in Input, rnd *rand.Rand) ([]Step, map[string]string, error) {
	every, err := v.Length("every", in.TTL)
	if err != nil {
		return nil, nil, err
	}
	if every <= 0 {
		return nil, nil, errors.New("nemesis chaos: every must be longer than 0")
	}
	drawn, without, err := chaosFaults(c, v["only"], in)
	if err != nil {
		return nil, nil, err
	}
	var steps []Step
	begin := firstStrike(in)
	for begin < in.Duration {
		pick := drawn[rnd.IntN(len(drawn))]
		st, err := chaosStep(pick, in, begin, rnd)
		if err != nil {
			return nil, nil, err
		}
		if st == nil { // too long for what is left: something shorter may still fit
			begin += every / 2
			continue
		}
		steps = append(steps, *st)
		begin += every + time.Duration(st.For) + pick.takes(in.TTL)
	}
	if len(steps) == 0 {
		return nil, without, fmt.Errorf("nemesis chaos: no fault fits into a run of %v", in.Duration)
	}
	return steps, without, nil
}

// chaosStep is one injection of a fault with its defaults; nil where it is too long.
func chaosStep(s Spec, in Input, begin time.Duration, rnd *rand.Rand) (*Step, error) {
	defaults, err := catalog.Parse("nemesis "+s.Name, "", s.Params)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(s, defaults, in)
	if err != nil || l.last < begin {
		return nil, err
	}
	st := l.step(rnd.IntN(4), begin, rnd) // as one of its first few steps would
	st.Fault = s.Name
	return &st, nil
}

// chaosFaults are the faults that can work, and why the others cannot.
func chaosFaults(c *Catalogue, only string, in Input) ([]Spec, map[string]string, error) {
	var wanted []string
	if only != "" {
		wanted = strings.Split(only, "+")
	}
	for _, name := range wanted {
		if _, err := c.Get(name); err != nil {
			return nil, nil, fmt.Errorf("nemesis chaos: only=%s: %w", only, err)
		}
	}
	var out []Spec
	without := map[string]string{}
	for _, s := range c.All() {
		if s.Fault == nil || (wanted != nil && !slices.Contains(wanted, s.Name)) {
			continue
		}
		if why := whyNot(s.Fault, in.Setting); why != "" {
			without[s.Name] = why
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		var why []string
		for name, reason := range without {
			why = append(why, name+": "+reason)
		}
		slices.Sort(why)
		return nil, without, fmt.Errorf("nemesis chaos: no fault can work here (%s)", strings.Join(why, "; "))
	}
	return out, without, nil
}
