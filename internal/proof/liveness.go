package proof

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// neverReleased is the reason of an orphan.
const neverReleased = "never-released"

// liveness: a lock did not come back after all faults, in the time that the run gives it; or nobody had it for a while although
// it was asked for.
func (s *scene) liveness(c Claim) (story []string, err error) {
	from, tested := s.Phases[history.PhaseFinal]
	span := history.Interval{From: from, To: from + s.Run.LivenessBound}
	switch {
	case s.End == nil || !tested:
		return nil, errors.New("the record does not contain the recovery test (after all faults, each client acquires each lock " +
			"once more)")
	case s.lastHeal() > from:
		return nil, errors.New("a fault was still active when the recovery test began")
	}
	lost := false
	for _, lock := range s.Locks {
		askers := s.askers(lock, span)
		for _, mode := range slices.Sorted(maps.Keys(askers)) { // the story is always of the same client
			rule, grants, stuck := s.inVain(lock, askers[mode], span)
			lost = lost || rule != ""
			if rule != "" && rule == c.Rule && slices.Equal(grants, c.Grants) && c.From == span.From && c.To == span.To {
				if mode != "" {
					lock += " (" + mode + ")"
				}
				return []string{fmt.Sprintf("%s requested lock %s, but did not get it in the recovery test, from %s to %s.",
					stuck, lock, seconds(c.From), seconds(c.To))}, nil
			}
		}
	}
	if c.Rule == orphan && !lost {
		return s.orphaned(c)
	}
	return nil, errors.New("the lock came back in the recovery test, or not as the finding says: its rule, grants or times " +
		"are wrong")
}

const orphan = "orphan"

// lastHeal is from when on no fault was at work any more.
func (s *scene) lastHeal() (last int64) {
	for _, f := range s.Faults {
		if f.Effective() {
			last = max(last, f.Until())
		}
	}
	for _, kill := range s.Kills {
		last = max(last, kill)
	}
	return last
}

// asker is who asked for a lock in one mode in the recovery test, and who of them was granted it.
type asker struct{ asked, back map[string]bool }

// late is what a client asked for when half of the bound was over.
type late struct {
	history.Interval
	refused bool
}

// askers are those of a lock by mode. Who died, and attempts that were over before, do not count; nor does who asked late for a
// moment.
//
//nolint:gocyclo // one pass over the attempts
func (s *scene) askers(lock string, span history.Interval) map[string]asker {
	out, half := map[string]asker{}, span.From+(span.To-span.From)/2
	lates := map[[2]string]late{}
	for _, g := range s.ByLock[lock] {
		if g.Acquire == nil {
			continue
		}
		a, known := out[g.Mode]
		if !known {
			a = asker{map[string]bool{}, map[string]bool{}}
			out[g.Mode] = a
		}
		ret, call := g.Acquire.Return, history.Interval{From: g.Acquire.Start(), To: s.Events[len(s.Events)-1].Time}
		once := g.Acquire.Invoke.F() == history.FTryAcquire && g.Acquire.Outcome() == history.Fail && call.From < span.From
		if _, killed := s.Kills[g.Client]; killed || (ret != nil && (ret.Time < span.From || once)) {
			continue
		}
		if ret != nil {
			call.To = ret.Time
		}
		if g.Granted() || call.From <= half {
			a.asked[g.Client] = true
			a.back[g.Client] = a.back[g.Client] || (g.Granted() && g.From() >= span.From && g.From() <= span.To)
			continue
		}
		l, again := lates[[2]string{g.Mode, g.Client}]
		if again {
			call = history.Interval{From: min(l.From, call.From), To: max(l.To, call.To)}
		}
		busy := ret != nil && ret.Type() == history.Fail && ret.Code() == history.ErrBusy
		lates[[2]string{g.Mode, g.Client}] = late{call, l.refused || busy}
	}
	for who, l := range lates {
		if l.To-l.From >= s.Run.TTL || (l.refused && s.Run.Ends == history.EndsNever) {
			out[who[0]].asked[who[1]] = true
		}
	}
	return out
}

// inVain is the rule that was broken where a client of those that asked was not granted the lock, and who may have kept it.
//
//nolint:gocyclo // one question with its excuses
func (s *scene) inVain(lock string, a asker, span history.Interval) (rule string, grants []string, stuck string) {
	for client := range a.asked {
		if !a.back[client] && (stuck == "" || client < stuck) {
			stuck = client
		}
	}
	if stuck == "" {
		return "", nil, ""
	}
	held := map[string]bool{} // when all was healed
	var through *history.Grant
	for _, g := range s.ByLock[lock] {
		if !g.Granted() {
			continue
		}
		hold := s.belief(g)
		held[g.Client] = held[g.Client] || (!hold.Empty() && hold.From <= span.From && hold.To > span.From)
		if through == nil && !hold.Empty() && hold.From <= span.From && hold.To >= span.To-(span.To-span.From)/10 {
			through = g
		}
	}
	for client, back := range a.back {
		if back && !held[client] {
			return "starved", nil, stuck
		}
	}
	if through != nil {
		if pair := s.lockedUp(through.Client, span); pair != nil {
			return "deadlocked", pair, stuck
		}
		return "no-recovery", nil, stuck
	}
	if grants = s.keptBy(lock, span.To); len(grants) > 0 {
		return orphan, grants, stuck
	}
	return "no-recovery", nil, stuck
}

// lockedUp are the requests by which a client and another one waited for each other for nearly all of a span, and before it.
func (s *scene) lockedUp(client string, span history.Interval) []string {
	end := span.From + (span.To-span.From)*9/10
	type wait struct {
		nestedWait
		g *history.Grant
	}
	var waits []wait
	for _, g := range s.Grants {
		for _, w := range s.nested(g) {
			if w.From < span.From && w.To >= end {
				waits = append(waits, wait{w, g})
			}
		}
	}
	slices.SortStableFunc(waits, func(a, b wait) int { return cmp.Compare(a.From, b.From) })
	for i, a := range waits {
		for _, b := range waits[i+1:] {
			named := a.g.Client == client || b.g.Client == client
			if named && a.g.Client != b.g.Client && a.g.Lock == b.has && b.g.Lock == a.has {
				return []string{a.g.ID, b.g.ID}
			}
		}
	}
	return nil
}

// keptBy are the grants for which the store may keep a lock: not given back, and not followed by a grant to somebody who asked
// later. Attempts count where there is no grant; who never tried to give it back comes first, the later before the earlier.
func (s *scene) keptBy(lock string, until int64) (ids []string) {
	var found []*history.Grant
	for _, g := range slices.Backward(s.ByLock[lock]) {
		tried := g.Acquire != nil && g.Acquire.Outcome() != history.Fail && g.Sent() <= until
		if tried && suspicion(g) > 0 && !s.followed(g) {
			found = append(found, g)
		}
	}
	if slices.ContainsFunc(found, func(g *history.Grant) bool { return g.Granted() }) {
		found = slices.DeleteFunc(found, func(g *history.Grant) bool { return !g.Granted() })
	}
	slices.SortStableFunc(found, func(a, b *history.Grant) int { return suspicion(b) - suspicion(a) })
	return lists.Map(found, func(g *history.Grant) string { return g.ID })
}

// gaveBack is the release after which the store says that a grant is over.
func gaveBack(g *history.Grant) *history.Call {
	rel, _ := lists.Find(g.Releases, func(rel *history.Call) bool { return rel.Outcome() == history.OK || rel.NotHeld() })
	return rel
}

// followed reports whether the lock was granted to somebody else who asked for it when a grant, or the end of its attempt, was
// known.
func (s *scene) followed(g *history.Grant) bool {
	since := s.gaveUpOn(g.Acquire)
	return slices.ContainsFunc(s.ByLock[g.Lock], func(h *history.Grant) bool {
		return h != g && h.Granted() && h.Sent() > since && !s.Model.Together(g, h)
	})
}
