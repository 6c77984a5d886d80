package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// lasting is what became of the acknowledged updates of each register: the last value is built upon some of them, and the
// others are lost for good. Of a register without a log a judge can say no more than from how many to how many.
//
// A log that is empty is none.
//
//nolint:gocyclo // one pass over the registers
func (o *oracle) lasting() (out []Want) {
	all := o.unseen()
	for _, register := range []string{sim.Plain, sim.Fenced, sim.Ledger} { // the losses of pieces show only where the stock is off
		if !slices.ContainsFunc(o.truth.Grants, func(g *sim.Grant) bool { return len(g.Used[register]) > 0 }) {
			continue
		}
		lasts, logged, unsure := map[*sim.Use]bool{}, false, false
		for key, w := range o.truth.Last {
			unsure = unsure || (key[1] == register && w != nil && !w.Use.Acked) // perhaps nobody has seen it
			logged = !o.cfg.Unlogged && (logged || key[1] == register)          // else it has nothing to log
			for ; w != nil && key[1] == register; w = w.Parent {
				lasts[w.Use] = true
			}
		}
		var lost, back, hidden int64
		unseen, unknown := all[register], o.unknown(register)
		for _, g := range o.truth.Grants {
			for _, u := range g.Used[register] {
				switch {
				case u.F != history.FWrite || !u.Acked:
				case !lasts[u]:
					lost++
					if unsure || unknown[place{g.Lock, u.Base, u.New}] {
						hidden++
					}
				case unseen[u]:
					back++
				}
			}
		}
		name := func(what string) string {
			if register == sim.Ledger {
				return "ledger_" + what
			}
			return "updates_" + what + "_" + register
		}
		want := Want{Check: checkOf(register), Figure: name("lost"), Value: lost}
		if !logged {
			want.Most, want.Hidden = name("lost_max"), hidden
			out = append(out, want)
			continue
		}
		out = append(out, want, Want{Check: want.Check, Figure: name("overwritten"), Value: int64(len(unseen))},
			Want{Check: want.Check, Figure: name("brought_back"), Value: back})
	}
	return out
}

// place is what a write changed.
type place struct {
	lock      string
	base, new int64
}

// unknown are the changes of a register of which one was asked for and never answered: it may stand for one that was
// acknowledged, and nobody can tell.
func (o *oracle) unknown(register string) map[place]bool {
	out := map[place]bool{}
	for _, g := range o.truth.Grants {
		for _, u := range g.Used[register] {
			if u.F == history.FWrite && !u.Acked && u.Outcome != history.Fail {
				out[place{g.Lock, u.Base, u.New}] = true
			}
		}
	}
	return out
}

// unseen are the acknowledged updates of each register that another grant overwrote without having read them.
func (o *oracle) unseen() map[string]map[*sim.Use]bool {
	out, before := map[string]map[*sim.Use]bool{}, map[[2]string][]*sim.Write{}
	for _, w := range o.truth.Writes {
		key := [2]string{w.Lock, w.Register}
		for _, v := range before[key][w.Since:] {
			if v.Grant != w.Grant && v.Use.Acked {
				if out[w.Register] == nil {
					out[w.Register] = map[*sim.Use]bool{}
				}
				out[w.Register][v.Use] = true
			}
		}
		before[key] = append(before[key], w)
	}
	return out
}
