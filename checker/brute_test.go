package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

// A history on a small grid of time: one lock, a few grants, every outcome.
const gridEnd = 60 // later than anything that is drawn

type gridRun struct {
	ends       string
	ttl        int64
	tolerance  int64
	discipline string
	grants     []gridGrant
}

type gridGrant struct {
	invoke, sent, ok int64 // ok: return of the acquire
	outcome          history.Type
	renews           []*gridCall
	uses             []int64
	lost             int64 // 0: none
	release          *gridCall
	kill             int64 // 0: none
}

type gridCall struct {
	call, ret int64
	outcome   history.Type // fail means not-held
}

func drawGrid(t *rapid.T) gridRun {
	r := gridRun{
		ends:       rapid.SampledFrom([]string{history.EndsNever, history.EndsLease, history.EndsProcess}).Draw(t, "ends"),
		ttl:        rapid.Int64Range(2, 6).Draw(t, "ttl"),
		tolerance:  rapid.Int64Range(0, 1).Draw(t, "tolerance"),
		discipline: rapid.SampledFrom([]string{history.Obey, history.Trusting}).Draw(t, "discipline"),
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "grants") {
		r.grants = append(r.grants, drawGrant(t, i, r.ends))
	}
	return r
}

// after draws a time at or after the last one.
func after(t *rapid.T, last int64, name string) int64 {
	return rapid.Int64Range(last, last+6).Draw(t, name)
}

func drawCall(t *rapid.T, last int64, name string) *gridCall {
	if !rapid.Bool().Draw(t, name) {
		return nil
	}
	// A client's own operations follow each other strictly, as on a real clock.
	c := &gridCall{call: rapid.Int64Range(last+1, last+4).Draw(t, name+" call")}
	c.ret = rapid.Int64Range(c.call, c.call+3).Draw(t, name+" return")
	c.outcome = rapid.SampledFrom([]history.Type{history.OK, history.OK, history.Fail, history.Info}).Draw(t, name+" outcome")
	return c
}

func drawGrant(t *rapid.T, i int, ends string) gridGrant {
	name := func(s string) string { return fmt.Sprintf("g%d %s", i, s) }
	var g gridGrant
	g.invoke = rapid.Int64Range(0, 8).Draw(t, name("invoke"))
	g.sent = rapid.Int64Range(g.invoke, g.invoke+2).Draw(t, name("sent"))
	g.ok = rapid.Int64Range(g.sent, g.sent+3).Draw(t, name("ok"))
	g.outcome = rapid.SampledFrom([]history.Type{history.OK, history.OK, history.OK, history.Info, history.Fail}).Draw(t, name("outcome"))
	if g.outcome == history.Fail {
		return g
	}
	last := g.ok
	if ends == history.EndsLease {
		for k := range 2 {
			if c := drawCall(t, last, name(fmt.Sprint("renew ", k))); c != nil {
				g.renews = append(g.renews, c)
				last = c.ret
			}
		}
		if rapid.IntRange(0, 4).Draw(t, name("lost?")) == 0 {
			g.lost = after(t, g.ok, name("lost"))
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, name("uses")) {
		last = rapid.Int64Range(last, last+3).Draw(t, name("use"))
		g.uses = append(g.uses, last)
	}
	if g.release = drawCall(t, last, name("release")); g.release == nil && rapid.Bool().Draw(t, name("killed")) {
		g.kill = max(1, after(t, last, name("kill")))
	}
	return g
}

// input writes the grid as a history; every grant has a client of its own.
func (r gridRun) input(t *rapid.T) *Input {
	h := &history.History{Sources: []string{"grid"}}
	add := func(e history.Event) { h.Events = append(h.Events, e) }
	add(history.Event{F: history.FRun, Type: history.Info, Process: history.Process{Name: "controller"}, Value: history.ValueOf(history.Run{
		Schema: 1, Ends: r.ends, TTL: r.ttl, Tolerance: r.tolerance, Discipline: r.discipline, Fencing: history.FencingOff,
	})})
	for i, g := range r.grants {
		g.write(i, r, add)
	}
	slices.SortStableFunc(h.Events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	in, err := NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	in.End = &history.End{}
	return in
}

func (g gridGrant) write(i int, r gridRun, add func(history.Event)) {
	id, client := fmt.Sprintf("g%d", i), fmt.Sprintf("c%d", i)
	op := func(proc int, f string, typ history.Type, at int64) history.Event {
		return history.Event{
			Time: at, Process: history.Process{N: int64(proc)}, Type: typ, F: f, Party: client, Client: client,
			Lock: "L", Grant: id, Lease: id,
		}
	}
	add(op(10*i, history.FAcquire, history.Invoke, g.invoke))
	ret := op(10*i, history.FAcquire, g.outcome, g.ok)
	if g.outcome == history.OK {
		ret.Sent = history.Some(g.sent)
		if r.ends == history.EndsLease {
			ret.TTL, ret.Deadline = history.Some(r.ttl), history.Some(g.sent+r.ttl)
		}
	}
	add(ret)
	for k, c := range g.renews {
		add(op(10*i+1+k, history.FRenew, history.Invoke, c.call))
		e := op(10*i+1+k, history.FRenew, c.outcome, c.ret)
		switch c.outcome {
		case history.OK:
			e.Sent, e.TTL, e.Deadline = history.Some(c.call), history.Some(r.ttl), history.Some(c.call+r.ttl)
		case history.Fail:
			e.Error = history.ErrNotHeld
		}
		add(e)
	}
	if g.lost > 0 {
		add(history.Event{Time: g.lost, Process: history.Process{Name: client}, Type: history.Info, F: history.FLost, Party: client, Client: client, Grant: id, Lease: id})
	}
	for k, u := range g.uses {
		add(op(10*i+5+k, history.FWork, history.Invoke, u))
		add(op(10*i+5+k, history.FWork, history.OK, u))
	}
	if c := g.release; c != nil {
		add(op(10*i, history.FRelease, history.Invoke, c.call))
		e := op(10*i, history.FRelease, c.outcome, c.ret)
		if c.outcome == history.Fail {
			e.Error = history.ErrNotHeld
		}
		add(e)
	}
	if g.kill > 0 {
		add(history.Event{Time: g.kill, Process: history.Process{Name: "nemesis"}, Type: history.Info, F: history.FKill, Party: "nemesis", Client: client})
	}
}

// bruteOp is an operation of the brute-force judge: it must (or may) take effect at one
// grid time of its interval.
type bruteOp struct {
	kind      opKind
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
		b.ops = append(b.ops, bruteOp{kind: opAcquire, grant: i, from: g.sent, to: g.ok, leaseFrom: g.sent})
	default:
		// Unknown: its lease cannot be known, so it may expire at any time.
		b.ops = append(b.ops, bruteOp{kind: opAcquire, grant: i, from: g.invoke, to: math.MaxInt64, optional: true, leaseFrom: math.MinInt32})
	}
	for _, c := range g.renews {
		b.addCall(i, opRenew, c)
	}
	if g.release != nil {
		b.addCall(i, opRelease, g.release)
	}
}

func (b *brute) addCall(i int, kind opKind, c *gridCall) {
	op := bruteOp{kind: kind, grant: i, from: c.call, to: c.ret, leaseFrom: c.call}
	switch c.outcome {
	case history.Fail:
		op.kind = opNotHeld
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
	case opAcquire:
		return op.grant, op.leaseFrom, holder == -1
	case opRelease:
		return -1, 0, holder == op.grant
	case opRenew:
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

func describeGrid(in *Input) string {
	text := fmt.Sprintf("ends %s, ttl %d, tolerance %d, %s\n", in.Run.Ends, in.Run.TTL, in.Run.Tolerance, in.Run.Discipline)
	for i := range in.Events[1:] {
		e := in.Events[i+1]
		text += string(e.AppendJSON(nil, false)) + "\n"
	}
	return text
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
		if int(in.Stats["violations"]) != pairs || (got.Verdict == Pass) != (pairs == 0) {
			t.Fatalf("checker: %s, %d pairs; brute force: %d pairs\n%s", got.Verdict, in.Stats["violations"], pairs, describeGrid(in))
		}
		if pairs > 0 {
			overlapping++
		}
	})
	t.Logf("%d histories with overlaps", overlapping)
}
