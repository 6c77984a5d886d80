package liveness

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// orphanPart is the part of the ttl for which a lock must be out of reach, although
// nobody believes that he holds it, to be called an orphan.
const orphanPart = 4

// askingPart is the part of the ttl up to which a pause between two requests belongs to asking all the time.
const askingPart = 10

// orphans finds locks that nobody was granted for a while although somebody asked for them all
// the time and no client believed that it held them: somebody may have held them without
// knowing of it, after an acquire or a release of unknown outcome, after the death of a holder,
// or because the store kept a lease for longer than its client could believe in it. They are
// findings of their own and do not fail anything: whether the lock comes back is what
// liveness judges.
//
//	c1  acquire ......?
//	c2      |-----------waits, nobody holds-----------|granted
//
// Who of several kept it cannot be told from the record, so a finding names all that may have.
func (in question) orphans(figures checker.Figures) []checker.Finding {
	var out []checker.Finding
	for _, lock := range in.Locks {
		out = append(out, in.orphansOf(lock)...)
	}
	slices.SortStableFunc(out, func(a, b checker.Finding) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	if len(out) > 0 {
		figures["orphan_max_ns"] = out[0].To - out[0].From
	}
	return out[:min(len(out), checker.MaxFindings)]
}

func (in question) orphansOf(lock string) []checker.Finding {
	byOK, tries := in.ByOK(lock), in.tries(lock)
	keepers := in.keepers(lock, byOK)
	var out []checker.Finding
	var active []keeper
	for _, span := range in.freeSpans(lock) {
		for len(keepers) > 0 && keepers[0].From < span.To {
			active, keepers = append(active, keepers[0]), keepers[1:]
		}
		if span.To-span.From < in.Run.TTL/orphanPart {
			continue
		}
		active = slices.DeleteFunc(active, func(k keeper) bool { return k.To <= span.From })
		asker, who, part := in.asked(byOK, tries, active, span)
		if part.To-part.From >= in.Run.TTL/orphanPart {
			out = append(out, in.orphanFinding(lock, asker, who, part))
		}
	}
	return out
}

// orphanFinding names all that may have kept a lock, the most suspicious first.
func (in question) orphanFinding(lock string, asker *history.Grant, who []keeper, span history.Interval) checker.Finding {
	slices.SortStableFunc(who, func(a, b keeper) int {
		return cmp.Or(cmp.Compare(suspicion(b.g), suspicion(a.g)), cmp.Compare(b.From, a.From))
	})
	f := checker.Finding{Rule: "orphan", Class: checker.NoClass, Reason: checker.ReasonNeverReleased, From: span.From, To: span.To}
	var names []string
	for _, k := range who {
		f.Grants = append(f.Grants, k.g.ID)
		f.Events = append(f.Events, k.g.Acquire.Invoke.Index)
		names = append(names, fmt.Sprintf("%s (%s)", k.g.ID, in.abandoned(k.g)))
	}
	slices.Sort(f.Events)
	f.Message = fmt.Sprintf("lock %s was unavailable for %s: %s requested the lock during all of this time, and no client "+
		"believed that it held the lock; perhaps the store still kept the lock for grant %s",
		lock, checker.Millis(span.To-span.From), asker.Client, orOthers(names))
	f.Because(in.orphanCause(who[0].g))
	return f
}

// abandoned is why a grant may be held by nobody.
func (in question) abandoned(g *history.Grant) string {
	switch _, killed := in.Kills[g.Client]; {
	case !g.Granted():
		return "the outcome of the acquire is unknown"
	case len(g.Releases) > 0 && g.Releases[len(g.Releases)-1].Outcome() == history.Info:
		return "the outcome of the release is unknown"
	case killed:
		return "the holder died"
	}
	return "the client no longer believed that it held the lock"
}

// freeSpans are the times in which nobody provably holds the lock or is about to give it back,
// each up to the next grant; the last one, without a grant, is left to liveness.
func (in question) freeSpans(lock string) []history.Interval {
	var holds []history.Interval
	for _, g := range in.ByLock[lock] {
		h := in.Hold(g)
		if h.Empty() {
			continue
		}
		if back, settled := settledBy(g); settled && h.To >= back.Start() {
			h.To = max(h.To, back.End()) // the store has it until it answers
		}
		holds = append(holds, h)
	}
	slices.SortFunc(holds, func(a, b history.Interval) int { return cmp.Compare(a.From, b.From) })
	var out []history.Interval
	end := int64(0)
	for _, h := range holds {
		if h.From > end {
			out = append(out, history.Interval{From: end, To: h.From})
		}
		end = max(end, h.To)
	}
	return out
}

// asked is the last part of a free span in which a client asked for the lock all the time, by
// waiting or by trying again and again, and was granted it at the end or later: in between
// nobody could have it. While a fault hurt that client it could not have had it either. Of
// several clients it is the one that says most, with those that may have stood in its way.
func (in question) asked(byOK []*history.Grant, tries map[*history.Grant]int64, keepers []keeper,
	span history.Interval,
) (asker *history.Grant, who []keeper, best history.Interval) {
	next := byOK[facts.AnsweredAt(byOK, span.To):]
	next = next[:min(len(next), maxAskers)]
	for _, h := range next {
		if h.Sent() > h.Acquire.Start()+in.Run.Tolerance {
			span.To = min(span.To, h.Sent()) // it asked again and again, and may have had it from then on
		}
	}
	for _, h := range next {
		if tries[h] >= span.To {
			continue // it asked later
		}
		from := max(span.From, tries[h])
		for _, f := range in.Faults {
			if f.Effective() && f.Hurts(h.Client) && f.Invoke.Time < span.To {
				from = max(from, min(f.Until(), span.To))
			}
		}
		if s, stood := in.lastStall(h.Client, span.To); stood {
			from = max(from, min(s.To, span.To)) // who stands still for long does not ask
		}
		part := history.Interval{From: from, To: span.To}
		by := in.inTheWay(h, keepers, part)
		if part.To = min(part.To, latest(by)); part.To-part.From > best.To-best.From {
			asker, who, best = h, by, part
		}
	}
	return asker, who, best
}

// lastStall is the last stall of a client that began before a moment and was longer than the pauses of one who asks all the time.
func (in question) lastStall(client string, before int64) (history.Interval, bool) {
	stalls := in.StallsOf(client)
	i := sort.Search(len(stalls), func(i int) bool { return stalls[i].From >= before })
	for _, s := range slices.Backward(stalls[:i]) {
		if s.To-s.From > in.Run.TTL/askingPart {
			return s, true
		}
	}
	return history.Interval{}, false
}

// maxAskers is among how many of the next grants an orphan is looked for.
const maxAskers = 20

// tries is since when the client of each grant had asked for it all the time: refused attempts
// count that follow each other closely.
func (in question) tries(lock string) map[*history.Grant]int64 {
	type chain struct{ since, last int64 }
	chains := map[string]chain{}
	out := map[*history.Grant]int64{}
	for _, g := range in.ByLock[lock] {
		if g.Acquire == nil {
			continue
		}
		c, trying := chains[g.Client]
		if !trying || g.Acquire.Start()-c.last > in.Run.TTL/askingPart {
			c.since = g.Acquire.Start()
		}
		if g.Granted() {
			out[g] = c.since
			delete(chains, g.Client)
			continue
		}
		if g.Acquire.Outcome() != history.Fail {
			delete(chains, g.Client)
			continue
		}
		c.last = g.Acquire.End()
		chains[g.Client] = c
	}
	return out
}
