package proof

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// Classes and reasons of an overlap, as in results.json.
const (
	inherent     = "inherent"
	defect       = "defect"
	undetermined = "undetermined"
	noClass      = "none"

	leaseOver         = "lease-over"
	toldLate          = "told-late"
	bothValid         = "both-valid"
	noLease           = "no-lease"
	deadlineUnknown   = "deadline-unknown"
	connectionOver    = "connection-over"
	connectionUnknown = "connection-unknown"
)

// overlap: two clients took themselves for the holder at once.
func (s *scene) overlap(c Claim) (history.Interval, error) {
	of, err := s.granted(c, 2)
	if err != nil {
		return history.Interval{}, err
	}
	a, b := of[0], of[1]
	if s.Model.Shares() && s.Model.Together(a, b) {
		return history.Interval{}, fmt.Errorf("by the rules of this lock, two clients are allowed to hold the grants %s and %s at "+
			"the same time, so the overlap is no violation", a.ID, b.ID)
	}
	first, second := s.belief(a), s.belief(b)
	both := first.Overlap(second)
	switch {
	case cmp.Or(cmp.Compare(first.From, second.From), s.place(a)-s.place(b)) > 0:
		return both, fmt.Errorf("grant %s is earlier than grant %s: the finding must name the earlier grant first", b.ID, a.ID)
	case first.Empty() || second.Empty() || both.Empty():
		return both, errors.New("the two clients in the finding never believed at the same time that they held the lock, so there is " +
			"no overlap")
	}
	return both, s.classed(c, a, b, both.From)
}

// classed: two grants that met at a moment are of the class of the claim, for its reason.
func (s *scene) classed(c Claim, a, b *history.Grant, at int64) error {
	class, reason := s.class(a, b, at)
	return same(c, class, reason)
}

// class says what the cure of an overlap is. Who looks for the first grant whose lease was over finds the one that the class
// turns on.
func (s *scene) class(a, b *history.Grant, at int64) (class, reason string) {
	unknown := false
	for _, g := range []*history.Grant{a, b} {
		if s.Run.Ends == history.EndsConnection {
			from, explained := s.disconnected(g)
			if at >= from && explained {
				return inherent, connectionOver
			}
			unknown = unknown || at >= from
		}
		if !s.Leased() {
			continue
		}
		switch d := g.DeadlineAt(at); {
		case !d.Set:
			unknown = true
		case at >= d.V-s.Run.Tolerance:
			if s.toldLate(g, at) {
				return defect, toldLate
			}
			return inherent, leaseOver
		}
	}
	switch {
	case unknown && s.Run.Ends == history.EndsConnection:
		return undetermined, connectionUnknown
	case unknown:
		return undetermined, deadlineUnknown
	case !s.Leased():
		return defect, noLease
	}
	return defect, bothValid
}

// toldLate: the library was to tell its user that the lease had run out, and did not in time. That a fault held its client up,
// or the host or we did, excuses it. Of a few events any such event does: one of them has to be in a proof which says so.
func (s *scene) toldLate(g *history.Grant, at int64) bool {
	late, promised := s.signalLate(g)
	switch {
	case !promised:
		return false
	case s.whole:
		return !s.heldUp(g, at) && !s.hostLate(g, late)
	}
	return late > 2*s.Run.Tolerance && !s.excused(g) // less may be stalls that are too short to be on record
}

// signalLate returns how long after the end of a lease its client was told, or ended its tenure untold. It counts
// only if the library renews its leases and is to tell.
func (s *scene) signalLate(g *history.Grant) (late int64, promised bool) {
	signals := g.Assured.Set || (s.Run.Renews && !s.Run.ByDeadline())
	if s.Run.Discipline != history.Told || !signals || (s.whole && s.CutOff(g.Client)) {
		return 0, false
	}
	end := s.toldBy(g)
	d := g.DeadlineAt(end)
	if !d.Set || end < g.From() {
		return 0, false
	}
	return end - d.V, true
}

// toldBy is until when a client was not told that its lock was lost: until it was or gave up or, where its library has a method
// to ask, until that last said yes.
func (s *scene) toldBy(g *history.Grant) int64 {
	end := min(g.ToldLost(), s.gaveUp(g))
	if s.Run.ByDeadline() {
		end = min(end, g.Assured.Or(end))
	}
	return end
}

// gaveUp is when a client ended its tenure itself, as far as is known.
func (s *scene) gaveUp(g *history.Grant) int64 {
	end := min(g.GaveBack(), s.Last[g.Client]+1)
	if kill, killed := s.Kills[g.Client]; killed {
		end = min(end, kill)
	}
	return end
}

// excused reports whether something that held a client up is here: a stall of the host, a fault of its own, a point at which we
// kept it.
func (s *scene) excused(g *history.Grant) bool {
	for i := range s.Events {
		if s.excuses(&s.Events[i], g.Client) {
			return true
		}
	}
	return false
}

func (s *scene) excuses(e *history.Event, client string) bool {
	switch e.F() {
	case history.FStall:
		return e.Party() == client || history.ClientOf(e.Party()) == ""
	case history.FPoint:
		return e.Party() == client && e.Type() == history.Invoke
	case history.FFault:
		var f history.Fault
		return e.Type() == history.Invoke && e.Value().Into(&f) == nil && (&history.Injection{Fault: f}).Late(client)
	}
	return false
}
