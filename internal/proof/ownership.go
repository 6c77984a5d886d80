package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// foreignRelease: the store carried a release out that took the lock of somebody else away.
func (s *scene) foreignRelease(c Claim) (span history.Interval, err error) {
	of, err := s.granted(c, 2)
	if err != nil {
		return span, err
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
		return errors.New("by the rules of this lock, two clients are allowed to hold the two grants of the finding at the same " +
			"time, so the finding is no violation")
	case !after:
		return errors.New("the events do not show that the second grant of the finding is later than the first grant")
	case victim.From() > rel.End() || s.seen(victim.Client) < rel.End():
		return fmt.Errorf("no event shows that %s held the lock at the time of the release", victim.Client)
	case s.Leased() && rel.End() >= victim.RunsOut(s.Run.Tolerance):
		return fmt.Errorf("the lease of grant %s had run out before the store carried out the release, so the release freed no lock "+
			"of another client", victim.ID)
	case s.Leased() && victim.From() < min(g.From(), base):
		return fmt.Errorf("grant %s is earlier than the released grant %s, but the finding must name a release that freed the lock "+
			"of a later grant", victim.ID, g.ID)
	}
	if freedBefore(victim, rel) {
		return fmt.Errorf("%s had already begun to release the lock, so the release in the finding did no harm", victim.Client)
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
	return errors.New("the events do not prove that the release freed the lock of another client: the released grant may still " +
		"have been valid, and no answer told the other client that it had lost the lock")
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

// over reports whether a lease had run out for certain, the renewals that may have been applied included. What its client did
// must be known that long.
func (s *scene) over(g *history.Grant, at int64) bool {
	base := g.RunsOut(s.Run.Tolerance)
	renews, known := g.Renews, g.Acquire.Return.TTL().Set
	if g.InSession() {
		renews, known = g.Under.Renews, g.Under.RunsOut(0).Set && g.Under.LastGranted() <= base
	}
	if !s.Leased() || !known || s.seen(g.Client) < at {
		return false
	}
	for _, rn := range renews {
		if rn.Outcome() == history.Info {
			base = max(base, rn.Start()+s.Run.TTL)
		} else if rn.Outcome() == history.OK && !rn.Return.TTL().Set {
			base = max(base, rn.End()+s.Run.TTL)
		}
	}
	return at > base+2*s.Run.Tolerance
}

// denied reports whether the store said, after a release of somebody else, that a grant does not hold the lock, although its
// lease ran.
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

// robbery is a release that took the lock of a victim away.
type robbery struct {
	by, victim *history.Grant
	rel        *history.Call
}

// robbed: of all releases of the lock, in the order of their answers, this one took the lock of just this grant away.
func (s *scene) robbed(c Claim) (story []string, err error) {
	of, err := s.granted(c, 2)
	if err != nil {
		return nil, err
	}
	for _, r := range s.robberies(of[0].Lock) {
		if r.by == of[0] && r.victim == of[1] && r.rel.End() == c.To && max(r.rel.Start(), r.victim.From()) == c.From {
			return s.sawWhole(c), nil
		}
	}
	return nil, errors.New("no release of the first grant took the lock of the second one away at the time of the finding")
}

// robberies are those of a lock. Who was robbed is robbed once, and what his own release removes then is somebody else's.
func (s *scene) robberies(lock string) (out []robbery) {
	granted := slices.DeleteFunc(slices.Clone(s.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortFunc(granted, func(a, b *history.Grant) int { return cmp.Compare(a.From(), b.From()) })
	var done []robbery
	for _, g := range granted {
		for _, rel := range g.Releases {
			if rel.Outcome() == history.OK {
				done = append(done, robbery{by: g, rel: rel})
			}
		}
	}
	slices.SortStableFunc(done, func(a, b robbery) int { return cmp.Compare(a.rel.End(), b.rel.End()) })
	gone := map[*history.Grant]bool{}
	for _, r := range done {
		if r.victim = s.victim(granted, r, gone); r.victim == nil {
			continue
		}
		out = append(out, r)
		gone[r.victim] = !s.Model.Shares()
	}
	return out
}

// victim is the latest grant that a release can have taken away; of readers rather one who was told so, and not one who was
// seen to hold it later.
//
//nolint:gocyclo // one question with its kinds of evidence
func (s *scene) victim(granted []*history.Grant, r robbery, gone map[*history.Grant]bool) (found *history.Grant) {
	over := func(at int64) bool { return gone[r.by] || s.over(r.by, at) } // who was robbed began to release it later
	heldOn := func(h *history.Grant) bool {
		return slices.ContainsFunc(slices.Concat(h.Releases, h.Renews), func(c *history.Call) bool {
			return c.Outcome() == history.OK && c.Start() >= r.rel.End()
		})
	}
	for _, h := range slices.Backward(granted) {
		after := h.Sent() >= r.by.From() || s.over(r.by, h.Sent())
		if h.From() > r.rel.End() || gone[h] || !after || s.Model.Together(r.by, h) || !s.inForce(h, r.rel) {
			continue
		}
		known := h.From() <= r.rel.Start()
		denied := (known || over(r.rel.End())) && !s.serverHurt(h, r.rel)
		if denied && (known || !s.robbedOtherwise(granted, h, r.rel)) {
			return h
		}
		if known && over(r.rel.Start()) && (found == nil || (heldOn(found) && !heldOn(h))) {
			found = h
		}
		if found != nil && !s.Model.Shares() {
			break
		}
	}
	return found
}

// robbedOtherwise reports whether another release took a grant's lock away for certain: one of a grant that was over when it was
// asked for.
func (s *scene) robbedOtherwise(granted []*history.Grant, h *history.Grant, but *history.Call) bool {
	for _, g := range granted {
		later := g != h && !s.Model.Together(g, h) && (h.Sent() >= g.From() || s.over(g, h.Sent()))
		for _, rel := range g.Releases {
			if later && rel != but && rel.Outcome() == history.OK && h.From() <= rel.Start() && s.over(g, rel.Start()) &&
				s.inForce(h, rel) {
				return true
			}
		}
	}
	return false
}

// inForce reports whether a grant was neither given back nor over when a release of another one had been carried out.
func (s *scene) inForce(h *history.Grant, rel *history.Call) bool {
	kill, killed := s.Kills[h.Client]
	switch {
	case freedBefore(h, rel):
		return false
	case s.CutOff(h.Client) && s.Last[h.Client] < rel.End():
		return false
	case killed && s.Run.Ends == history.EndsProcess && kill <= rel.End():
		return false
	}
	return !s.Leased() || rel.End() < h.RunsOut(s.Run.Tolerance)
}

// freedBefore reports whether the owner of a grant may have freed the lock before another release was over. What was refused
// while that one was under way freed nothing.
func freedBefore(g *history.Grant, rel *history.Call) bool {
	return slices.ContainsFunc(g.Releases, func(own *history.Call) bool {
		refused := own.NotHeld() && own.End() >= rel.Start()
		return own.Start() <= rel.End() && !refused
	})
}

// serverHurt reports whether a fault of a server explains every answer by which a grant was denied after a release, or there is
// none.
func (s *scene) serverHurt(h *history.Grant, rel *history.Call) bool {
	return !slices.ContainsFunc(slices.Concat(h.Releases, h.Renews), func(c *history.Call) bool {
		if !c.NotHeld() || c.Start() <= rel.Start() || (s.Leased() && c.End() >= h.RunsOut(s.Run.Tolerance)) {
			return false
		}
		life := history.Interval{From: h.Sent(), To: c.End()}
		return !slices.ContainsFunc(s.Faults, func(f *history.Injection) bool {
			ofServer := f.Family != history.FamilyClient && (f.Family != history.FamilyLink || len(f.Clients) == 0)
			return ofServer && f.Invoke.Type() == history.Invoke && !life.Overlap(f.Aftermath(s.Run.Recovery)).Empty()
		})
	})
}
