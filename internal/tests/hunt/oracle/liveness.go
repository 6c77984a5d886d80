package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// liveness are the locks that never came back. That a lock was out of reach for a while is a
// note, which may be made of what the service really held for nobody; none is asked for. Where
// somebody waits in vain and others do not, the judge may have no answer.
func (o *oracle) liveness() []Want {
	var out []Want
	for _, lock := range o.locks() {
		back, waits := o.comeBack(lock, "", true)
		if !waits {
			continue
		}
		w := Want{
			Check: liveness, Rules: []string{"starved doubt", "orphan doubt", "no-recovery doubt"}, Grants: o.idsOf(lock),
			Any: true,
		}
		if !back {
			w.Must, w.InWay = true, o.certain(lock)
		}
		if !back || o.oneModeStuck(lock) {
			w.Rules = append([]string{"no-recovery", "orphan"}, w.Rules...)
			if o.cfg.Workload == sim.Cross {
				w.Rules = append(w.Rules, "deadlocked")
			}
		}
		out = append(out, w)
	}
	return append(out, Want{Check: liveness, Rules: []string{"orphan note"}, True: o.kept})
}

// kept reports whether a note is true that says that somebody asked for a lock all through a span
// in which nobody believed that he held it, and that one of some grants may have kept it. Nobody
// did; and of those that stood in the way of somebody who asked one of them did so for about as
// long as anybody else. Where it was held by nobody for nearly all of it, whoever asked for it
// was only slow to ask or to hear, and the record cannot tell.
func (o *oracle) kept(named []string, from, to int64) bool {
	i := slices.IndexFunc(o.truth.Grants, func(g *sim.Grant) bool { return slices.Contains(named, g.ID) })
	for _, g := range o.truth.Grants {
		b := o.belief(g)
		if g.Lock == o.truth.Grants[i].Lock && b.from < b.strict && b.from < to && b.strict > from {
			return false
		}
	}
	return slices.ContainsFunc(o.truth.Grants, func(h *sim.Grant) bool {
		return h.Lock == o.truth.Grants[i].Lock && h.Known >= to && o.askedBefore(h, to) && o.keptFrom(h, named, from, to)
	})
}

// askedBefore reports whether the client of a grant had asked for the lock before a moment.
func (o *oracle) askedBefore(h *sim.Grant, at int64) bool {
	return slices.ContainsFunc(o.truth.Grants, func(g *sim.Grant) bool {
		return g.Lock == h.Lock && g.Client == h.Client && g.Asked < at
	})
}

// keptFrom is kept for one that asked.
func (o *oracle) keptFrom(h *sim.Grant, named []string, from, to int64) bool {
	var by, others int64
	for _, g := range o.truth.Grants {
		if g == h || g.Lock != h.Lock || o.together(g, h) || g.Applied < 0 || g.Known >= to || o.passed(g) {
			continue
		}
		span := min(g.Ended, to) - max(g.Applied, from)
		if slices.Contains(named, g.ID) {
			by = max(by, span)
		} else {
			others = max(others, span)
		}
	}
	return others <= by+(to-from)/10
}

// passed reports whether somebody was granted a lock although another grant was in force: as far
// as a record shows, that one was over then.
func (o *oracle) passed(g *sim.Grant) bool {
	return slices.ContainsFunc(o.truth.Grants, func(h *sim.Grant) bool {
		return h.Lock == g.Lock && g.Known >= 0 && h.Known > g.Known && h.Applied < g.Ended && !o.together(g, h)
	})
}

func (o *oracle) locks() []string {
	var out []string
	for _, g := range o.truth.Grants {
		out = lists.With(out, g.Lock)
	}
	return out
}

func (o *oracle) idsOf(lock string) []string {
	return ids(lists.Filter(o.truth.Grants, func(g *sim.Grant) bool { return g.Lock == lock })...)
}

// oneModeStuck reports whether a lock came back to nobody in one mode, although it did in another:
// readers are served and a writer waits for ever.
func (o *oracle) oneModeStuck(lock string) bool {
	return slices.ContainsFunc([]string{"", history.ModeShared}, func(mode string) bool {
		back, waits := o.comeBack(lock, mode, false)
		return waits && !back
	})
}

// comeBack reports whether a lock came back, in one mode or in all, to anybody in the final
// sections but to who had it then, and whether anybody else who lives asked for it in vain.
func (o *oracle) comeBack(lock, mode string, all bool) (back, waits bool) {
	had := map[string]bool{}
	for _, g := range o.truth.Blockers[lock] {
		had[g.Client] = g.Applied < o.truth.Final
	}
	for _, g := range o.truth.Grants {
		if g.Lock != lock || (!all && g.Mode != mode) {
			continue
		}
		// Who waits for somebody who waits for him is let go when the run is stopped.
		stuck := o.cfg.Workload == sim.Cross && g.Known > o.truth.Final+o.truth.Bound
		back = back || (g.Known >= o.truth.Final && !had[g.Client] && !stuck)
		waits = waits || o.inVain(g)
	}
	return back, waits
}

// inVain reports whether a client that lives asked for a lock in the final sections and did not get it, or not in
// time.
func (o *oracle) inVain(g *sim.Grant) bool {
	late := o.truth.Final + o.truth.Bound // granted in the end, and not in time
	if g.Known >= 0 {
		return g.Known > late && g.Asked+o.cfg.TTL < late
	}
	open := (g.Refused < 0 || g.Refused >= o.truth.Stopped) && (!g.Unknown || g.Doubt >= o.truth.Final)
	// Who tries again and again waits, too.
	again := g.Tries && g.Asked >= o.truth.Final && g.Asked < late && slices.Contains(o.truth.Stuck[g.Lock], g.Client)
	return g.Killed < 0 && (again || (open && g.Asked+o.cfg.TTL < o.truth.Over && g.Waits))
}

// certain are the grants that were in the way at the end, where the record shows that: known
// to their clients, and not given back as far as these were told; nor granted to anybody else
// since, which a store that broke its word may have done. Where the store counts, any of an
// owner's grants may be the one that is left.
func (o *oracle) certain(lock string) []string {
	var out []string
	for _, g := range o.truth.Blockers[lock] {
		passed := func(h *sim.Grant) bool {
			return h.Lock == lock && h.Applied > g.Applied && h.Known >= 0 && !o.together(g, h)
		}
		if g.Known < 0 || g.Settled == "ok" || slices.ContainsFunc(o.truth.Grants, passed) {
			return nil
		}
		for _, same := range o.owners(g) {
			if same.Settled != "ok" {
				out = append(out, same.ID)
			}
		}
	}
	return out
}
