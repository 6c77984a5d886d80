package oracle

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// overlaps are the pairs of clients that believed at the same time.
func (o *oracle) overlaps() []Want {
	var out []Want
	o.pairs(func(a, b *sim.Grant) {
		x, y := o.belief(a), o.belief(b)
		from := max(x.from, y.from)
		if from >= min(x.lenient, y.lenient) {
			return
		}
		w := Want{Check: exclusion, Rules: []string{"overlap"}, Grants: ids(a, b), Must: from < min(x.strict, y.strict)}
		class, late := o.class(a, b, from)
		w.Class = []string{class}
		w.Blame = o.blameAny(late, from)
		if class == defect {
			w.Blame = o.blameOfBreach(a, b, from)
		}
		switch {
		case o.cfg.Discipline == history.Told && len(late) > 0:
			w.Rules, w.Class = o.tooLate(late[0])
			w.Blame = nil
		case o.cfg.Service == sim.Connections:
			w.Class, w.Blame = []string{o.classByConnection(a, b, from)}, nil
		}
		out = append(out, w)
	})
	return out
}

// class is the class of an overlap that begins at a moment, and whose leases had run out.
func (o *oracle) class(a, b *sim.Grant, from int64) (class string, late []*sim.Grant) {
	class = defect
	for _, g := range []*sim.Grant{a, b} {
		if from >= g.LeaseAt(from)-o.cfg.Tolerance {
			class, late = inherent, append(late, g)
		}
	}
	return class, late
}

// lostUpdates are the acknowledged writes that another write was put on top of without having
// been read.
func (o *oracle) lostUpdates() []Want {
	if o.cfg.Unlogged {
		return o.unlogged()
	}
	type cell struct{ lock, register string }
	before := map[cell][]*sim.Write{}
	lost := map[*sim.Use]bool{}
	var out []Want
	for _, w := range o.truth.Writes {
		key := cell{w.Lock, w.Register}
		var unseen []*sim.Write
		for _, v := range before[key][w.Since:] {
			if v.Grant != w.Grant && v.Use.Acked && !lost[v.Use] {
				lost[v.Use] = true
				unseen = append(unseen, v)
			}
		}
		before[key] = append(before[key], w)
		switch {
		case len(unseen) == 0:
		case w.Register == sim.Pieces: // its lost changes show only where the stock is off
			o.pieces[w.Lock] = append(o.pieces[w.Lock], o.lost(w, unseen))
		default:
			out = append(out, o.lost(w, unseen))
		}
	}
	return out
}

func (o *oracle) lost(w *sim.Write, unseen []*sim.Write) Want {
	out := Want{Check: checkOf(w.Register), Rules: []string{"lost-update"}, Grants: ids(w.Grant), Must: true}
	if o.cfg.Discipline == history.Told || o.cfg.Service == sim.Connections {
		out.Rules = []string{"lost-update", "late-write"} // of which class, their overlaps say
		for _, v := range unseen {
			out.Grants = append(out.Grants, v.Grant.ID)
		}
		return out
	}
	certain, maybe := "", false
	var worst *Blame
	for _, v := range unseen {
		out.Grants = append(out.Grants, v.Grant.ID)
		a, b := w.Grant, v.Grant
		if b.Known < a.Known {
			a, b = b, a
		}
		x, y := o.belief(a), o.belief(b)
		from := max(x.from, y.from)
		if o.together(a, b) || from >= min(x.lenient, y.lenient) {
			continue
		}
		class, late := o.class(a, b, from)
		maybe = maybe || from >= min(x.strict, y.strict)
		if certain == "" || class == defect {
			certain, worst = class, o.blameAny(late, from)
		}
		if class == defect {
			worst = o.blameOfBreach(a, b, from)
		}
	}
	switch {
	case certain == "":
		out.Rules, out.Class = []string{"late-write"}, []string{inherent}
		out.Blame = o.blameOfWrite(append([]*sim.Write{w}, unseen...))
	case maybe:
		out.Rules, out.Class = []string{"lost-update", "late-write"}, []string{certain, inherent}
	default:
		out.Class, out.Blame = []string{certain}, worst
	}
	return out
}
