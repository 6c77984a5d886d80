package waits

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// fairMargin is how much later somebody must have asked to have overtaken a client: what happens
// between a call and its place in the queue takes its time, and requests that leave together arrive
// in any order.
const fairMargin = int64(100e6)

// slowMargin is that where a client's request may have been under way for longer: it had to connect
// first, or the host stood still while it waited. What the host stood still for comes on top.
const slowMargin = int64(1e9)

// fairness asks in which order those who wait are granted the lock: how often each was overtaken by
// a client that asked later. It is a finding of locks that promise an order.
//
//	A  |--waits--------------------------------|granted
//	B         |--waits-------|granted              has overtaken A
//
// Attempts that do not wait ask for no place. Readers overtake nobody that they could join. How long
// waits last is said without the first one of each client. No finding is a wait in which a fault was at
// work, or the host stood still for long enough to end a lease, and the place with it.
func fairness(in question) checker.Result {
	figures := checker.Figures{}
	var lasted []int64
	var findings []checker.Finding
	waits, total, worst := int64(0), int64(0), int64(0)
	slow := in.slowness()
	for _, lock := range in.Locks {
		queue := in.waiters(lock)
		slow.place(queue)
		waits += int64(len(queue))
		for i, n := range overtakes(queue) {
			w := queue[i]
			if !w.first {
				lasted = append(lasted, max(1, w.From()-w.Acquire.Start()))
			}
			total += n
			worst = max(worst, n)
			if n > 0 && in.Run.Fair && !in.excusedWait(w) {
				findings = append(findings, overtaken(w, n))
			}
		}
		for _, w := range in.unserved(lock) {
			if n := passedBy(w, queue); n > 0 && !in.excusedWait(w) {
				findings = append(findings, overtaken(w, n))
			}
		}
	}
	slices.SortStableFunc(findings, func(a, b checker.Finding) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	r := checker.Conclude("comparison of the order of the grants with the order of the requests", findings, len(findings))
	r.Figures = figures
	if slices.Sort(lasted); len(lasted) > 0 {
		figures["waits"], figures["overtakes"], figures["overtaken_max"] = waits, total, worst
		figures["overtakes_per_100_waits"] = total * 100 / waits
		for _, q := range []int{50, 90, 99, 100} {
			figures[fmt.Sprintf("wait_p%d_ns", q)] = checker.Percentile(lasted, q)
		}
		r.Reason = cmp.Or(r.Reason, overtakings(waits, total, worst)+fmt.Sprintf("; longest wait (the first wait of each client "+
			"excluded): %s", checker.Millis(lasted[len(lasted)-1])))
	}
	if other, _ := wasCounted(in); r.Verdict == checker.Pass && !in.Run.Fair && other != "" {
		r.Quiet = true
	}
	return r
}

// waiter is a grant whose client waited for it.
type waiter struct {
	*history.Grant
	first bool  // of its client: it had to connect
	place int64 // who asked later than this has overtaken it if he was granted before
	end   int64 // when it was granted, or its client waited no longer
	still int64 // how long the host stood still in it, at most at a time
}

// waiters are the grants of a lock whose clients waited for it, in order of their requests.
func (in question) waiters(lock string) []waiter {
	out := make([]waiter, 0, len(in.ByLock[lock]))
	met := map[string]bool{}
	for _, g := range in.ByLock[lock] {
		first := !met[g.Client]
		if g.Granted() {
			met[g.Client] = true
		}
		if g.Granted() && g.Mode != history.ModeShared && g.Acquire.Invoke.F() == history.FAcquire {
			out = append(out, waiter{Grant: g, first: first, end: g.From()})
		}
	}
	slices.SortStableFunc(out, func(a, b waiter) int { return cmp.Compare(a.Acquire.Start(), b.Acquire.Start()) })
	return out
}

// unserved are the waits for a lock that promises an order which the store ended without a grant. Nobody knows when their
// requests arrived: they have their place late.
func (in question) unserved(lock string) (out []waiter) {
	for _, g := range in.ByLock[lock] {
		if in.Run.Fair && g.Acquire != nil && g.Acquire.Outcome() == history.Fail && g.Acquire.Return.Code() == history.ErrBusy &&
			g.Mode != history.ModeShared && g.Acquire.Invoke.F() == history.FAcquire {
			w := waiter{Grant: g, end: in.CallEnd(g.Acquire)}
			w.place = g.Acquire.Start() + slowMargin
			for _, s := range facts.Disjoint(slices.Concat(in.slowness().still, in.Busy(0))) {
				if part := s.Overlap(history.Interval{From: g.Acquire.Start(), To: w.end}); !part.Empty() {
					w.place += part.To - part.From
					w.still = max(w.still, part.To-part.From)
				}
			}
			out = append(out, w)
		}
	}
	return out
}

// passedBy is how many of a queue asked after a wait had its place, and were granted the lock in it.
func passedBy(w waiter, queue []waiter) (n int64) {
	for _, o := range queue {
		if o.Acquire.Start() > w.place && o.end < w.end {
			n++
		}
	}
	return n
}

// slowness is when the host held up what clients send, in pieces that do not overlap.
type slowness struct {
	still []history.Interval // it stood still
	busy  []history.Interval // or something waited for it nearly all the time
}

func (in question) slowness() slowness {
	var still []history.Interval
	for _, s := range in.Unplanned {
		if s.To-s.From > fairMargin/10 {
			still = append(still, s.Interval)
		}
	}
	return slowness{facts.Disjoint(still), facts.Disjoint(slices.Concat(still, in.Busy(0)))}
}

// place says of each waiter when it had its place in the queue, at the latest.
func (s slowness) place(queue []waiter) {
	for i := range queue {
		w := &queue[i]
		span, pieces := history.Interval{From: w.Acquire.Start(), To: w.end}, s.still
		if w.first {
			pieces = s.busy
		}
		pieces = pieces[sort.Search(len(pieces), func(i int) bool { return pieces[i].To > span.From }):]
		held := int64(0)
		for _, piece := range pieces {
			if piece.From >= span.To {
				break
			}
			part := piece.Overlap(span)
			held += part.To - part.From
			w.still = max(w.still, part.To-part.From)
		}
		w.place = span.From + fairMargin
		if held > 0 || w.first {
			w.place = span.From + slowMargin + held
		}
	}
}

// overtakes is, for each of a queue, how many asked after it had its place and were granted before.
// O(n log n).
func overtakes(queue []waiter) []int64 {
	n := len(queue)
	rank, asked, placed := make([]int, n), order(queue, func(w waiter) int64 { return w.Acquire.Start() }),
		order(queue, func(w waiter) int64 { return w.place })
	for r, i := range order(queue, func(w waiter) int64 { return w.From() }) {
		rank[i] = r
	}
	out := make([]int64, n)
	seen := make(tally, n+1)
	next := n - 1 // those of asked from here on asked after the place
	for p := n - 1; p >= 0; p-- {
		i := placed[p]
		for next >= 0 && queue[asked[next]].Acquire.Start() > queue[i].place {
			seen.add(rank[asked[next]])
			next--
		}
		out[i] = seen.below(rank[i])
	}
	return out
}

// order is the numbers of a queue's waiters by a time of theirs.
func order(queue []waiter, at func(waiter) int64) []int {
	out := make([]int, len(queue))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(at(queue[a]), at(queue[b])) })
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

// excusedWait reports whether a fault was at work while a client waited, or the host stood still for so
// long that the client's place may have ended with its lease.
func (in question) excusedWait(w waiter) bool {
	if in.Run.Ends != history.EndsNever && 2*w.still >= in.Run.TTL {
		return true
	}
	span := history.Interval{From: w.Acquire.Start(), To: w.end}
	return slices.ContainsFunc(in.Faults, func(f *history.Injection) bool {
		return f.Effective() && !f.Aftermath(in.Run.Recovery).Overlap(span).Empty()
	})
}

func overtaken(w waiter, n int64) checker.Finding {
	until, events := "to "+checker.Seconds(w.end), []int64{w.Acquire.Invoke.Index}
	if w.Acquire.Return != nil {
		events = append(events, w.Acquire.Return.Index)
	}
	if !w.Granted() {
		until += " and did not get it"
	}
	return checker.Finding{
		Rule: "overtaken", Class: checker.NoClass, Cause: checker.NoCause.Text, CauseKind: checker.CauseNone, Grants: []string{w.ID},
		Message: fmt.Sprintf("%s waited for lock %s from %s %s; meanwhile clients that had asked later got the lock first (%s)",
			w.Client, w.Lock, checker.Seconds(w.Acquire.Start()), until, checker.Count(n, "grant")),
		Events: events, From: w.Acquire.Start(), To: w.end,
	}
}

func waitsForGrants(in question) (checker.Code, string) {
	waited := slices.ContainsFunc(in.Locks, func(lock string) bool {
		queue := in.waiters(lock)
		return len(queue) > 1 && slices.ContainsFunc(queue, func(w waiter) bool { return !w.first })
	})
	return checker.Only(waited, checker.CodeElsewhere, "no client had to wait before it got a lock")
}

// overtakings says how often requests that waited were overtaken, and the one that was most often.
func overtakings(waits, total, worst int64) string {
	if total == 0 {
		return checker.Count(waits, "wait") + ", none overtaken"
	}
	return fmt.Sprintf("%s; waiting clients were overtaken %s in total, and at most %s during one wait (overtaken: a client that "+
		"asked later got the lock first)", checker.Count(waits, "wait"), checker.Count(total, "time"), checker.Count(worst, "time"))
}
