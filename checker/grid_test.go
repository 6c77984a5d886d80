package checker

import (
	"cmp"
	"fmt"
	"slices"

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

func describeGrid(in *Input) string {
	text := fmt.Sprintf("ends %s, ttl %d, tolerance %d, %s\n", in.Run.Ends, in.Run.TTL, in.Run.Tolerance, in.Run.Discipline)
	for i := range in.Events[1:] {
		e := in.Events[i+1]
		text += string(e.AppendJSON(nil, false)) + "\n"
	}
	return text
}
