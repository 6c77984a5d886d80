package oracle

import "github.com/lockstorm/lockstorm/hunt/sim"

// liveness are the locks that never came back, and those that nobody held for a while and
// nobody could have.
func (o *oracle) liveness() []Want {
	var out []Want
	stuck := len(o.truth.Stuck) > 0
	for lock := range o.truth.Stuck {
		out = append(out, Want{
			Check: liveness, Rules: []string{"orphan", "no-recovery", "starved"}, Any: true, Must: true, InWay: ids(o.truth.Blockers[lock]...),
		})
	}
	for _, g := range o.truth.Grants {
		if g.Applied < 0 || (!g.Unknown && g.Killed < 0 && g.Settled != "info") {
			continue
		}
		w := Want{Check: liveness, Rules: []string{"orphan"}, Grants: ids(g), Any: true}
		w.Must = !stuck && o.outOfReach(g)
		if w.Must {
			w.Grants = nil // of several that were left behind at once, any one
		}
		out = append(out, w, Want{Check: liveness, Rules: []string{"orphan"}, Grants: ids(g), Any: true})
	}
	return out
}

// outOfReach reports whether the service kept an abandoned grant for long although nobody
// believed in it and somebody asked for the lock all the time.
func (o *oracle) outOfReach(g *sim.Grant) bool {
	since := g.Doubt
	switch {
	case g.Known >= 0 && g.Settled == "info":
		since = g.Back
	case g.Known >= 0:
		since = g.Killed
	}
	if g.Known >= 0 && (g.Killed < 0 && g.Settled != "info" || g.Settled == "ok" || g.Settled == "fail") {
		return false
	}
	since = max(since, o.belief(g).lenient)
	for _, h := range o.acked()[g.Lock] {
		from := max(since, h.Asked)
		if h == g || o.together(g, h) || h.Known < g.Ended || g.Ended-from < o.cfg.TTL/2 {
			continue
		}
		if !o.heldBetween(g, from, h.Known) {
			return true
		}
	}
	return false
}

// heldBetween reports whether anybody believed that he held the lock between two moments, or
// might have.
func (o *oracle) heldBetween(g *sim.Grant, from, to int64) bool {
	for _, h := range o.truth.Grants {
		if h == g || h.Lock != g.Lock {
			continue
		}
		if b := o.belief(h); h.Known >= 0 && b.from < to && b.lenient > from-o.cfg.TTL {
			return true
		}
		if h.Known < 0 && h.Unknown {
			return true // which of the two is in the way cannot be told
		}
	}
	return false
}
