package proof

import (
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// foreignRelease: the store carried a release out that took the lock of somebody else away.
func (s *scene) foreignRelease(c Claim) (span history.Interval, err error) {
	of, err := s.granted(c, 2)
	if err != nil {
		return span, err
	}
	if c.Class != defect {
		return span, errors.New("a release that frees another client's lock is a defect, but the finding has another class")
	}
	err = errors.New("the events do not show that the store carried out a release of the first grant at the time of the finding")
	for _, rel := range of[0].Releases {
		if rel.Outcome() != history.OK || rel.End() != c.To {
			continue
		}
		if err = s.robs(of[0], of[1], rel, map[string]bool{}); err == nil {
			return history.Interval{From: max(rel.Start(), of[1].From()), To: rel.End()}, nil
		}
	}
	return span, err
}

// robs reports whether a release under one grant took the lock of another one away: that one was in force, and the first one
// was over, or the store told the other one later that it did not hold it.
func (s *scene) robs(g, victim *history.Grant, rel *history.Call, asked map[string]bool) error {
	after := victim.Sent() >= g.From() || s.over(g, victim.Sent())
	base := g.RunsOut(s.Run.Tolerance)
	switch {
	case s.Model.Together(g, victim):
		return errors.New("by the rules of this lock, two clients are allowed to hold the two grants of the finding at the same time, so the finding is no violation")
	case !after:
		return errors.New("the events do not show that the second grant of the finding is later than the first grant")
	case victim.From() > rel.End() || s.seen(victim.Client) < rel.End():
		return fmt.Errorf("no event shows that %s held the lock at the time of the release", victim.Client)
	case s.Leased() && rel.End() >= victim.RunsOut(s.Run.Tolerance):
		return fmt.Errorf("the lease of grant %s had run out before the store carried out the release, so the release freed no lock of another client", victim.ID)
	case s.Leased() && victim.From() < min(g.From(), base):
		return fmt.Errorf("grant %s is earlier than the released grant %s, but the finding must name a release that freed the lock of a later grant", victim.ID, g.ID)
	}
	for _, own := range victim.Releases {
		if own.Start() <= rel.End() {
			return fmt.Errorf("%s had already begun to release the lock, so the release in the finding did no harm", victim.Client)
		}
	}
	if kill, killed := s.Kills[victim.Client]; killed && s.Run.Ends == history.EndsProcess && kill <= rel.End() {
		return fmt.Errorf("%s was already dead at the time of the release, so the release did no harm", victim.Client)
	}
	if victim.From() <= rel.Start() && s.gone(g, rel.Start(), asked) {
		return nil
	}
	if (victim.From() <= rel.Start() || s.gone(g, rel.End(), asked)) && s.denied(victim, rel) {
		return nil
	}
	return errors.New("the events do not prove that the release freed the lock of another client: the released grant may still have been valid, and no answer told the other client that it had lost the lock")
}

// gone reports whether a grant was over: its lease had run out, or a release of somebody else took its lock away.
func (s *scene) gone(g *history.Grant, at int64, asked map[string]bool) bool {
	if s.over(g, at) {
		return true
	}
	if asked[g.ID] {
		return false
	}
	asked[g.ID] = true
	for _, by := range s.ByLock[g.Lock] {
		for _, rel := range by.Releases {
			if by != g && by.Granted() && rel.Outcome() == history.OK && rel.End() < at && s.robs(by, g, rel, asked) == nil {
				return true
			}
		}
	}
	return false
}

// over reports whether a lease had run out for certain, the renewals that may have been applied included. What its client did must
// be known that long.
func (s *scene) over(g *history.Grant, at int64) bool {
	base := g.RunsOut(s.Run.Tolerance)
	renews, known := g.Renews, g.Acquire.Return.TTL.Set
	if g.InSession() {
		renews, known = g.Under.Renews, g.Under.RunsOut(0).Set && g.Under.LastGranted() <= base
	}
	if !s.Leased() || !known || s.seen(g.Client) < at {
		return false
	}
	for _, rn := range renews {
		if rn.Outcome() == history.Info {
			base = max(base, rn.Start()+s.Run.TTL)
		} else if rn.Outcome() == history.OK && !rn.Return.TTL.Set {
			base = max(base, rn.End()+s.Run.TTL)
		}
	}
	return at > base+2*s.Run.Tolerance
}

// denied reports whether the store said, after a release of somebody else, that a grant does not hold the lock, although its lease ran.
func (s *scene) denied(g *history.Grant, rel *history.Call) bool {
	base := g.RunsOut(s.Run.Tolerance)
	for _, calls := range [][]*history.Call{g.Releases, g.Renews} {
		for _, c := range calls {
			if c.NotHeld() && c.Start() > rel.Start() && (!s.Leased() || c.End() < base) {
				return true
			}
		}
	}
	return false
}
