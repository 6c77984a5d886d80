package worker

import (
	"testing"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A fault may want a grant by all nodes, or by so many: other visits of the point do not
// count. Where the lock does not say who granted, every grant is one that is meant.
func TestGateCountsGrantsThatAreMeant(t *testing.T) {
	for name, c := range map[string]struct {
		grantedBy int
		visits    []int // by how many of five nodes each was granted
		hit       int   // the visit that is struck; -1: none
	}{
		"any":                 {0, []int{3, 5}, 0},
		"all":                 {nemesis.AllNodes, []int{3, 4, 5}, 2},
		"all, never":          {nemesis.AllNodes, []int{3, 4, 3}, -1},
		"three":               {3, []int{5, 4, 3}, 2},
		"nobody says: all":    {nemesis.AllNodes, []int{0}, 0},
		"nobody says: three":  {3, []int{0}, 0},
		"three, never by all": {3, []int{5, 5}, -1},
	} {
		g := newGate("c1", 5, nil, nil)
		g.arm(control.Message{ID: 1, Point: "acquired", Nth: 1, GrantedBy: c.grantedBy})
		hit := -1
		for i, granted := range c.visits {
			if g.match("before-read", granted) != nil {
				t.Errorf("%s: struck at another point", name)
			}
			if g.match("acquired", granted) != nil && hit < 0 {
				hit = i
			}
		}
		if hit != c.hit {
			t.Errorf("%s: struck at visit %d, want %d", name, hit, c.hit)
		}
	}
}

// The nth visit is that of the grants that are meant.
func TestGateCountsVisits(t *testing.T) {
	g := newGate("c1", 5, nil, nil)
	g.arm(control.Message{ID: 1, Point: "acquired", Nth: 2, GrantedBy: 3})
	for i, granted := range []int{3, 5, 3} {
		if struck := g.match("acquired", granted) != nil; struck != (i == 2) {
			t.Errorf("visit %d: struck %v", i, struck)
		}
	}
}
