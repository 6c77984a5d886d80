package liveness

import "github.com/lockstorm/lockstorm/history"

// askers are the living clients that asked for a lock in one mode in the final sections, and
// those of them that were granted it in time.
type askers struct {
	mode        string
	asked, back map[string]bool
	late        map[string]*lateAsker
	heard       map[string]bool // whose request was sent after all was healed, or from before and answered; not late in the bound
}

// askersOf are those of a lock, by mode. A mode of the whole run that nobody asks for in the end
// is one with nobody.
func (in question) askersOf(lock string, span history.Interval) []*askers {
	var out []*askers
	of := map[string]*askers{}
	for _, g := range in.ByLock[lock] {
		if g.Acquire == nil {
			continue
		}
		a := of[g.Mode]
		if a == nil {
			a = &askers{
				mode: g.Mode, asked: map[string]bool{}, back: map[string]bool{}, heard: map[string]bool{},
				late: map[string]*lateAsker{},
			}
			of[g.Mode] = a
			out = append(out, a)
		}
		if _, killed := in.Kills[g.Client]; killed || over(g.Acquire, span.From) {
			continue
		}
		if start := g.Acquire.Start(); !g.Granted() && start > span.From+(span.To-span.From)/2 {
			l := a.late[g.Client]
			if l == nil {
				l = &lateAsker{}
				a.late[g.Client] = l
			}
			l.add(g.Acquire, in.Events[len(in.Events)-1].Time)
			continue
		}
		a.asked[g.Client] = true
		inTime := g.Acquire.Start() <= span.From+(span.To-span.From)/2 &&
			(g.Acquire.Start() >= span.From || g.Acquire.Outcome() != history.Info)
		a.heard[g.Client] = a.heard[g.Client] || inTime
		if g.Granted() && g.From() >= span.From && g.From() <= span.To {
			a.back[g.Client] = true
		}
	}
	for _, a := range out {
		for client, l := range a.late {
			if !l.hardly(in.Run) {
				a.asked[client] = true
			}
		}
	}
	return out
}

// over reports whether an attempt says nothing of what comes after a moment: it was answered
// before, or asked once, before. One without an answer is still waited for.
func over(acquire *history.Call, from int64) bool {
	if acquire.Return == nil {
		return false
	}
	once := acquire.Invoke.F() == history.FTryAcquire && acquire.Outcome() == history.Fail
	return acquire.Return.Time < from || (once && acquire.Start() < from)
}

// lateAsker is a client that asked for a lock only when half of the bound was over.
type lateAsker struct {
	history.Interval      // from its first such request to the end of the last
	refused          bool // somebody had the lock then
}

// add takes one more of its attempts; one without an answer lasts until the end of the record.
func (l *lateAsker) add(c *history.Call, end int64) {
	if c.Return != nil {
		end = c.Return.Time
	}
	span := history.Interval{From: c.Start(), To: end}
	if l.To == 0 {
		l.Interval = span
	}
	l.Interval = history.Interval{From: min(l.From, span.From), To: max(l.To, span.To)}
	l.refused = l.refused || (c.Outcome() == history.Fail && c.Return.Code() == history.ErrBusy)
}

// hardly reports whether that says nothing: it asked for less than a time to live, being busy elsewhere before. What never ends
// by itself was in its way also in a moment.
func (l *lateAsker) hardly(run history.Run) bool {
	return l.To-l.From < run.TTL && (!l.refused || run.Ends != history.EndsNever)
}
