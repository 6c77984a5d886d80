package causes

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// toldLate reports whether the client of a grant was inside too long because its library had not told it: the clients
// of the run go by the library's signals, the library renews its leases, and the client was held up neither by a
// fault of its own nor by the host nor by us. Faults of links and of servers hold no client up: the signal exists for
// them.
//
//	lease   |-------------| ends
//	library               |........ tolerance ....| signal, or none
//	client  |-- acts as the holder ---------------|
func (in Causes) toldLate(g *history.Grant, o facts.Overlap) bool {
	d := g.DeadlineAt(o.Span.From)
	if !d.Set || o.Span.From < d.V-in.Run.Tolerance {
		return false
	}
	late, known := in.SignalLate(g)
	return known && in.heldBy(in.overlapLateness(g, o)) == nil && !in.hostLate(g, late)
}

// hostLate reports whether the host, or we, account for most of what a library was late with its
// signal: held up, it cannot tell. Stalls that are too short to be on record add up. So do the host's stalls and the faults that
// held it up until it told, whichever began last, where neither is enough.
func (in Causes) hostLate(g *history.Grant, late int64) bool {
	end := in.toldBy(g)
	span := history.Interval{From: g.DeadlineAt(end).V - in.Run.TTL, To: end} // from the last confirmed renewal on
	short := max(2*in.Run.Tolerance, late/10)
	host := in.HeldUp(span, in.Stands()[g.Client], in.StallsOf(g.Client))
	return late <= short || (host > 0 && late-in.HeldUp(span, in.Stands()[g.Client], in.StallsOf(g.Client),
		in.Stops(g.Client, end)) <= short)
}

// Stops returns when faults that struck before a moment held a client itself up, in order.
func (in Causes) Stops(client string, before int64) (out []history.Interval) {
	for _, f := range in.Faults {
		if f.Family == history.FamilyClient && f.Effective() && f.Late(client) && f.Began() < before {
			out = append(out, f.Span())
		}
	}
	slices.SortFunc(out, facts.ByFrom)
	return out
}

// toldBy is until when the client of a grant was not told that it had lost the lock: until it was, or ended its tenure or, where
// its library has a method to ask, until that last said yes.
func (in Causes) toldBy(g *history.Grant) int64 {
	end := min(g.ToldLost(), in.GaveUp(g))
	if in.Run.ByDeadline() {
		end = min(end, g.Assured.Or(end))
	}
	return end
}

// SignalLate returns how long after the end of its lease the holder of a grant was told, or ended its tenure untold.
// known is false where there was nothing to tell, and where telling is not the library's task: its leases are not its
// own to renew, or its clients do not go by its signals.
func (in Causes) SignalLate(g *history.Grant) (late int64, known bool) {
	if in.Run.Discipline != history.Told || !g.Granted() || (!g.Assured.Set && (!in.Run.Renews || in.Run.ByDeadline())) {
		return 0, false
	}
	end := in.toldBy(g)
	d := g.DeadlineAt(end)
	if !d.Set || end <= d.V || end < g.From() || in.CutOff(g.Client) { // told before it was granted: it held nothing then
		return 0, false
	}
	return end - d.V, true
}

// Signal says how the library of a grant reported the loss.
func (in Causes) Signal(g *history.Grant) string {
	late, _ := in.SignalLate(g)
	if in.Run.ByDeadline() {
		return fmt.Sprintf("still said that the lock is held, %s later", checker.Millis(late))
	}
	if g.ToldLost() < history.Forever {
		return fmt.Sprintf("reported the loss %s later", checker.Millis(late))
	}
	return fmt.Sprintf("had still not reported the loss %s later", checker.Millis(late))
}
