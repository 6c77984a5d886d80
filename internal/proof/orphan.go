package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// keeper is a grant or an attempt that the store may have held for nobody, and when at most.
type keeper struct {
	g *history.Grant
	history.Interval
}

// orphaned: for a part of a ttl nobody took himself for the holder, somebody asked for the lock all the time, and the grants of
// the finding are those that the store may have kept.
func (s *scene) orphaned(c Claim) (story []string, err error) {
	wrong := errors.New("it was not exactly in the time of the finding that nobody had the lock while a client asked for it, " +
		"or other grants may have kept it")
	if len(c.Grants) == 0 || s.ByID[c.Grants[0]] == nil || c.Reason != neverReleased {
		return nil, wrong
	}
	lock, found := s.ByID[c.Grants[0]].Lock, history.Interval{From: c.From, To: c.To}
	byOK := slices.DeleteFunc(slices.Clone(s.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortStableFunc(byOK, func(a, b *history.Grant) int { return cmp.Compare(a.From(), b.From()) })
	keepers := s.keepers(lock, byOK)
	for _, free := range s.free(lock) {
		if free.Overlap(found) != found {
			continue
		}
		asker, who, span := s.askedIn(free, lock, byOK, keepers)
		if span != found || span.To-span.From < s.Run.TTL/4 || !slices.Equal(s.suspects(who), c.Grants) {
			return nil, wrong
		}
		return []string{fmt.Sprintf("%s asked for lock %s during the whole time from %s to %s, and no client believed that it held "+
			"the lock.",
			asker.Client, lock, seconds(c.From), seconds(c.To))}, nil
	}
	return nil, wrong
}

// suspects names keepers, the most suspicious first, the later before the earlier.
func (s *scene) suspects(who []keeper) (ids []string) {
	slices.SortStableFunc(who, func(a, b keeper) int { return cmp.Or(suspicion(b.g)-suspicion(a.g), cmp.Compare(b.From, a.From)) })
	for _, k := range who {
		ids = append(ids, k.g.ID)
	}
	return ids
}

// suspicion ranks what may keep a lock: above all who never tried to give it back, then who did, then attempts. 0: it was given
// back.
func suspicion(g *history.Grant) int {
	switch {
	case gaveBack(g) != nil:
		return 0
	case !g.Granted():
		return 1
	case len(g.Releases) > 0:
		return 2
	}
	return 3
}

// free are the times, each up to the next grant, in which nobody believes that he holds a lock or waits for the answer to its
// release.
func (s *scene) free(lock string) (out []history.Interval) {
	var holds []history.Interval
	for _, g := range s.ByLock[lock] {
		if !g.Granted() || s.belief(g).Empty() {
			continue
		}
		hold := s.belief(g)
		if back := gaveBack(g); back != nil && hold.To >= back.Start() {
			hold.To = max(hold.To, back.End())
		}
		holds = append(holds, hold)
	}
	slices.SortFunc(holds, func(a, b history.Interval) int { return cmp.Compare(a.From, b.From) })
	end := int64(0)
	for _, h := range holds {
		if h.From > end {
			out = append(out, history.Interval{From: end, To: h.From})
		}
		end = max(end, h.To)
	}
	return out
}

// mostAskers is among how many of the next grants one is looked for whose client had asked all the time.
const mostAskers = 20

// askedIn is the longest last part of a free time in which a client asked for the lock that was granted it then, unhurt, and
// those that may have stood in its way.
func (s *scene) askedIn(free history.Interval, lock string, byOK []*history.Grant, keepers []keeper) (
	asker *history.Grant, who []keeper, best history.Interval,
) {
	i, _ := slices.BinarySearchFunc(byOK, free.To, func(g *history.Grant, at int64) int { return cmp.Compare(g.From(), at) })
	next := byOK[i:min(i+mostAskers, len(byOK))]
	for _, h := range next {
		if h.Sent() > h.Acquire.Start()+s.Run.Tolerance {
			free.To = min(free.To, h.Sent())
		}
	}
	since := s.askedSince(lock)
	for _, h := range next {
		part := history.Interval{From: max(free.From, since[h]), To: free.To}
		for _, f := range s.Faults {
			if f.Effective() && f.Hurts(h.Client) && f.Invoke.Time < free.To {
				part.From = max(part.From, min(f.Until(), free.To))
			}
		}
		last := history.Interval{From: unset}
		for _, stall := range s.stalled(h.Client) {
			if stall.From < free.To && stall.From >= last.From && stall.To-stall.From > s.Run.TTL/10 {
				last = stall
			}
		}
		part.From = max(part.From, min(last.To, free.To))
		var by []keeper
		to := int64(0)
		for _, k := range keepers {
			later := k.g.Granted() && k.g.From() >= part.To
			if !later && k.g != h && !k.Overlap(part).Empty() && !s.Model.Together(k.g, h) {
				by, to = append(by, k), max(to, k.To)
			}
		}
		if part.To = min(part.To, to); part.To-part.From > best.To-best.From {
			asker, who, best = h, by, part
		}
	}
	return asker, who, best
}

// askedSince is since when the client of each grant had asked for it: refused attempts count that follow each other closely.
func (s *scene) askedSince(lock string) map[*history.Grant]int64 {
	type chain struct{ since, last int64 }
	chains, out := map[string]chain{}, map[*history.Grant]int64{}
	for _, g := range s.ByLock[lock] {
		if g.Acquire == nil {
			continue
		}
		c, trying := chains[g.Client]
		if !trying || g.Acquire.Start()-c.last > s.Run.TTL/10 {
			c.since = g.Acquire.Start()
		}
		switch g.Acquire.Outcome() {
		case history.OK:
			out[g] = c.since
			delete(chains, g.Client)
		case history.Fail:
			c.last = g.Acquire.End()
			chains[g.Client] = c
		default:
			delete(chains, g.Client)
		}
	}
	return out
}

// keepers are those of a lock, in order of their requests: all that nothing on record excludes.
func (s *scene) keepers(lock string, byOK []*history.Grant) (out []keeper) {
	lasts := s.lasts(lock)
	for _, g := range s.ByLock[lock] {
		if g.Acquire == nil || g.Acquire.Outcome() == history.Fail {
			continue
		}
		k := keeper{g, history.Interval{From: g.Sent(), To: history.Forever}}
		if back := gaveBack(g); back != nil && g.Granted() {
			if s.belief(g).To >= back.Start() {
				continue
			}
			k.To = back.End()
		}
		if s.Leased() {
			k.To = min(k.To, lasts[g])
		}
		if k.To = min(k.To, s.succeeded(byOK, g)); !k.Empty() {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b keeper) int { return cmp.Compare(a.From, b.From) })
	return out
}

// succeeded is when it was known that somebody else had the lock after a grant or an attempt.
func (s *scene) succeeded(byOK []*history.Grant, g *history.Grant) int64 {
	known := s.gaveUpOn(g.Acquire)
	if !g.Granted() {
		known = s.arrived(known+s.Run.TTL, g) + s.Run.TTL
	}
	i, _ := slices.BinarySearchFunc(byOK, known+1, func(g *history.Grant, at int64) int { return cmp.Compare(g.From(), at) })
	for _, h := range byOK[i:] {
		certain := g.Granted() && (!s.Leased() || h.From() < h.RunsOut(s.Run.Tolerance))
		if h != g && !s.Model.Together(g, h) && (h.Sent() > known || certain) {
			return h.From()
		}
	}
	return history.Forever
}

// lasts is when the lease of each grant or attempt had run out at the latest. Where the store counts, an owner who enters again
// renews what it has.
func (s *scene) lasts(lock string) map[*history.Grant]int64 {
	out := map[*history.Grant]int64{}
	made := slices.DeleteFunc(slices.Clone(s.ByLock[lock]), func(g *history.Grant) bool {
		return g.Acquire == nil || g.Acquire.Outcome() == history.Fail
	})
	slices.SortStableFunc(made, func(a, b *history.Grant) int { return cmp.Compare(a.Sent(), b.Sent()) })
	type owner struct{ client, owner string }
	tenure := map[owner][]*history.Grant{}
	for _, g := range made {
		if out[g] = s.lastsUntil(g); !s.Model.Counts() {
			continue
		}
		o := owner{g.Client, g.Owner}
		if before := tenure[o]; len(before) > 0 && g.Sent() > out[before[0]] {
			tenure[o] = nil
		}
		tenure[o] = append(tenure[o], g)
		for _, h := range tenure[o] {
			out[h] = max(out[h], out[g], out[tenure[o][0]])
		}
	}
	return out
}

// lastsUntil returns the latest end of one grant: with every renewal that may have been applied, and half a lease
// more, since stores may be slow to notice. An attempt may have reached the store late.
func (s *scene) lastsUntil(g *history.Grant) int64 {
	ttl := s.Run.TTL
	slow := ttl/2 + s.Run.Tolerance + s.Run.Recovery
	kill, killed := s.Kills[g.Client]
	end, renews := int64(0), g.Renews
	switch {
	case g.InSession():
		renews = g.Under.Renews
		if created := g.Under.Created; created != nil {
			end = created.Time + created.TTL().Or(ttl)
		}
	case !g.Granted() && killed:
		return kill + 2*ttl + slow
	case s.Run.Ends == history.EndsSession:
		return history.Forever
	case !g.Granted():
		return s.arrived(s.gaveUpOn(g.Acquire)+ttl, g) + ttl + slow
	case !g.Acquire.Return.TTL().Set || !g.Acquire.Return.Deadline().Set:
		return history.Forever
	default:
		end = g.From() + g.Acquire.Return.TTL().V
	}
	for _, rn := range renews {
		if rn.Outcome() == history.OK {
			end = max(end, rn.End()+rn.Return.TTL().Or(ttl))
		} else if rn.Outcome() == history.Info && rn.Start() < end {
			end += ttl
		}
	}
	return end + slow
}

// arrived is the last moment at which a request reached the store that would have been there by another one: servers that stood
// still took it afterwards.
func (s *scene) arrived(at int64, g *history.Grant) int64 {
	for _, f := range s.Faults {
		if f.Family == history.FamilyServer && f.Began() < at && f.OfServersOf(g) && f.Effective() {
			at = max(at, f.Span().To)
		}
	}
	return at
}
