package lin

import "github.com/lockstorm/lockstorm/history"

// side is what decides beside whom a grant may be held.
type side struct {
	owner  int32 // noOwner: alone, whatever the others are
	shared bool
}

const noOwner = -1

// sidesOf are the sides of the grants of a model: two may be held together where both are
// shared, or of one owner; see [history.Model.Together].
func sidesOf(m history.Model, grants []*history.Grant, sides []side) ([]side, int) {
	if !m.Shares() {
		for range grants {
			sides = append(sides, side{owner: noOwner})
		}
		return sides, 0
	}
	type owner struct{ client, name string }
	owners := map[owner]int32{}
	for _, g := range grants {
		o := owner{g.Client, g.Owner}
		n, known := owners[o]
		if !known {
			n = int32(len(owners))
			owners[o] = n
		}
		sides = append(sides, side{owner: n, shared: !m.Counts() && g.Mode == history.ModeShared})
	}
	return sides, len(owners)
}

// crowd counts who holds a lock.
type crowd struct {
	all, writers tally
}

// tally counts holds by owner. Where one owner is left, sum is his number.
type tally struct {
	n      int
	per    []int32
	owners int
	sum    int
}

func (t *tally) add(owner int32) {
	if t.n++; owner == noOwner {
		return
	}
	if t.per[owner]++; t.per[owner] == 1 {
		t.owners++
		t.sum += int(owner)
	}
}

func (t *tally) drop(owner int32) {
	if t.n--; owner == noOwner {
		return
	}
	if t.per[owner]--; t.per[owner] == 0 {
		t.owners--
		t.sum -= int(owner)
	}
}

// only reports whether nobody holds but this owner.
func (t *tally) only(owner int32) bool {
	return t.n == 0 || (owner != noOwner && t.n == int(t.per[owner]))
}

func (t *tally) forget(owner int32) {
	if t.n, t.owners, t.sum = 0, 0, 0; owner != noOwner {
		t.per[owner] = 0
	}
}

func (c *crowd) enter(s side) {
	c.all.add(s.owner)
	if !s.shared {
		c.writers.add(s.owner)
	}
}

func (c *crowd) leave(s side) {
	c.all.drop(s.owner)
	if !s.shared {
		c.writers.drop(s.owner)
	}
}

// admits reports whether a grant may be held beside all that are.
func (c *crowd) admits(s side) bool {
	if s.shared {
		return c.writers.only(s.owner)
	}
	return c.all.only(s.owner)
}

func together(a, b side) bool {
	return (a.shared && b.shared) || (a.owner == b.owner && a.owner != noOwner)
}
