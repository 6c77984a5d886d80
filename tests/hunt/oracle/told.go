package oracle

import "github.com/lockstorm/lockstorm/tests/hunt/sim"

// lateBy is how much later than the end of its lease the client of a grant was told, or gave it up without
// having been told; sure is whether the record shows when that was.
func (o *oracle) lateBy(g *sim.Grant) (late int64, sure bool) {
	end := sim.Forever
	for _, at := range []int64{g.Lost, g.Released, g.Killed} {
		if at >= 0 {
			end = min(end, at)
		}
	}
	if end == sim.Forever {
		return 0, false
	}
	return end - g.LeaseAt(end), true
}

// tooLate is the rule and the class of an overlap of a client whose lease had run out, and who goes by what
// its library tells: a defect where the library was late, and nothing held it up.
func (o *oracle) tooLate(g *sim.Grant) (rules, classes []string) {
	late, sure := o.lateBy(g)
	switch held := o.heldAtAll(g); {
	case sure && late > o.cfg.Tolerance && !held:
		return []string{"late-notice"}, []string{defect}
	case sure && late <= o.cfg.Tolerance:
		return []string{"overlap"}, []string{inherent}
	}
	return []string{"late-notice", "overlap"}, []string{defect, inherent}
}

// heldAtAll reports whether anything held the client of a grant up, or what it sent to the resource.
func (o *oracle) heldAtAll(g *sim.Grant) bool {
	for _, h := range o.truth.Held {
		if h.Client == g.Client && h.To > g.Sent {
			return true
		}
	}
	for _, f := range o.truth.Faults {
		if f.Delays && hurts(f, g.Client) && f.Healed > g.Sent {
			return true // whether it held anything back, the record may not show
		}
	}
	return len(g.Late) > 0
}

// signals are the losses of which a library told its user too late.
func (o *oracle) signals() []Want {
	var out []Want
	for _, g := range o.truth.Grants {
		if g.Known < 0 {
			continue
		}
		if late, sure := o.lateBy(g); !sure || late > o.cfg.Tolerance {
			out = append(out, Want{Check: notice, Rules: []string{"late-notice", "no-notice"}, Grants: ids(g), Must: sure})
		}
	}
	return out
}
