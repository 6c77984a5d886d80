package oracle

import "slices"

// liveness are the locks that never came back. That a lock was out of reach for a while is a
// note, which may be made of what the service really held for nobody; none is asked for. Where
// somebody waits in vain and others do not, the judge may have no answer.
func (o *oracle) liveness() []Want {
	var out []Want
	for _, lock := range o.locks() {
		back, waits := o.comeBack(lock)
		if !waits {
			continue
		}
		w := Want{Check: liveness, Rules: []string{"starved doubt", "orphan doubt", "no-recovery doubt"}, Grants: o.idsOf(lock), Any: true}
		if !back {
			w.Rules = append([]string{"no-recovery", "orphan"}, w.Rules...)
			w.Must, w.InWay = true, o.certain(lock)
		}
		out = append(out, w)
	}
	for _, g := range o.truth.Grants {
		if g.Applied < 0 || (!g.Unknown && g.Killed < 0 && g.Settled != "info") {
			continue
		}
		out = append(out, Want{Check: liveness, Rules: []string{"orphan note"}, Grants: ids(g), Any: true})
	}
	return out
}

func (o *oracle) locks() []string {
	var out []string
	for _, g := range o.truth.Grants {
		if !slices.Contains(out, g.Lock) {
			out = append(out, g.Lock)
		}
	}
	return out
}

func (o *oracle) idsOf(lock string) []string {
	var out []string
	for _, g := range o.truth.Grants {
		if g.Lock == lock {
			out = append(out, g.ID)
		}
	}
	return out
}

// comeBack reports whether a lock came back to anybody in the final sections but to who had
// it then, and whether anybody else who lives asked for it in vain.
func (o *oracle) comeBack(lock string) (back, waits bool) {
	had := map[string]bool{}
	for _, g := range o.truth.Blockers[lock] {
		had[g.Client] = g.Applied < o.truth.Final
	}
	for _, g := range o.truth.Grants {
		if g.Lock != lock {
			continue
		}
		back = back || (g.Known >= o.truth.Final && !had[g.Client])
		open := g.Known < 0 && (!g.Unknown || g.Doubt >= o.truth.Final)
		waits = waits || (open && g.Killed < 0 && g.Asked+o.cfg.TTL < o.truth.Over && g.Waits)
	}
	return back, waits
}

// certain are the grants that were in the way at the end, where the record shows that: known
// to their clients, and not given back as far as these were told.
func (o *oracle) certain(lock string) []string {
	var out []string
	for _, g := range o.truth.Blockers[lock] {
		if g.Known < 0 || g.Settled == "ok" {
			return nil
		}
		out = append(out, g.ID)
	}
	return out
}
