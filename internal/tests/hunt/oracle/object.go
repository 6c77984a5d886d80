package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// object is what the lock itself did wrong, where the record leaves no other explanation.
func (o *oracle) object() []Want {
	var out []Want
	// Two grants that met may show by either of them alone, which was denied what it had.
	rules := []string{"double-grant", "revived-lease", "lost-lease", "foreign-release"}
	must := func(rules []string, grants ...*sim.Grant) {
		w := Want{Check: object, Rules: rules, Grants: ids(grants...), Any: true, Must: true, Class: []string{defect}}
		if o.cfg.Model == history.ModelReentrant {
			w.Needs = o.idsOf(grants[0].Lock)
		}
		out = append(out, w)
	}
	o.pairs(func(a, b *sim.Grant) {
		switch {
		case o.twice(a, b):
			must(rules, append(o.owners(a), b)...)
		case o.releasedLate(a, b):
			must(rules, a, b)
		}
	})
	for _, b := range o.truth.Breaches {
		if b.Kind == sim.LiesNotHeld && o.deniedEarly(b.Victim) {
			must([]string{"lost-lease"}, b.Victim)
		}
	}
	return append(out, o.ofTouched(Want{Check: object, Rules: rules, Class: []string{defect}})...)
}

// ofTouched is what may be found, of each grant that a breach touched.
func (o *oracle) ofTouched(w Want) []Want {
	return lists.Map(lists.Filter(o.truth.Grants, o.touched), func(g *sim.Grant) Want {
		w.Grants, w.Any = ids(g), true
		return w
	})
}

// over is the earliest moment at which a grant may have ended by itself.
func (o *oracle) over(g *sim.Grant) int64 {
	end := sim.Forever
	if o.cfg.Leased() {
		end = g.Base - o.cfg.Tolerance
	}
	if o.cfg.Service == sim.Connections {
		from, _ := o.disconnected(g)
		return from
	}
	if o.cfg.Service == sim.Processes && g.Killed >= 0 {
		end = min(end, g.Killed)
	}
	return end
}

// twice reports whether b was granted while a, or what its owner had left of it, was held for
// certain. Where the store counts, a renewal is of the owner, and proves nothing of a grant once
// one of its acquires has no known outcome.
func (o *oracle) twice(a, b *sim.Grant) bool {
	if a.Known >= b.Sent {
		return false
	}
	if o.cfg.Model != history.ModelReentrant {
		return (a.Released < 0 || a.Released > b.Known) && o.over(a) > b.Known
	}
	held := 0
	for _, g := range o.truth.Grants {
		if g.Lock != a.Lock || !o.together(a, g) {
			continue
		}
		over := o.over(g)
		if o.cfg.Service == sim.Leases {
			over = min(over, lapses(g, o.cfg.Drift-o.cfg.Tolerance)) // a renewal after that may have been of another grant of the owner
			if o.mayHaveMore(a, b.Known) {
				over = min(over, g.Sent+o.cfg.TTL-o.cfg.Tolerance)
			}
		}
		if g.Known >= 0 && g.Known < b.Sent && over > b.Known {
			held++
		}
		if g.Released < 0 || g.Released > b.Known {
			continue
		}
		if held--; g.Settled != "ok" && g.Settled != "fail" {
			return false // it may have been sent again, and carried out more than once
		}
	}
	return held > 0
}

// mayHaveMore reports whether the owner of a grant had an acquire of unknown outcome before a
// moment.
func (o *oracle) mayHaveMore(a *sim.Grant, before int64) bool {
	return slices.ContainsFunc(o.truth.Grants, func(g *sim.Grant) bool {
		return g.Unknown && g.Asked < before && g.Lock == a.Lock && o.together(a, g)
	})
}

// owners are a grant and, where the store counts, all others of its owner.
func (o *oracle) owners(a *sim.Grant) []*sim.Grant {
	return append([]*sim.Grant{a}, lists.Filter(o.truth.Grants, func(g *sim.Grant) bool {
		return g != a && g.Lock == a.Lock && o.cfg.Model == history.ModelReentrant && o.together(a, g)
	})...)
}

// releasedLate reports whether the store removed a although b had been granted after it.
func (o *oracle) releasedLate(a, b *sim.Grant) bool {
	return o.cfg.Model != history.ModelReentrant && a.Settled == "ok" && !a.Retried && a.Known < b.Sent && b.Known < a.Released
}

// deniedEarly reports whether a client was told that it does not hold what nothing can have
// ended.
func (o *oracle) deniedEarly(g *sim.Grant) bool {
	return o.cfg.Model != history.ModelReentrant && g.Known >= 0 && g.Denied >= 0 && g.Denied < o.over(g) && !g.Retried
}

// ownership is what was released by somebody who did not hold it.
func (o *oracle) ownership() []Want {
	var out []Want
	for _, b := range o.truth.Breaches {
		switch b.Kind {
		case sim.ForeignRelease:
			w := Want{Check: ownership, Rules: []string{"foreign-release"}, Grants: ids(b.Grant, b.Victim), Class: []string{defect}}
			w.Must = o.provenForeign(b.Grant, b.Victim)
			if o.severalVictims(b.Victim) {
				w.Grants, w.Any = ids(b.Grant), true
			}
			w.Blame = o.blame(b.Grant, b.Grant.Back, defect)
			out = append(out, w)
		case sim.ReleaseOfNone:
			out = append(out, Want{
				Check: ownership, Rules: []string{"release-of-none", "foreign-release"}, Grants: ids(b.Grant),
				Any: true, Must: b.Grant.Settled == "ok" && !o.mayHaveAnother(b.Grant),
			})
		}
	}
	return append(out, o.ofTouched(Want{Check: ownership, Rules: []string{"foreign-release"}})...)
}

// mayHaveAnother reports whether the owner of a refused attempt may have held the lock by another
// one when the store carried its release out: the record cannot tell then what was removed.
func (o *oracle) mayHaveAnother(g *sim.Grant) bool {
	return slices.ContainsFunc(o.truth.Grants, func(h *sim.Grant) bool {
		same := h != g && h.Lock == g.Lock && h.Client == g.Client && h.Owner == g.Owner
		gone := h.Refused >= 0 || (h.Known >= 0 && h.Settled == "ok" && h.Back < g.Released)
		return same && !gone && h.Asked <= g.Back
	})
}

// severalVictims reports whether a record may not tell whose a grant was that a release took: where
// the store counts any of its owner, and any reader.
func (o *oracle) severalVictims(g *sim.Grant) bool {
	return o.cfg.Model == history.ModelReentrant || g.Mode == history.ModeShared
}

// provenForeign reports whether the record leaves no doubt that the release took what was
// another one's.
func (o *oracle) provenForeign(by, victim *sim.Grant) bool {
	certain := by.Known >= 0 && by.Settled == "ok" && !by.Retried && max(by.Base, by.Unsure)+2*o.cfg.Tolerance < by.Released
	return certain && victim.Known >= 0 && victim.Known < by.Released && by.Known <= victim.Sent &&
		(victim.Released < 0 || victim.Released > by.Back) && by.Back < o.over(victim)
}

// notices are the losses of which a holder was told too late.
func (o *oracle) notices() []Want {
	if !o.cfg.Leased() {
		return nil
	}
	if o.cfg.Discipline == history.Told {
		return o.signals()
	}
	var out []Want
	first := map[*sim.Grant]bool{}
	o.pairs(func(a, b *sim.Grant) {
		if a.Client == b.Client || first[a] {
			return
		}
		first[a] = true
		told := min(lapses(a, 0), earliest(a.Lost))
		if !o.broken(a.Lock) && a.Ended >= told-o.cfg.Tolerance {
			return // the service kept it for as long as its client could believe in it
		}
		inside := b.Known > a.Known && (a.Released < 0 || a.Released > b.Known) && (a.Killed < 0 || a.Killed > b.Known)
		out = append(out, Want{
			Check: notice, Rules: []string{"late-notice"}, Grants: ids(a, b), Any: true,
			Must: o.broken(a.Lock) && inside && told > b.Known+o.cfg.Tolerance && o.inTime(b) && o.inTime(a) && lastAct(a) > b.Known,
		})
	})
	return append(out, o.ofTouched(Want{Check: notice, Rules: []string{"late-notice"}})...)
}

// inTime reports whether the client of a grant learned of it while it was certainly in force.
func (o *oracle) inTime(g *sim.Grant) bool { return g.Known < g.LeaseAt(g.Known)-o.cfg.Tolerance }

// lastAct is a moment at which the client of a grant was certainly alive under it.
func lastAct(g *sim.Grant) int64 { return max(g.LastUse, g.Released, g.Lost) }
