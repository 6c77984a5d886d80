package waits

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// cost asks what a hand-off costs: what all clients sent to the servers, and read from them, while they
// waited for the lock, over the grants. It is measured where the workload has requests counted, and
// finds nothing wrong.
func cost(in question) checker.Result {
	var sum history.Wire
	handoffs, unasked := int64(0), int64(0)
	work := in.Working()
	for _, g := range in.Grants {
		if g.Acquire == nil || g.Acquire.Return == nil || g.Acquire.Start() < work.From || g.Acquire.Return.Time > work.To {
			continue
		}
		var w history.Wire
		if g.Acquire.Return.Value().Into(&w) != nil {
			continue
		}
		sum.Requests += w.Requests
		sum.Answers += w.Answers
		unasked += max(0, w.Answers-w.Requests)
		if g.Granted() {
			handoffs++
		}
	}
	if handoffs == 0 {
		return checker.Undecided(checker.CodeUntried, "the cost of a hand-off of the lock is unknown: no client got the lock while "+
			"lockstorm counted the requests")
	}
	r := checker.Conclude("count of the writes and reads of each client on its network connections during each acquire", nil, 0)
	r.Figures = checker.Figures{
		"handoffs": handoffs, "requests_per_100_handoffs": sum.Requests * 100 / handoffs,
		"answers_per_100_handoffs": sum.Answers * 100 / handoffs, "notices_per_100_handoffs": unasked * 100 / handoffs,
	}
	r.Reason = fmt.Sprintf("each hand-off of the lock took %.1f requests and %.1f answers and notices (average of %s)",
		float64(sum.Requests)/float64(handoffs), float64(sum.Answers)/float64(handoffs), checker.Count(handoffs, "hand-off"))
	return r
}

// wasCounted says why there is nothing to add up.
func wasCounted(in question) (checker.Code, string) {
	counted := slices.ContainsFunc(in.Grants, func(g *history.Grant) bool {
		var w history.Wire
		return g.Acquire != nil && g.Acquire.Return != nil && g.Acquire.Return.HasJSON() &&
			g.Acquire.Return.Value().Into(&w) == nil
	})
	return checker.Only(counted, checker.CodeElsewhere, "this workload does not count requests: to count requests, use --workload "+
		"handoff")
}
