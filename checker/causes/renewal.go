package causes

import (
	"fmt"
	"iter"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// ShortRenewals returns the renewals of a grant that asked for less than the grant did, with by how much less; both are counted
// from their requests by the recorded time to live and deadline. A library takes its allowance for drift off both. One that asks
// for the end which the lease has anyway, as a library does to see whether it still has the lock, is none; nor is one that the
// host held up, for half of what it is short by, between its clock and its request. They cover only leases of grants: the length
// of a session is the store's decision.
func (in Causes) ShortRenewals(g *history.Grant) iter.Seq2[*history.Call, int64] {
	return func(yield func(*history.Call, int64) bool) {
		if in.Run.Ends != history.EndsLease || g.InSession() || !g.Granted() {
			return
		}
		full, known := lasts(g.Acquire.Return)
		end := g.Acquire.Return.Deadline().V // of the last request for the whole time
		for _, rn := range g.Renews {
			if !known || rn.Outcome() != history.OK {
				continue
			}
			got, told := lasts(rn.Return)
			by, next := full-got, rn.Return.Deadline().V
			late := history.Interval{From: next - full, To: rn.Return.Sent().V}
			switch again := max(next-end, end-next) <= in.Run.Tolerance; {
			case told && by <= in.Run.Tolerance:
				end = next
			case told && !again && !in.sentLate(g.Client, late) && !yield(rn, by):
				return
			}
		}
	}
}

// sentLate reports whether a request left late because of the host, in half of the time or more between when its client must have
// counted the lease from and the request.
func (in Causes) sentLate(client string, span history.Interval) bool {
	held := max(in.waited(span), in.HeldUp(span, in.Stands()[client], in.StallsOf(client)))
	return 2*held >= span.To-span.From
}

// lasts is for how long a lease was asked for, from the request on.
func lasts(e *history.Event) (int64, bool) {
	if !e.Sent().Set || !e.TTL().Set || !e.Deadline().Set {
		return 0, false
	}
	return min(e.TTL().V, e.Deadline().V-e.Sent().V), true
}

// shortened is the renewal that left the lease of a grant so short that it had run out at a moment at which the whole of it would
// still have been running.
func (in Causes) shortened(g *history.Grant, at int64) (checker.Cause, bool) {
	last := g.RenewedBy(at)
	for rn, by := range in.ShortRenewals(g) {
		if rn == last && at < g.DeadlineAt(at).V+by-in.Run.Tolerance {
			got, _ := lasts(rn.Return)
			return checker.Cause{Kind: checker.CauseRenewal, Text: fmt.Sprintf("short renewal: at %s the client's library extended the "+
				"lease of grant %s by %s, %s less than the grant had",
				checker.Seconds(rn.Return.Sent().V), g.ID, checker.Millis(got), checker.Millis(by))}, true
		}
	}
	return checker.Cause{}, false
}
