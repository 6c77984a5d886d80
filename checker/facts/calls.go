package facts

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// CallEnd returns when the client stopped waiting for an answer: at its return, or when it was killed, or at the end
// of its log.
func (in *Facts) CallEnd(c *history.Call) int64 {
	if c.Return != nil {
		return c.Return.Time
	}
	if kill, ok := in.Kills[c.Invoke.Client()]; ok {
		return kill
	}
	return in.Last[c.Invoke.Client()]
}

// AsksOf returns when a client waited for answers, of the lock and of the resource, in order. Waits that meet are one, as that
// for a renewal in the background is with that for a write.
func (in *Facts) AsksOf(client string) []history.Interval { return in.lazy.asks()[client] }

func (in *Facts) findAsks() map[string][]history.Interval {
	out := map[string][]history.Interval{}
	for _, c := range in.Calls {
		out[c.Invoke.Client()] = append(out[c.Invoke.Client()], history.Interval{From: c.Invoke.Time, To: in.CallEnd(c)})
	}
	for client, asks := range out {
		out[client] = Disjoint(asks)
	}
	return out
}

// WaitsOf returns when a client waited for answers of the resource, in order.
func (in *Facts) WaitsOf(client string) []history.Interval {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.waits == nil {
		in.waits = map[string][]history.Interval{}
		for _, g := range in.Grants {
			for _, u := range g.Uses {
				in.waits[g.Client] = append(in.waits[g.Client], history.Interval{From: u.Start(), To: in.CallEnd(u) + 1})
			}
		}
		for _, waits := range in.waits {
			slices.SortFunc(waits, ByFrom)
		}
	}
	return in.waits[client]
}

// GaveUp returns when a client itself ended its tenure: its release, or its death.
func (in *Facts) GaveUp(g *history.Grant) int64 {
	end := g.GaveBack()
	if kill, ok := in.Kills[g.Client]; ok {
		end = min(end, kill)
	}
	return min(end, in.Last[g.Client]+1)
}

// WholeUntil returns the time until which no log was cut off. After it there may be grants that are not on record.
func (in *Facts) WholeUntil() int64 {
	whole := int64(history.Forever)
	for client, last := range in.Last {
		if in.CutOff(client) {
			whole = min(whole, last)
		}
	}
	return whole
}

// Working returns the time in which the workload ran and faults struck.
func (in *Facts) Working() history.Interval {
	work := history.Interval{From: in.Phases[history.PhaseWork], To: history.Forever}
	for _, phase := range []string{history.PhaseQuiet, history.PhaseFinal} {
		if at, known := in.Phases[phase]; known {
			work.To = min(work.To, at)
		}
	}
	return work
}

// ExpiryBase returns the time from which the store may let the grant expire; false where grants do not run out.
func (in *Facts) ExpiryBase(g *history.Grant) (int64, bool) {
	if !in.Leased() {
		return 0, false
	}
	return g.RunsOut(in.Run.Tolerance), true
}

func (in *Facts) findWentOn() map[*history.Grant]bool {
	out := map[*history.Grant]bool{}
	for _, g := range in.Grants {
		if len(g.Releases) > 0 && slices.ContainsFunc(g.Uses, func(u *history.Call) bool { return g.AfterRelease(u) }) {
			out[g] = true
		}
	}
	return out
}
