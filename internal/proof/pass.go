package proof

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Exclusive holds a whole record against the rule that a pass rests on most: no two clients took themselves for the holder of a
// lock at once. Grants is how many it looked at.
func (r *Record) Exclusive() (grants int, err error) {
	s := &scene{Record: r.rec}
	for _, lock := range r.rec.Locks {
		var holds []held
		for _, g := range r.rec.ByLock[lock] {
			if !g.Granted() {
				continue
			}
			grants++
			if h := s.belief(g); !h.Empty() {
				holds = append(holds, held{g, h})
			}
		}
		if err := s.apart(holds); err != nil {
			return grants, err
		}
	}
	return grants, nil
}

type held struct {
	g *history.Grant
	history.Interval
}

// apart reports the first two of some holds that meet and may not.
func (s *scene) apart(holds []held) error {
	slices.SortFunc(holds, func(a, b held) int { return cmp.Compare(a.From, b.From) })
	var active []held
	for _, h := range holds {
		active = slices.DeleteFunc(active, func(a held) bool { return a.To <= h.From })
		for _, a := range active {
			if !s.Model.Shares() || !s.Model.Together(a.g, h.g) {
				return fmt.Errorf("%s (grant %s) and %s (grant %s) both believed that they held lock %s at %s", a.g.Client, a.g.ID,
					h.g.Client, h.g.ID, h.g.Lock, seconds(h.From))
			}
		}
		active = append(active, h)
	}
	return nil
}
