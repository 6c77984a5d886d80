package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// ErrJudge is the answer where even the whole record proves nothing at a glance.
var ErrJudge = errors.New("this finding cannot be proved by a few events: check the whole record with `lockstorm check`")

// absence holds a claim that rests on what did not happen against the whole record.
func (s *scene) absence(c Claim) (story []string, err error) {
	window := fmt.Sprintf("from %s to %s", seconds(c.From), seconds(c.To))
	switch {
	case c.Check == "liveness" && c.Rule == "orphan" && s.nobody(c):
		return []string{fmt.Sprintf("No client believed that it held lock %s in the time %s.", s.ByID[c.Grants[0]].Lock, window)}, none(c)
	case c.Check == "liveness":
		return s.inVain(c, window)
	case c.Rule == "refused-valid":
		return s.refusedValid(c)
	case c.Rule == "stock-off":
		return s.stockOff(c)
	case c.Rule == "overtaken":
		return s.overtaken(c)
	case c.Rule == "release-of-none":
		return s.releaseOfNone(c)
	case c.Rule == "mutual-wait":
		return s.mutualWait(c, window)
	}
	return nil, ErrJudge
}

func (s *scene) mutualWait(c Claim, window string) (story []string, err error) {
	for _, id := range c.Grants {
		g := s.ByID[id]
		if g == nil || g.Acquire == nil || g.Acquire.Start() > c.From || (g.Acquire.Return != nil && g.Acquire.Return.Time < c.To) {
			return nil, fmt.Errorf("the finding says that clients waited for each other %[2]s, but the client that requested grant %[1]s did not wait for the whole of this time", id, window)
		}
		story = append(story, fmt.Sprintf("%s waited for lock %s during the whole time %s.", g.Client, g.Lock, window))
	}
	return story, none(c)
}

// overtaken: others who asked later were granted the lock first.
func (s *scene) overtaken(c Claim) (story []string, err error) {
	of, err := s.granted(c, 1)
	if err != nil {
		return nil, err
	}
	g, n := of[0], 0
	for _, o := range s.ByLock[g.Lock] {
		if o != g && o.Granted() && o.Sent() > g.Acquire.Start() && o.From() < g.From() {
			n++
		}
	}
	if n == 0 || g.Acquire.Start() != c.From || g.From() != c.To {
		return nil, fmt.Errorf("the finding says that a client with a later request got lock %[2]s before the client of grant %[1]s, but the events do not show this at the times in the finding", g.ID, g.Lock)
	}
	return []string{fmt.Sprintf("%s waited for lock %s from %s to %s; meanwhile clients that had asked later got the lock first (grants: %d).", g.Client, g.Lock, seconds(c.From), seconds(c.To), n)}, none(c)
}

// stockOff: what the last client read is not the sum of what was acknowledged before.
func (s *scene) stockOff(c Claim) (story []string, err error) {
	if len(c.Grants) != 1 || s.ByID[c.Grants[0]] == nil {
		return nil, errors.New("the finding must name exactly one grant that is in the record")
	}
	g, sum := s.ByID[c.Grants[0]], s.Run.Registers["stock"]
	for _, of := range s.ByLock[g.Lock] {
		for _, u := range of.Uses {
			switch {
			case u.Invoke.Register != "stock" || u.Invoke.F != history.FWrite || u.Outcome() == history.Fail || u.Start() > c.To:
			case u.Outcome() != history.OK || u.End() >= c.From:
				return nil, fmt.Errorf("it is unknown whether the write of grant %s took effect before the client read the stock (the data of the workload), so the value that the client should have read is unknown", of.ID)
			default:
				sum += u.Invoke.Value.New.V - u.Invoke.Value.Base.V
			}
		}
	}
	for _, u := range g.Uses {
		if u.Invoke.F == history.FRead && u.Invoke.Register == "stock" && u.Outcome() == history.OK && u.Start() == c.From && u.End() == c.To && u.Return.Value.Base.V != sum {
			return []string{fmt.Sprintf("%s read a stock of %d, but the initial stock plus the acknowledged changes is %d.", g.Client, u.Return.Value.Base.V, sum)}, none(c)
		}
	}
	return nil, errors.New("at the time of the finding no client read a stock that differs from the initial stock plus the acknowledged changes")
}

// nobody reports whether no client believed that it held the lock of the grants in the span of a claim.
func (s *scene) nobody(c Claim) bool {
	if len(c.Grants) == 0 || s.ByID[c.Grants[0]] == nil {
		return false
	}
	window := history.Interval{From: c.From, To: c.To}
	return !slices.ContainsFunc(s.ByLock[s.ByID[c.Grants[0]].Lock], func(g *history.Grant) bool {
		return g.Granted() && !s.belief(g).Overlap(window).Empty()
	})
}

// inVain: a client asked for a lock and got it at no time in the window.
func (s *scene) inVain(c Claim, window string) (story []string, err error) {
	for _, lock := range s.Locks {
		type asker struct{ client, mode string }
		asked, got := map[asker]bool{}, map[asker]bool{}
		for _, g := range s.ByLock[lock] {
			switch {
			case g.Acquire == nil || g.Acquire.Start() > c.To:
			case g.Granted() && g.From() >= c.From && g.From() <= c.To:
				got[asker{g.Client, g.Mode}] = true
			case !g.Granted() && (g.Acquire.Return == nil || g.Acquire.Return.Time >= c.From):
				asked[asker{g.Client, g.Mode}] = true
			case g.Granted() && g.From() > c.To:
				asked[asker{g.Client, g.Mode}] = true
			}
		}
		for who := range asked {
			if !got[who] {
				story = append(story, fmt.Sprintf("%s requested lock %s, but did not get this lock in the time %s.", who.client, lock, window))
			}
		}
	}
	if len(story) == 0 {
		return nil, fmt.Errorf("every client that requested a lock got this lock in the time %s, so no client waited in vain", window)
	}
	slices.Sort(story)
	return story, none(c)
}

func (s *scene) refusedValid(c Claim) (story []string, err error) {
	of, err := s.granted(c, 1)
	if err != nil {
		return nil, err
	}
	g := of[0]
	refused := false
	for i := range s.Events {
		e := &s.Events[i]
		refused = refused || (e.Party == history.PartyRegister && e.Grant == g.ID && e.Error == history.ErrStaleToken && e.Time == c.From)
	}
	if c.Class != defect {
		return nil, fmt.Errorf("the fence refused a request of the newest grant: this is a %s, but the finding has the class %s", defect, c.Class)
	}
	if !refused || (s.Leased() && c.From >= g.RunsOut(s.Run.Tolerance)) {
		return nil, fmt.Errorf("the finding says that the fence refused a request under grant %s while the lease of this grant was still running, but the events do not show this at the time of the finding", g.ID)
	}
	for _, o := range s.ByLock[g.Lock] {
		if o != g && o.Granted() && o.Sent() <= c.From && o.From() >= g.Sent() {
			return nil, fmt.Errorf("grant %s is newer than grant %s, so the fence was right to refuse the older grant", o.ID, g.ID)
		}
	}
	return []string{fmt.Sprintf("The fence refused a request under grant %s at %s, although no other grant of lock %s is newer.", g.ID, seconds(c.From), g.Lock)}, nil
}

func (s *scene) releaseOfNone(c Claim) (story []string, err error) {
	if len(c.Grants) != 1 || c.Class != defect || s.ByID[c.Grants[0]] == nil {
		return nil, errors.New("the finding must have the class \"defect\", and name exactly one grant that is in the record")
	}
	g := s.ByID[c.Grants[0]]
	if g.Acquire != nil && g.Acquire.Outcome() != history.Fail {
		return nil, fmt.Errorf("the request for grant %s may have succeeded, so the release of this grant may have been correct", g.ID)
	}
	for _, rel := range g.Releases {
		if rel.Outcome() == history.OK && rel.Start() == c.From && rel.End() == c.To {
			return []string{fmt.Sprintf("The store carried out the release of grant %s at %s, although no client had got this grant.", g.ID, seconds(c.To))}, nil
		}
	}
	return nil, fmt.Errorf("the events do not show that the store carried out a release of grant %s at the time of the finding", g.ID)
}
