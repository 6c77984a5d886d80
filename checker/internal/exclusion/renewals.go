package exclusion

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// shortRenewals are the grants whose library renewed their lease for less than it could have: that is its own doing, and another
// library cures it. One finding for each grant, of its shortest renewal.
func (in question) shortRenewals() (out []checker.Finding) {
	if in.Run.NoDeadlines || in.Run.NoClock {
		return nil
	}
	for _, g := range in.Grants {
		var shortest *history.Call
		most, n := int64(0), 0
		for rn, by := range in.ShortRenewals(g) {
			if n++; by > most {
				shortest, most = rn, by
			}
		}
		if n == 0 {
			continue
		}
		e := shortest.Return
		events := []int64{g.Acquire.Return.Index, shortest.Invoke.Index, e.Index}
		slices.Sort(events)
		f := checker.Finding{
			Rule: ruleShortRenewal, Class: checker.Defect, Reason: checker.ReasonRenewedShort, Gating: true, Grants: []string{g.ID},
			Events: events, From: e.Sent().V, To: e.Time,
			Message: fmt.Sprintf("the library of %s renewed its lease on lock %s (grant %s) at %s for %s, which is %s less than the "+
				"lease had at first (%s)",
				g.Client, g.Lock, g.ID, checker.Seconds(e.Sent().V), checker.Millis(min(e.TTL().V, e.Deadline().V-e.Sent().V)),
				checker.Millis(most), checker.Count(n, "short renewal")),
		}
		f.Because(checker.Cause{Kind: checker.CauseRenewal, Text: "the library asks for less than the time to live"})
		out = append(out, f)
	}
	return out
}

const ruleShortRenewal = "short-renewal"

// maxShort is how many of them are listed: one says as much as all.
const maxShort = 10
