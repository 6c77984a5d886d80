package causes

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// ShortRenewal reports by how much less a renewal extended a lease than the grant did, both counted from their
// requests by the recorded time to live and deadline. A library takes its allowance for drift off both. It covers
// only leases of grants: the length of a session is the store's decision.
func (in Causes) ShortRenewal(g *history.Grant, rn *history.Call) (by int64, short bool) {
	if in.Run.Ends != history.EndsLease || g.InSession() || !g.Granted() || rn.Outcome() != history.OK {
		return 0, false
	}
	full, known := lasts(g.Acquire.Return)
	got, told := lasts(rn.Return)
	by = full - got
	return by, known && told && by > in.Run.Tolerance
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
	rn := g.RenewedBy(at)
	if rn == nil {
		return checker.Cause{}, false
	}
	by, short := in.ShortRenewal(g, rn)
	if d := g.DeadlineAt(at); !short || at >= d.V+by-in.Run.Tolerance {
		return checker.Cause{}, false
	}
	got, _ := lasts(rn.Return)
	return checker.Cause{Kind: checker.CauseRenewal, Text: fmt.Sprintf("short renewal: at %s the client's library extended the "+
		"lease of grant %s by %s, %s less than the grant had",
		checker.Seconds(rn.Return.Sent().V), g.ID, checker.Millis(got), checker.Millis(by))}, true
}
