package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// tokens are the grants whose token was given before, or is lower than one that was known.
func (o *oracle) tokens() []Want {
	if !o.cfg.Tokens {
		return nil
	}
	var out []Want
	for _, grants := range o.acked() {
		for _, g := range grants {
			for _, h := range grants {
				twin := h != g && h.Token == g.Token && !o.together(g, h) && h.Sent <= g.Sent
				readers := h.Mode == history.ModeShared && g.Mode == history.ModeShared && o.together(g, h) // in any order
				back := h.Known < g.Sent && h.Token > g.Token && !readers
				if twin || back {
					out = append(out, Want{
						Check: tokens, Rules: []string{"duplicate", "regress"}, Grants: ids(g), Any: true, Must: true, Class: []string{defect},
					})
				}
			}
		}
	}
	return out
}

// fence is what a fenced register accepted or refused against its rules.
func (o *oracle) fence() []Want {
	var out []Want
	for _, a := range o.truth.Answers {
		if a.Kind != sim.Refused {
			out = append(out, Want{
				Check: "data-fenced", Rules: []string{a.Kind}, Grants: ids(a.Grant), Any: true, Must: true,
				Class: []string{noClass},
			})
			continue
		}
		if w := o.refused(a); w != nil {
			out = append(out, *w)
		}
	}
	for _, b := range o.truth.Breaches {
		switch b.Kind {
		case sim.DropsWrite:
			out = append(out, o.dropped(b)...)
		case sim.LiesAck:
			out = append(out, Want{
				Check: "assumptions", Rules: []string{"contradiction"}, Grants: ids(b.Victim), Any: true,
				Must: o.wasTold(b.Victim),
			})
			for _, reg := range []string{sim.Plain, sim.Fenced} {
				out = append(out, Want{Check: "data-" + reg, Any: true, Grants: ids(b.Victim)})
			}
		}
	}
	return out
}

// refused is the refusal of the newest grant while its lease ran.
func (o *oracle) refused(a *sim.Answer) *Want {
	g := a.Grant
	if g.Known < 0 || a.At >= o.over(g) {
		return nil
	}
	for _, h := range o.acked()[g.Lock] {
		if h != g && h.Sent <= a.At && h.Known >= g.Sent && h.Token > g.Token {
			return nil
		}
	}
	return &Want{Check: tokens, Rules: []string{"refused-valid"}, Grants: ids(g), Any: true, Must: true, Class: []string{defect}}
}

// dropped is a write that a register logged and forgot: what it serves later contradicts its
// own log.
func (o *oracle) dropped(b sim.Breach) []Want {
	if o.cfg.Unlogged {
		return nil // there is no log that it could contradict: see unlogged
	}
	var out []Want
	for _, reg := range []string{sim.Plain, sim.Fenced} {
		seen := false
		for _, g := range o.truth.Grants {
			for _, u := range g.Used[reg] {
				seen = seen || (g.Lock == b.Victim.Lock && u.F == "read" && u.Applied > b.At && !o.writtenBetween(b, u.Applied))
			}
		}
		must := seen && b.Register == reg
		out = append(out, Want{Check: "data-" + reg, Rules: []string{"log-mismatch"}, Any: true, Must: must, Class: []string{noClass}})
	}
	return out
}

// writtenBetween reports whether the register that forgot a write took another one before a
// moment: nobody can see then that it forgot.
func (o *oracle) writtenBetween(b sim.Breach, until int64) bool {
	return slices.ContainsFunc(o.truth.Writes, func(w *sim.Write) bool {
		return w.Register == b.Register && w.Lock == b.Victim.Lock && w.At > b.At && w.At <= until
	})
}

// wasTold reports whether the client of a grant has an acknowledged write that no register
// took.
func (o *oracle) wasTold(g *sim.Grant) bool {
	for _, uses := range g.Used {
		for _, u := range uses {
			if u.F == "write" && u.Acked && u.Applied < 0 {
				return true
			}
		}
	}
	return false
}
