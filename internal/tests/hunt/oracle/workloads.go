package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

const ms = int64(1_000_000)

// order is who was overtaken in a queue that promises an order: by how many who asked 100 ms after it, or a second
// after it where it was its client's first wait. Where the host stood still, more may be excused.
func (o *oracle) order() []Want {
	if !o.cfg.Fair {
		return nil
	}
	var out []Want
	first := map[string]bool{}
	grants := slices.Clone(o.truth.Grants)
	slices.SortStableFunc(grants, func(a, b *sim.Grant) int { return int(a.Asked - b.Asked) })
	for _, g := range grants {
		if g.Known < 0 {
			continue
		}
		place := g.Asked + 100*ms
		if !first[g.Client] {
			first[g.Client], place = true, g.Asked+1000*ms
		}
		n := 0
		for _, h := range grants {
			if h.Known >= 0 && h.Asked > place && h.Known < g.Known && h.Client != g.Client {
				n++
			}
		}
		if n > 0 {
			out = append(out, Want{
				Check: "fairness", Rules: []string{"overtaken"}, Grants: ids(g), Must: len(o.truth.Held) == 0 && len(o.truth.Faults) == 0 &&
					!o.cfg.Feigned,
			})
		}
	}
	return out
}

// nested is a wait for a lock inside another one.
type nested struct {
	has, wants *sim.Grant
	from, to   int64
	sure       bool // the end of the belief in the outer one is
}

// crossed are the pairs of clients that waited for each other.
func (o *oracle) crossed() []Want {
	var waits []nested
	for _, g := range o.truth.Grants {
		for _, h := range o.truth.Grants {
			if b := o.belief(h); h.Client == g.Client && h.Lock != g.Lock && h.Known >= 0 && !g.Tries && b.from <= g.Asked {
				to := g.Over
				if g.Killed >= 0 && to < 0 {
					to = g.Killed
				}
				if to < 0 {
					to = o.truth.Over
				}
				if n := (nested{h, g, g.Asked, min(to, b.lenient), to <= b.strict}); n.from < n.to {
					waits = append(waits, n)
				}
			}
		}
	}
	var out []Want
	for i, a := range waits {
		for _, b := range waits[i+1:] {
			crossed := a.wants.Lock == b.has.Lock && b.wants.Lock == a.has.Lock && a.wants.Client != b.wants.Client
			if both := min(a.to, b.to) - max(a.from, b.from); crossed && both > 0 {
				out = append(out, Want{
					Check: "deadlock", Rules: []string{"mutual-wait"}, Grants: ids(a.wants, b.wants), Must: a.sure && b.sure,
					True: func(_ []string, from, to int64) bool { return to-from <= both+o.slack() },
				})
			}
		}
	}
	return out
}

// tries are those that were answered too late, but for what held their clients up.
func (o *oracle) tries() []Want {
	if o.cfg.Workload != sim.Try {
		return nil
	}
	var out []Want
	for _, g := range o.truth.Grants {
		over := g.Over
		if over < 0 {
			over = g.Killed
		}
		if over < 0 || !g.Tries {
			continue // it was open when the run was stopped
		}
		took, held := over-g.Asked, int64(0)
		if g.Over < 0 {
			held = o.slack() // from the request of its kill on, it may be held up
		}
		for _, h := range o.truth.Held {
			if h.Client == g.Client {
				held += max(0, min(h.To, over)-max(h.From, g.Asked)+o.slack())
			}
		}
		delayed := slices.ContainsFunc(o.truth.Faults, func(f *sim.Fault) bool { return f.Delays && hurts(f, g.Client) })
		if took > o.cfg.Bound+o.cfg.Tolerance {
			out = append(out, Want{
				Check: "bounded", Rules: []string{"late-try"}, Grants: ids(g), Must: took-held > o.cfg.Bound+o.cfg.Tolerance && !delayed,
			})
		}
	}
	return out
}

// jobs are the periods whose job was done more than once.
func (o *oracle) jobs() []Want {
	if o.cfg.Workload != sim.Job {
		return nil
	}
	var out []Want
	twice := int64(0)
	for _, done := range o.truth.Jobs {
		if len(done) > 1 {
			twice++
			out = append(out, Want{Check: "once", Rules: []string{"done-twice"}, Grants: ids(done...), Must: true})
		}
	}
	if len(o.truth.Jobs) > 0 {
		out = append(out, Want{Check: "once", Figure: "jobs_twice", Value: twice})
	}
	return out
}

// wires is what hand-offs cost.
func (o *oracle) wires() []Want {
	if !o.cfg.Wires {
		return nil
	}
	var grants, requests, answers int64
	quiet := o.cfg.Work
	for _, g := range o.truth.Grants {
		if g.Over < 0 || g.Asked < ms || g.Over > quiet {
			continue
		}
		requests, answers = requests+g.Wire.Requests, answers+g.Wire.Answers
		if g.Known >= 0 {
			grants++
		}
	}
	if grants == 0 {
		return []Want{{Check: "cost", Verdicts: []string{"unknown"}}}
	}
	return []Want{
		{Check: "cost", Verdicts: []string{"pass"}},
		{Check: "cost", Figure: "handoffs", Value: grants},
		{Check: "cost", Figure: "requests_per_100_handoffs", Value: requests * 100 / grants},
		{Check: "cost", Figure: "answers_per_100_handoffs", Value: answers * 100 / grants},
	}
}

// checkOf is the check that judges a register.
func checkOf(register string) string {
	if register == sim.Ledger || register == sim.Pieces {
		return "stock"
	}
	return "data-" + register
}

// stock is a stock whose last look shows not what was acknowledged: the changes that were lost, or else that look.
func (o *oracle) stock() []Want {
	if o.cfg.Workload != sim.Stock {
		return nil
	}
	var out []Want
	for _, lock := range o.locks() {
		var last *sim.Use
		var by *sim.Grant
		var writes []*sim.Use
		for _, g := range o.truth.Grants {
			if g.Lock != lock {
				continue
			}
			for _, u := range g.Used[sim.Pieces] {
				switch {
				case u.F == history.FRead && u.Outcome == history.OK && (last == nil || u.Invoked > last.Invoked):
					last, by = u, g
				case u.F == history.FWrite && u.Outcome != history.Fail:
					writes = append(writes, u)
				}
			}
		}
		if last == nil || !isOff(last, writes) {
			continue
		}
		if lost := o.pieces[lock]; len(lost) > 0 {
			out = append(out, lost...)
			continue
		}
		out = append(out, Want{Check: "stock", Rules: []string{"stock-off"}, Grants: ids(by), Must: true, Class: []string{noClass}})
	}
	return out
}

// isOff reports whether the last look at a stock is for certain not the sum of its changes.
func isOff(last *sim.Use, writes []*sim.Use) bool {
	sum := int64(0)
	for _, u := range writes {
		switch {
		case u.Outcome != history.OK || (u.Returned >= last.Invoked && u.Invoked <= last.Returned):
			return false
		case u.Invoked < last.Invoked:
			sum += u.New - u.Base
		}
	}
	return sum != last.Base
}

// unlogged are the updates that were lost of a resource that keeps no log: where two that were acknowledged
// replaced one value that nobody wrote again, both are named. Whatever else was lost shows by what was read later, or
// not at all.
func (o *oracle) unlogged() []Want {
	type place struct {
		lock, register string
		base           int64
	}
	by, written := map[place][]*sim.Use{}, map[place]int{}
	whose := map[*sim.Use]*sim.Grant{}
	for _, g := range o.truth.Grants {
		for register, uses := range g.Used {
			read := int64(-1)
			for _, u := range uses {
				switch {
				case u.F == history.FRead && u.Outcome == history.OK:
					read = u.Base
				case u.F == history.FWrite && u.Outcome != history.Fail:
					written[place{g.Lock, register, u.New}]++
					if u.Outcome == history.OK && read == u.Base {
						at := place{g.Lock, register, u.Base}
						by[at], whose[u] = append(by[at], u), g
					}
				}
			}
		}
	}
	var out []Want
	for at, uses := range by {
		n := written[at]
		if at.base == 0 {
			n++
		}
		if len(uses) < 2 || n > 1 {
			continue
		}
		slices.SortStableFunc(uses, func(a, b *sim.Use) int { return int(a.Returned - b.Returned) })
		for i := range uses[1:] {
			if a, b := whose[uses[i]], whose[uses[i+1]]; a != b {
				out = append(out, Want{Check: checkOf(at.register), Rules: []string{"lost-update"}, Grants: ids(a, b), Must: true})
			}
		}
	}
	if len(o.unseen()) > 0 ||
		slices.ContainsFunc(o.truth.Breaches, func(b sim.Breach) bool { return b.Kind == sim.DropsWrite }) {
		out = append(out, Want{Check: "data-" + sim.Plain, Rules: []string{"lost-update"}, Any: true})
	}
	return out
}
