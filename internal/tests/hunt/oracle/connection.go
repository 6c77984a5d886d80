package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// disconnected is the earliest moment at which the record lets the connection of a grant have ended, and whether it
// says why: its client was killed, or a fault touched its links or the servers. Where the client noticed that
// it had ended, or had no answer, before any of that, it may have been at any time.
func (o *oracle) disconnected(g *sim.Grant) (from int64, explained bool) {
	from = sim.Forever
	if g.Killed >= 0 {
		from = max(g.Killed, g.Sent)
	}
	for _, f := range o.truth.Faults {
		if f.From < sim.Forever && f.Family != history.FamilyClient && !f.Delays && hurts(f, g.Client) && f.Healed >= g.Sent {
			from = min(from, max(f.Invoked, g.Sent))
		}
	}
	noticed := earliest(g.Lost)
	if g.Settled == string(history.Info) {
		noticed = min(noticed, g.Back)
	}
	if noticed < from {
		return g.Sent, false
	}
	return from, true
}

// classByConnection is the class of an overlap of two grants that end with their connections.
func (o *oracle) classByConnection(a, b *sim.Grant, from int64) string {
	doubt := false
	for _, g := range []*sim.Grant{a, b} {
		at, explained := o.disconnected(g)
		if from >= at && explained {
			return inherent
		}
		doubt = doubt || from >= at
	}
	if doubt {
		return "undetermined"
	}
	return defect
}

// covered is whether each fault that was asked for hit a client at work.
func (o *oracle) covered() []Want {
	yes, no := true, false
	for _, name := range o.cfg.Requests() {
		certain, possible := false, false
		for _, f := range o.truth.Faults {
			if f.Name != name || f.From == sim.Forever {
				continue
			}
			c, p := o.met(f)
			certain, possible = certain || c, possible || p
		}
		yes, no = yes && certain, no || !possible
	}
	verdicts := []string{"pass", "unknown"}
	worked := slices.ContainsFunc(o.truth.Grants, func(g *sim.Grant) bool { return g.Known >= 0 && g.Known < o.cfg.Work })
	switch {
	case !worked:
		verdicts = verdicts[1:]
	case yes:
		verdicts = verdicts[:1]
	case no:
		verdicts = verdicts[1:]
	}
	return []Want{{Check: "coverage", Verdicts: verdicts}}
}

// met reports whether a fault met a client at work: for certain, and possibly. When exactly it is proven is a
// matter of a millisecond.
func (o *oracle) met(f *sim.Fault) (certain, possible bool) {
	from, to := f.From, f.Healed
	for _, g := range o.truth.Grants {
		if !hurts(f, g.Client) {
			continue
		}
		if f.Name == sim.Kill {
			if g.Killed < 0 {
				continue
			}
			from, to = g.Killed, g.Killed
		}
		for _, s := range o.atWork(g) {
			certain = certain || (s.from+o.slack() < to && s.strict > from+o.slack())
			possible = possible || (s.from <= to+o.slack() && s.lenient+o.slack() >= from)
			if f.Name == sim.Kill {
				certain = certain || (s.from < from && s.strict >= from)
			}
		}
	}
	return certain, possible
}

// atWork are the spans in which the client of a grant asked for it, believed in it, or gave it back.
func (o *oracle) atWork(g *sim.Grant) []span {
	until := func(at int64) int64 {
		switch {
		case at >= 0:
			return at
		case g.Killed >= 0:
			return g.Killed
		}
		return o.truth.Over
	}
	out := []span{{g.Asked, until(g.Over), until(g.Over)}}
	if b := o.belief(g); b.from < b.lenient && g.Known >= 0 {
		// One that nothing ends is believed in to its client's last event.
		if b.lenient == sim.Forever {
			b.strict, b.lenient = max(g.LastUse, g.Known), o.truth.Over
		}
		out = append(out, b)
	}
	if g.Released >= 0 {
		back := span{g.Released, until(g.Back), until(g.Back)}
		if g.Retried || g.Back < 0 {
			back.strict = g.Released // between its tries it does nothing
		}
		out = append(out, back)
	}
	return slices.Clip(out)
}
