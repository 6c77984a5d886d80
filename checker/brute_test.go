package checker

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker/lin"
	"github.com/lockstorm/lockstorm/history"
)

// bruteOp is an operation of the brute-force judge: it must (or may) take effect at one
// grid time of its interval.
type bruteOp struct {
	kind      lin.Kind
	grant     int
	from, to  int64
	optional  bool
	leaseFrom int64 // of acquire and renew: the base from which the lease counts
}

// brute decides linearizability by trying everything: at each time, any order of the
// operations that may take effect then, and any expiry. It shares no code with the
// checker: no closing of intervals, no cutting, no Porcupine.
type brute struct {
	run  gridRun
	ops  []bruteOp
	seen map[[4]int64]bool
}

func (r gridRun) linearizable() bool {
	b := &brute{run: r, seen: map[[4]int64]bool{}}
	for i, g := range r.grants {
		b.addGrant(i, g)
	}
	return b.try(0, 0, -1, 0)
}

func (b *brute) addGrant(i int, g gridGrant) {
	switch g.outcome {
	case history.Fail:
		return
	case history.OK:
		b.ops = append(b.ops, bruteOp{kind: lin.Acquire, grant: i, from: g.sent, to: g.ok, leaseFrom: g.sent})
	default:
		// Unknown: its lease cannot be known, so it may expire at any time.
		b.ops = append(b.ops, bruteOp{kind: lin.Acquire, grant: i, from: g.invoke, to: math.MaxInt64, optional: true, leaseFrom: math.MinInt32})
	}
	for _, c := range g.renews {
		b.addCall(i, lin.Renew, c)
	}
	if g.release != nil {
		b.addCall(i, lin.Release, g.release)
	}
}

func (b *brute) addCall(i int, kind lin.Kind, c *gridCall) {
	op := bruteOp{kind: kind, grant: i, from: c.call, to: c.ret, leaseFrom: c.call}
	switch c.outcome {
	case history.Fail:
		op.kind = lin.NotHeld
	case history.Info:
		op.to, op.optional = math.MaxInt64, true
		op.leaseFrom = math.MinInt32 // a renewal may have had no effect: never to the lock's harm
	}
	b.ops = append(b.ops, op)
}

// try explores from time t with the operations in done, a holder (-1: none) and the
// base of its lease.
func (b *brute) try(t int64, done int64, holder int, base int64) bool {
	if t > gridEnd+1 {
		return true
	}
	key := [4]int64{t, done, int64(holder), base}
	if b.seen[key] {
		return false
	}
	b.seen[key] = true
	for i, op := range b.ops {
		bit := int64(1) << i
		if done&bit != 0 || t < op.from || t > op.to {
			continue
		}
		if h, l, ok := op.apply(holder, base); ok && b.try(t, done|bit, h, l) {
			return true
		}
	}
	if holder >= 0 && b.mayEnd(holder, base, t) && b.try(t, done, -1, 0) {
		return true
	}
	for i, op := range b.ops {
		if !op.optional && op.to == t && done&(1<<i) == 0 {
			return false // it had to take effect by now
		}
	}
	return b.try(t+1, done, holder, base)
}

func (op bruteOp) apply(holder int, base int64) (int, int64, bool) {
	switch op.kind {
	case lin.Acquire:
		return op.grant, op.leaseFrom, holder == -1
	case lin.Release:
		return -1, 0, holder == op.grant
	case lin.Renew:
		return holder, max(base, op.leaseFrom), holder == op.grant
	default:
		return holder, base, holder != op.grant
	}
}

func (b *brute) mayEnd(holder int, base, t int64) bool {
	g := b.run.grants[holder]
	switch b.run.ends {
	case history.EndsLease:
		return t >= base+b.run.ttl-b.run.tolerance
	case history.EndsProcess:
		if g.kill > 0 {
			return t >= g.kill
		}
		return t >= g.lastEvent()
	}
	return false
}

func (g gridGrant) lastEvent() int64 {
	last := max(g.ok, g.lost)
	for _, u := range g.uses {
		last = max(last, u)
	}
	for _, c := range g.renews {
		last = max(last, c.ret)
	}
	if g.release != nil {
		last = max(last, g.release.ret)
	}
	return last
}

// The checker and the brute-force judge agree on every small history.
func TestLinearizabilityAgainstBruteForce(t *testing.T) {
	legal, illegal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		run := drawGrid(t)
		want := Pass
		if !run.linearizable() {
			want = Fail
			illegal++
		} else {
			legal++
		}
		in := run.input(t)
		size := rapid.SampledFrom([]int{1, pieceSize}).Draw(t, "piece size")
		got := judgeLocks(in, size)
		if got.Verdict != want {
			t.Fatalf("checker %s, brute force %s\n%s", got.Verdict, want, describeGrid(in))
		}
		for _, f := range got.Findings {
			if f.Class != Defect {
				t.Fatalf("finding of class %s", f.Class)
			}
		}
	})
	t.Logf("%d legal, %d illegal", legal, illegal)
}

// believes says, from the words of the contract and point by point, whether the client
// of a grant believes at time t+1/2 that it holds the lock.
func (r gridRun) believes(g gridGrant, t int64) bool {
	if g.outcome != history.OK || t < g.ok {
		return false
	}
	for _, u := range g.uses {
		if u > t {
			return true // it will act as the holder
		}
	}
	stopped, known := false, false
	note := func(at int64) {
		known = true
		stopped = stopped || at <= t
	}
	if g.release != nil {
		note(g.release.call)
	}
	if g.kill > 0 {
		note(g.kill)
	}
	if r.discipline == history.Obey {
		if g.lost > 0 {
			note(g.lost)
		}
		if r.ends == history.EndsLease {
			note(r.lapses(g))
		}
	}
	if !known {
		note(g.lastEvent())
	}
	return !stopped
}

// lapses is the first moment at which the deadline that is known to the client then has
// passed.
func (r gridRun) lapses(g gridGrant) int64 {
	for t := int64(0); ; t++ {
		deadline := g.sent + r.ttl
		for _, c := range g.renews {
			if c.outcome == history.OK && c.ret < t {
				deadline = max(deadline, c.call+r.ttl)
			}
		}
		if t >= deadline {
			return t
		}
	}
}

// The sweep over proven holds finds an overlap exactly where two clients believe at the
// same time, and never more.
func TestMutualExclusionAgainstBruteForce(t *testing.T) {
	overlapping := 0
	rapid.Check(t, func(t *rapid.T) {
		run := drawGrid(t)
		pairs := 0
		for i, a := range run.grants {
			for _, b := range run.grants[i+1:] {
				for at := int64(0); at <= gridEnd+10; at++ {
					if run.believes(a, at) && run.believes(b, at) {
						pairs++
						break
					}
				}
			}
		}
		in := run.input(t)
		got := mutualExclusion(in)
		if int(got.Figures["violations"]) != pairs || (got.Verdict == Pass) != (pairs == 0) {
			t.Fatalf("checker: %s, %d pairs; brute force: %d pairs\n%s", got.Verdict, got.Figures["violations"], pairs, describeGrid(in))
		}
		if pairs > 0 {
			overlapping++
		}
	})
	t.Logf("%d histories with overlaps", overlapping)
}
