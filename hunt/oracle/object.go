package oracle

import "github.com/lockstorm/lockstorm/hunt/sim"

// object is what the lock itself did wrong, where the record leaves no other explanation.
func (o *oracle) object() []Want {
	var out []Want
	must := func(rules []string, grants ...*sim.Grant) {
		out = append(out, Want{Check: object, Rules: rules, Grants: ids(grants...), Any: true, Must: true, Class: []string{defect}})
	}
	o.pairs(func(a, b *sim.Grant) {
		switch {
		case o.twice(a, b):
			must([]string{"double-grant", "revived-lease", "lost-lease", "foreign-release"}, a, b)
		case o.releasedLate(a, b):
			must([]string{"foreign-release", "double-grant", "revived-lease"}, a, b)
		}
	})
	for _, b := range o.truth.Breaches {
		if b.Kind == sim.LiesNotHeld && o.deniedEarly(b.Victim) {
			must([]string{"lost-lease"}, b.Victim)
		}
	}
	for _, g := range o.truth.Grants {
		if o.broken(g.Lock) {
			out = append(out, Want{
				Check: object, Rules: []string{"double-grant", "revived-lease", "lost-lease", "foreign-release"}, Grants: ids(g), Any: true, Class: []string{defect},
			})
		}
	}
	return out
}

// over is the earliest moment at which a grant may have ended by itself.
func (o *oracle) over(g *sim.Grant) int64 {
	end := sim.Forever
	if o.cfg.Leased() {
		end = g.Base - o.cfg.Tolerance
	}
	if o.cfg.Service == sim.Processes && g.Killed >= 0 {
		end = min(end, g.Killed)
	}
	return end
}

// twice reports whether b was granted while a, or what its owner had left of it, was held for
// certain.
func (o *oracle) twice(a, b *sim.Grant) bool {
	if a.Known >= b.Sent {
		return false
	}
	if o.cfg.Model != "reentrant" {
		return (a.Released < 0 || a.Released > b.Known) && o.over(a) > b.Known
	}
	held := 0
	for _, g := range o.truth.Grants {
		if g.Lock != a.Lock || !o.together(a, g) {
			continue
		}
		if g.Known >= 0 && g.Known < b.Sent && o.over(g) > b.Known {
			held++
		}
		if g.Released >= 0 && g.Released <= b.Known {
			held--
		}
	}
	return held > 0
}

// releasedLate reports whether the store removed a although b had been granted after it.
func (o *oracle) releasedLate(a, b *sim.Grant) bool {
	return o.cfg.Model != "reentrant" && a.Settled == "ok" && !a.Retried && a.Known < b.Sent && b.Known < a.Released
}

// deniedEarly reports whether a client was told that it does not hold what nothing can have
// ended.
func (o *oracle) deniedEarly(g *sim.Grant) bool {
	return o.cfg.Model != "reentrant" && g.Known >= 0 && g.Denied >= 0 && g.Denied < o.over(g) && !g.Retried
}

// ownership is what was released by somebody who did not hold it.
func (o *oracle) ownership() []Want {
	var out []Want
	for _, b := range o.truth.Breaches {
		switch b.Kind {
		case sim.ForeignRelease:
			w := Want{Check: ownership, Rules: []string{"foreign-release"}, Grants: ids(b.Grant, b.Victim), Class: []string{defect}}
			w.Must = o.provenForeign(b.Grant, b.Victim)
			w.Blame = o.blame(b.Grant, b.Grant.Back, defect)
			out = append(out, w)
		case sim.ReleaseOfNone:
			out = append(out, Want{Check: ownership, Grants: ids(b.Grant), Any: true, Must: b.Grant.Settled == "ok"})
		}
	}
	for _, g := range o.truth.Grants {
		if o.broken(g.Lock) {
			out = append(out, Want{Check: ownership, Rules: []string{"foreign-release"}, Grants: ids(g), Any: true})
		}
	}
	return out
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
	var out []Want
	first := map[*sim.Grant]bool{}
	o.pairs(func(a, b *sim.Grant) {
		if a.Client == b.Client || first[a] {
			return
		}
		first[a] = true
		if !o.broken(a.Lock) {
			return
		}
		told := lapses(a)
		if a.Lost >= 0 {
			told = min(told, a.Lost)
		}
		inside := b.Known > a.Known && (a.Released < 0 || a.Released > b.Known) && (a.Killed < 0 || a.Killed > b.Known)
		out = append(out, Want{
			Check: notice, Rules: []string{"late-notice"}, Grants: ids(a, b), Any: true,
			Must: inside && told > b.Known+o.cfg.Tolerance && b.Known < b.LeaseAt(b.Known) && a.Known < a.LeaseAt(a.Known) && lastAct(a) > b.Known,
		})
	})
	for _, g := range o.truth.Grants {
		if o.broken(g.Lock) {
			out = append(out, Want{Check: notice, Rules: []string{"late-notice"}, Grants: ids(g), Any: true})
		}
	}
	return out
}

// lastAct is a moment at which the client of a grant was certainly alive under it.
func lastAct(g *sim.Grant) int64 { return max(g.LastUse, g.Released, g.Lost) }
