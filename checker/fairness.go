package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockstorm/lockstorm/history"
)

// fairMargin is how much later somebody must have asked to have overtaken a client: what happens
// between a call and its place in the queue takes its time, and requests that leave together arrive
// in any order.
const fairMargin = int64(100e6)

// fairness asks in which order those who wait are granted the lock: how often each was overtaken by
// a client that asked later. It is a finding of locks that promise an order.
//
//	A  |--waits--------------------------------|granted
//	B         |--waits-------|granted              has overtaken A
//
// Attempts that do not wait ask for no place. Readers overtake nobody that they could join.
func fairness(in *Input) Result {
	figures := Figures{}
	waits := hdrhistogram.New(1, int64(3600e9), 3)
	var findings []Finding
	total, worst := int64(0), int64(0)
	for _, lock := range in.Locks {
		queue := in.waiters(lock)
		for i, n := range overtakes(queue) {
			g := queue[i]
			waits.RecordValue(max(1, g.From()-g.Acquire.Start())) //nolint:errcheck // an hour is more than any run
			total += n
			worst = max(worst, n)
			if n > 0 && in.Run.Fair && !in.excusedWait(g) {
				findings = append(findings, overtaken(g, n))
			}
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	r := Conclude("grants in order of their answers, against the order of their requests", findings, len(findings))
	r.Figures = figures
	if n := waits.TotalCount(); n > 0 {
		figures["waits"], figures["overtakes"], figures["overtaken_max"] = n, total, worst
		figures["overtakes_per_100_waits"] = total * 100 / n
		for _, q := range []float64{50, 90, 99, 100} {
			figures[fmt.Sprintf("wait_p%.0f_ns", q)] = waits.ValueAtQuantile(q)
		}
		r.Reason = cmp.Or(r.Reason, fmt.Sprintf("of %d waits, %d were overtaken by a later request in all, one of them %d times; they lasted %s at most", n, total, worst, Millis(waits.Max())))
	}
	if other, _ := wasCounted(in); r.Verdict == Pass && !in.Run.Fair && other != "" {
		r.Quiet = true
	}
	return r
}

// waiters are the grants of a lock whose clients waited for it, in order of their requests. The first
// one of each client is left out: it has to connect.
func (in *Input) waiters(lock string) []*history.Grant {
	var out []*history.Grant
	met := map[string]bool{}
	for _, g := range in.ByLock[lock] {
		first := !met[g.Client]
		if g.Granted() {
			met[g.Client] = true
		}
		if !first && g.Granted() && g.Mode != history.ModeShared && g.Acquire.Invoke.F == history.FAcquire {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b *history.Grant) int { return cmp.Compare(a.Acquire.Start(), b.Acquire.Start()) })
	return out
}

// overtakes is, for each of a queue in order of requests, how many asked later than it by the margin
// and were granted before. O(n log n).
func overtakes(queue []*history.Grant) []int64 {
	n := len(queue)
	byOK := make([]int, n)
	for i := range byOK {
		byOK[i] = i
	}
	slices.SortStableFunc(byOK, func(a, b int) int { return cmp.Compare(queue[a].From(), queue[b].From()) })
	rank := make([]int, n)
	for r, i := range byOK {
		rank[i] = r
	}
	out := make([]int64, n)
	seen := make(tally, n+1)
	next := n - 1 // those from here on asked later by the margin
	for i := n - 1; i >= 0; i-- {
		for next >= 0 && queue[next].Acquire.Start() > queue[i].Acquire.Start()+fairMargin {
			seen.add(rank[next])
			next--
		}
		out[i] = seen.below(rank[i])
	}
	return out
}

// tally counts numbers by how many are below another (a Fenwick tree).
type tally []int64

func (t tally) add(at int) {
	for at++; at < len(t); at += at & -at {
		t[at]++
	}
}

func (t tally) below(at int) (n int64) {
	for ; at > 0; at -= at & -at {
		n += t[at]
	}
	return n
}

// excusedWait reports whether a fault was at work, or the host stood still, while a client waited.
func (in *Input) excusedWait(g *history.Grant) bool {
	span := history.Interval{From: g.Acquire.Start(), To: g.From()}
	if slices.ContainsFunc(in.Faults, func(f *history.Injection) bool {
		return f.Effective() && !f.Aftermath(in.Run.Recovery).Overlap(span).Empty()
	}) {
		return true
	}
	return slices.ContainsFunc(in.stalls, func(s stall) bool { return s.To-s.From > fairMargin/10 && !s.Overlap(span).Empty() })
}

func overtaken(g *history.Grant, n int64) Finding {
	return Finding{
		Rule: "overtaken", Class: NoClass, Cause: noCause.Text, CauseKind: CauseNone, Grants: []string{g.ID},
		Message: fmt.Sprintf("%s waited for %s from %s on and was granted it at %s: %d that asked later were granted it before", g.Client, g.Lock, Seconds(g.Acquire.Start()), Seconds(g.From()), n),
		Events:  []int64{g.Acquire.Invoke.Index, g.Acquire.Return.Index}, From: g.Acquire.Start(), To: g.From(),
	}
}

func waitsForGrants(in *Input) (Code, string) {
	for _, lock := range in.Locks {
		if len(in.waiters(lock)) > 1 {
			return "", ""
		}
	}
	return CodeElsewhere, "nobody was granted a lock after waiting for it"
}
