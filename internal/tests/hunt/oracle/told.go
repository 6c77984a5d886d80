package oracle

import "github.com/lockstorm/lockstorm/internal/tests/hunt/sim"

// lateBy is how much later than the end of its lease the client of a grant was told, or gave it up without
// having been told; sure is whether the record shows when that was. Of a client that was killed it shows nothing after the last
// thing that it did.
func (o *oracle) lateBy(g *sim.Grant) (late int64, sure bool) {
	end := toldBy(g)
	if end == sim.Forever {
		return 0, false
	}
	late = end - g.LeaseAt(end)
	return late, end != g.Killed || late <= 0 || lastAct(g) > g.LeaseAt(end)+o.cfg.Tolerance
}

// toldBy is when the client of a grant was told of its end, or ended it.
func toldBy(g *sim.Grant) int64 { return earliest(g.Lost, g.Released, g.Killed) }

// tooLate is the rule and the class of an overlap of a client whose lease had run out, and who goes by what
// its library tells: a defect where the library was late, and nothing held it up since it was last in time. Where the host
// held it up for all of it, it is none.
func (o *oracle) tooLate(g *sim.Grant) (rules, classes []string) {
	late, sure := o.lateBy(g)
	switch {
	case sure && late <= o.cfg.Tolerance, sure && o.held(g.Client, 0, o.renewed(g), toldBy(g), sim.Forever) >= late && o.hostOnly(g):
		return []string{"overlap"}, []string{inherent}
	case sure && late > 2*o.cfg.Tolerance && !o.heldAtAll(g): // a little less may be stalls that are too short to be on record
		return []string{"late-notice"}, []string{defect}
	}
	return []string{"late-notice", "overlap"}, []string{defect, inherent}
}

// renewed is when the request left on which the last deadline of a grant rests that its client was told.
func (o *oracle) renewed(g *sim.Grant) int64 {
	return max(g.Sent, g.LeaseAt(sim.Forever)-o.cfg.TTL+o.cfg.Drift)
}

// hostOnly reports whether the host held the client of a grant up since its last renewal at a stretch: of many hiccups each may
// be too short to be on record.
func (o *oracle) hostOnly(g *sim.Grant) bool {
	for _, h := range o.truth.Held {
		if h.Client == g.Client && h.Fault == 0 && h.To > o.renewed(g) && h.To-h.From < 3*o.cfg.Tolerance {
			return false
		}
	}
	return true
}

// heldAtAll reports whether anything held the client of a grant up since its last renewal, or what it sent to the resource.
func (o *oracle) heldAtAll(g *sim.Grant) bool {
	since := o.renewed(g) - o.slack()
	for _, h := range o.truth.Held {
		if h.Client == g.Client && h.To > since {
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
