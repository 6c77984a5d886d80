package object

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// pieceSize is how many operations are judged together at least, where there are
// quiet points.
const pieceSize = 64

// pieces cuts the grants of a lock where nothing is open and every earlier grant is
// certainly over: there the lock is free, so the pieces can be judged apart, exactly.
func pieces(m history.Model, prepared []lockGrant, size int) [][]*lockGrant {
	grants := make([]*lockGrant, len(prepared))
	for i := range prepared {
		grants[i] = &prepared[i]
	}
	slices.SortFunc(grants, byFrom)
	byOK := sortedByOK(grants)
	var out [][]*lockGrant
	var piece []*lockGrant
	var open int64
	ops := 0
	for _, lg := range grants {
		if ops >= size && lg.from > open {
			out = append(out, piece)
			piece, ops = nil, 0
		}
		piece = append(piece, lg)
		ops += len(lg.ops) + len(lg.mays)
		open = max(open, lg.open(m, byOK))
	}
	if len(piece) > 0 {
		out = append(out, piece)
	}
	return out
}

// unit has grants that are judged together or not at all. Taking one out keeps a legal history legal.
type unit []*lockGrant

// units returns the units of a piece, in order of their first request: each grant alone but, if the store counts,
// together those of one owner that may be in force at the same time, since the release of one may give back another.
func units(m history.Model, piece []*lockGrant) []unit {
	out := make([]unit, 0, len(piece))
	if !m.Counts() {
		for i := range piece {
			out = append(out, piece[i:i+1:i+1])
		}
		return out
	}
	type last struct {
		unit int
		open int64
	}
	byOK := sortedByOK(piece)
	lasts := map[facts.Owner]last{}
	for _, lg := range piece {
		o := facts.OwnerOf(lg.g)
		l, known := lasts[o]
		if !known || lg.from > l.open {
			l = last{unit: len(out)}
			out = append(out, nil)
		}
		out[l.unit] = append(out[l.unit], lg)
		l.open = max(l.open, lg.open(m, byOK))
		lasts[o] = l
	}
	return out
}

// grantsOfUnits are all grants of some units.
func grantsOfUnits(us []unit) []*lockGrant {
	out := make([]*lockGrant, 0, len(us))
	for _, u := range us {
		out = append(out, u...)
	}
	return out
}
