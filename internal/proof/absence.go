package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// ErrJudge is the answer where even the whole record proves nothing at a glance.
var ErrJudge = errors.New("this finding cannot be proved by a few events: check the whole record with `lockstorm check`")

// mutualWait: two clients waited for a lock that the other one held, for exactly the time of the finding.
func (s *scene) mutualWait(c Claim) (story []string, err error) {
	if len(c.Grants) != 2 || s.ByID[c.Grants[0]] == nil || s.ByID[c.Grants[1]] == nil {
		return nil, errors.New("the finding must name the two requests that waited for each other")
	}
	a, b := s.ByID[c.Grants[0]], s.ByID[c.Grants[1]]
	for _, x := range s.nested(a) {
		for _, y := range s.nested(b) {
			both := x.Overlap(y.Interval)
			each := x.has == b.Lock && y.has == a.Lock && a.Client != b.Client && s.earlier(x.Interval, y.Interval, a, b)
			if each && both.From == c.From && both.To == c.To && !both.Empty() {
				return []string{fmt.Sprintf("From %s to %s, %s held lock %s and waited for lock %s, while %s held lock %s and waited for "+
					"lock %s.",
					seconds(c.From), seconds(c.To), a.Client, x.has, a.Lock, b.Client, y.has, b.Lock)}, nil
			}
		}
	}
	return nil, errors.New("the record does not show that each of the two clients held the lock that the other one waited for all " +
		"the time")
}

// earlier reports whether the first of two requests is to be named first.
func (s *scene) earlier(x, y history.Interval, a, b *history.Grant) bool {
	return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(slices.Index(s.Grants, a), slices.Index(s.Grants, b))) < 0
}

// nestedWait is a wait for one lock under another one.
type nestedWait struct {
	has string
	history.Interval
}

// nested are the times in which the client of a request waited for its lock and held another one, which it had before.
func (s *scene) nested(g *history.Grant) (out []nestedWait) {
	if g.Acquire == nil || g.Acquire.Invoke.F() != history.FAcquire {
		return nil
	}
	end := s.Events[len(s.Events)-1].Time
	wait := history.Interval{From: g.Acquire.Start(), To: end}
	if kill, killed := s.Kills[g.Client]; g.Acquire.Return != nil {
		wait.To = g.Acquire.Return.Time
	} else if killed {
		wait.To = kill
	}
	for _, h := range s.Grants {
		upgrade := h.Mode == history.ModeShared && g.Mode != history.ModeShared // a reader waits to be the writer
		if h.Client != g.Client || (h.Lock == g.Lock && !upgrade) || !h.Granted() || s.belief(h).Empty() {
			continue
		}
		hold := s.belief(h)
		if len(h.Releases) == 0 && g.Acquire.Return == nil && !s.Leased() {
			hold.To = end
		}
		if both := wait.Overlap(hold); hold.From <= wait.From && !both.Empty() {
			out = append(out, nestedWait{h.Lock, both})
		}
	}
	return out
}

// How much later somebody must have asked to have overtaken a client: longer where its request may have been under way for
// longer.
const (
	fairMargin = int64(100e6)
	slowMargin = int64(1e9)
)

// overtaken: of a lock that promises the order of requests, others who asked clearly later were granted first, and neither a
// fault nor the host explains that.
//
//nolint:gocyclo // one question with its excuses
func (s *scene) overtaken(c Claim) (story []string, err error) {
	g := s.ByID[one(c.Grants)]
	ended := g != nil && queues(g) && (g.Granted() ||
		(g.Acquire.Outcome() == history.Fail && g.Acquire.Return.Code() == history.ErrBusy))
	if !ended || g.Acquire.Start() != c.From || g.Acquire.End() != c.To || !s.Run.Fair {
		return nil, errors.New("the finding must name one wait, from its beginning to its end, for a lock that promises an order")
	}
	wait := history.Interval{From: c.From, To: c.To}
	var still []history.Interval
	for _, part := range s.standstills(func(string) bool { return true }) {
		if part.To-part.From > fairMargin/10 {
			still = append(still, part.Interval)
		}
	}
	before := s.ByLock[g.Lock][:slices.Index(s.ByLock[g.Lock], g)]
	first := !slices.ContainsFunc(before, func(o *history.Grant) bool { return o.Client == g.Client && o.Granted() })
	held := covered(wait, still)
	if first = first || !g.Granted(); first {
		held = covered(wait, still, s.busy())
	}
	place := c.From + fairMargin
	if held > 0 || first {
		place = c.From + slowMargin + held
	}
	n := 0
	for _, o := range s.ByLock[g.Lock] {
		if o != g && s.queued(o) && o.Acquire.Start() > place && o.From() < c.To {
			n++
		}
	}
	faults := slices.ContainsFunc(s.Faults, func(f *history.Injection) bool {
		return f.Effective() && !f.Aftermath(s.Run.Recovery).Overlap(wait).Empty()
	})
	if n == 0 || faults || (s.Run.Ends != history.EndsNever && 2*s.longest(wait, still, first) >= s.Run.TTL) {
		return nil, fmt.Errorf("the record does not show that clients with later requests got lock %s before the client of grant %s, "+
			"or a fault or the host explains it", g.Lock, g.ID)
	}
	return []string{fmt.Sprintf("%s waited for lock %s from %s to %s; meanwhile clients that had asked later got the lock first "+
		"(grants: %d).",
		g.Client, g.Lock, seconds(c.From), seconds(c.To), n)}, nil
}

// queued reports whether a grant was waited for, and has a place in a queue.
func (s *scene) queued(g *history.Grant) bool { return g.Granted() && queues(g) }

// queues reports whether an attempt waits, and has a place in a queue.
func queues(g *history.Grant) bool {
	return g.Acquire != nil && g.Mode != history.ModeShared && g.Acquire.Invoke.F() == history.FAcquire
}

// longest is for how long the host stood still in a wait at a time; busy counts as well where it is the first one of its client.
func (s *scene) longest(wait history.Interval, still []history.Interval, busy bool) (most int64) {
	if busy {
		still = slices.Concat(still, s.busy())
	}
	end := int64(0)
	slices.SortFunc(still, func(a, b history.Interval) int { return cmp.Compare(a.From, b.From) })
	from := int64(0)
	for _, i := range still {
		if i.From > end {
			from = i.From
		}
		end = max(end, i.To)
		part := wait.Overlap(history.Interval{From: from, To: end})
		most = max(most, part.To-part.From)
	}
	return most
}

// refusedValid: the fence refused the newest grant while nothing had ended it.
//
//nolint:gocyclo // one question with its excuses
func (s *scene) refusedValid(c Claim) (story []string, err error) {
	of, err := s.granted(c, 1)
	if err != nil {
		return nil, err
	}
	g := of[0]
	refused := slices.ContainsFunc(s.Registered, func(e *history.Event) bool {
		return e.Grant() == g.ID && e.Code() == history.ErrStaleToken && e.Time == c.From
	}) || slices.ContainsFunc(g.Uses, func(u *history.Call) bool { // of a resource that keeps no log
		return len(s.Registered) == 0 && u.Return != nil && u.Return.Code() == history.ErrStaleToken && u.Return.Time == c.From
	})
	kill, killed := s.Kills[g.Client]
	switch {
	case !refused || c.To != c.From:
		return nil, fmt.Errorf("the events do not show that a request under grant %s was refused at the time of the finding", g.ID)
	case (s.Leased() && c.From >= g.RunsOut(s.Run.Tolerance)) || (killed && s.Run.Ends == history.EndsProcess && kill <= c.From):
		return nil, fmt.Errorf("grant %s was not valid when the fence refused it: its lease had run out, or its client was dead", g.ID)
	case slices.ContainsFunc(s.Grants, func(o *history.Grant) bool { return s.CutOff(o.Client) && s.Last[o.Client] < c.From }):
		return nil, errors.New("a log is cut off before the refusal, so nobody knows whether a newer grant was made")
	}
	for _, o := range s.ByLock[g.Lock] {
		newer := o.Token().Set && o.Token().V > g.Token().V
		if o != g && o.Granted() && newer && o.Sent() <= c.From && o.From() >= g.Sent() {
			return nil, fmt.Errorf("grant %s is newer than grant %s, so the fence was right to refuse the older grant", o.ID, g.ID)
		}
	}
	return []string{fmt.Sprintf("The fence refused a request under grant %s at %s, although no other grant of lock %s is newer.",
		g.ID, seconds(c.From), g.Lock)}, nil
}

// releaseOfNone: the store carried out a release under an attempt that nobody was granted, and whose owner held nothing else.
func (s *scene) releaseOfNone(c Claim) (story []string, err error) {
	if len(c.Grants) == 2 {
		return s.releaseOfUnknown(c)
	}
	g := s.ByID[one(c.Grants)]
	if g == nil || (g.Acquire != nil && g.Acquire.Outcome() != history.Fail) {
		return nil, errors.New("the finding must name one request that the store had refused, or that nobody made")
	}
	for _, rel := range g.Releases {
		if rel.Outcome() == history.OK && rel.Start() == c.From && rel.End() == c.To && !s.ownsAnother(g, rel) {
			return []string{fmt.Sprintf("The store carried out the release of grant %s at %s, although no client had got this grant.",
				g.ID, seconds(c.To))}, nil
		}
	}
	return nil, fmt.Errorf("the record does not show that the store carried out a release of grant %s at the time of the finding, "+
		"or its owner may have held the lock under another grant", g.ID)
}

// releaseOfUnknown: the second grant lasted since before the first one was asked for, with an outcome that nobody knows, until a
// release under that was carried out, and its client was then told that it does not hold the lock. Nobody else touched the lock
// meanwhile.
func (s *scene) releaseOfUnknown(c Claim) (story []string, err error) {
	g, h := s.ByID[c.Grants[0]], s.ByID[c.Grants[1]]
	lasts := s.Run.Ends == history.EndsLease || s.Run.Ends == history.EndsNever
	if g == nil || h == nil || g.Acquire == nil || g.Acquire.Outcome() != history.Info || !h.Granted() || g.Lock != h.Lock ||
		!lasts {
		return nil, errors.New("the finding must name a request of unknown outcome and a grant of the same lock, which ends with its " +
			"lease or never")
	}
	if g.Acquire.Start() < h.From() || g.Client == h.Client || history.SameOwner(g, h) || s.Model.Together(g, h) {
		return nil, fmt.Errorf("grant %s does not show another client that held the lock when grant %s was asked for", h.ID, g.ID)
	}
	i := slices.IndexFunc(g.Releases, func(r *history.Call) bool {
		return r.Outcome() == history.OK && r.Start() == c.From && r.End() == c.To
	})
	if i < 0 {
		return nil, fmt.Errorf("no release of grant %s was carried out at the time of the finding", g.ID)
	}
	rel := g.Releases[i]
	if !s.inForce(h, rel) || s.serverHurt(h, rel) {
		return nil, fmt.Errorf("the record does not show that the release took the lock of grant %s away", h.ID)
	}
	if x := s.between(g, h, rel); x != nil {
		return nil, fmt.Errorf("grant %s was given or released meanwhile", x.ID)
	}
	return s.sawWhole(c), nil
}

// between is a grant, beside two, that was given or released from the second one's answer to a release's; nil: there is none.
func (s *scene) between(g, h *history.Grant, rel *history.Call) *history.Grant {
	for _, x := range s.ByLock[g.Lock] {
		touched := x.Granted() && x.From() > h.From() && x.Sent() < rel.End()
		for _, r := range x.Releases {
			touched = touched || r.Outcome() != history.Fail && r.End() > h.From() && r.Start() < rel.End()
		}
		if touched && x != g && x != h {
			return x
		}
	}
	return nil
}

// ownsAnother reports whether the owner of an attempt may have held the lock by another one when a release was carried out.
func (s *scene) ownsAnother(g *history.Grant, rel *history.Call) bool {
	return (g.Owner != "" || s.Model.Shares()) && slices.ContainsFunc(s.ByLock[g.Lock], func(h *history.Grant) bool {
		back := func(c *history.Call) bool { return c.Outcome() == history.OK && c.End() < rel.Start() }
		switch {
		case h == g || h.Acquire == nil || h.Acquire.Outcome() == history.Fail || h.Acquire.Start() > rel.End() ||
			!history.SameOwner(g, h):
			return false
		case !h.Granted():
			return true
		}
		return !slices.ContainsFunc(h.Releases, back) && !s.over(h, rel.Start())
	})
}
