package checker_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// A history on a small grid of time: one lock, a few grants, every outcome.
const gridEnd = 60 // later than anything that is drawn

type gridRun struct {
	model      history.Model
	ends       string
	ttl        int64
	tolerance  int64
	discipline string
	grants     []gridGrant
	sessions   map[int]*gridSession // by client; only under sessions
	kills      map[int]int64        // by client
}

type gridGrant struct {
	client, owner    int
	shared           bool
	invoke, sent, ok int64 // ok: return of the acquire
	outcome          history.Type
	renews           []*gridCall
	uses             []int64
	lost             int64 // 0: none
	release          *gridCall
}

// gridSession is the lease of all grants of a client.
type gridSession struct {
	created int64
	renews  []*gridCall
	lost    int64 // 0: none
}

type gridCall struct {
	call, ret int64
	outcome   history.Type // fail means not-held
}

// dice draw a grid from one seed.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 7))} }

func (d dice) within(lo, hi int64) int64 { return lo + d.Int64N(hi-lo+1) }

func (d dice) once(n int) bool { return d.IntN(n) == 0 }

func oneOf[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

func (d dice) grid(m history.Model) gridRun {
	r := gridRun{
		model: m, ttl: d.within(2, 6), tolerance: d.within(0, 1), kills: map[int]int64{}, sessions: map[int]*gridSession{},
		ends:       oneOf(d, history.EndsNever, history.EndsLease, history.EndsProcess),
		discipline: oneOf(d, history.Obey, history.Trusting),
	}
	clients := oneOf(d, 2, 3, 4)
	if m.Session {
		r.ends = history.EndsSession
		for c := range clients {
			r.sessions[c] = d.session()
		}
	}
	for range d.within(1, 4) {
		r.grants = append(r.grants, d.grant(&r, d.IntN(clients)))
	}
	for c := range clients {
		if last := r.lastEvent(c); last > 0 && d.once(5) {
			r.kills[c] = d.within(last, last+6)
		}
	}
	return r
}

func (d dice) session() *gridSession {
	s := &gridSession{created: d.within(0, 2)}
	last := s.created
	for range d.IntN(4) {
		c := d.call(last)
		s.renews = append(s.renews, c)
		last = c.ret
	}
	if d.once(4) {
		s.lost = d.within(s.created+1, s.created+12)
	}
	return s
}

// call follows an earlier operation strictly, as on a real clock.
func (d dice) call(last int64) *gridCall {
	c := &gridCall{call: d.within(last+1, last+4), outcome: oneOf(d, history.OK, history.OK, history.Fail, history.Info)}
	c.ret = d.within(c.call, c.call+3)
	return c
}

func (d dice) grant(r *gridRun, client int) gridGrant {
	g := gridGrant{client: client, owner: d.IntN(2) * d.IntN(2), invoke: d.within(0, 8)}
	g.shared = r.model.Kind == history.ModelReadWrite && d.once(2)
	if s := r.sessions[client]; s != nil {
		g.invoke = max(g.invoke, s.created)
	}
	g.sent = d.within(g.invoke, g.invoke+2)
	g.ok = d.within(g.sent, g.sent+3)
	g.outcome = oneOf(d, history.OK, history.OK, history.OK, history.OK, history.Info, history.Fail)
	if g.outcome == history.Fail {
		return g
	}
	last := g.ok
	if r.ends == history.EndsLease {
		for range d.IntN(3) {
			c := d.call(last)
			g.renews = append(g.renews, c)
			last = c.ret
		}
		if d.once(5) {
			g.lost = d.within(g.ok, g.ok+6)
		}
	}
	for range d.IntN(3) {
		last = d.within(last, last+3)
		g.uses = append(g.uses, last)
	}
	if d.once(2) {
		g.release = d.call(last)
	}
	return g
}

// input writes the grid as a history.
func (r gridRun) input(t testing.TB) *checker.Input {
	var lines []history.Line
	add := func(l history.Line) { lines = append(lines, l) }
	add(history.Line{
		F: history.FRun, Type: history.Info, Process: history.Process{Name: "controller"},
		Value: history.ValueOf(history.Run{
			Schema: 1, Model: r.model, Ends: r.ends, TTL: r.ttl, Tolerance: r.tolerance, Discipline: r.discipline,
			Fencing: history.FencingOff,
		}),
	})
	for client, s := range r.sessions {
		s.write(client, r, add)
	}
	for i, g := range r.grants {
		g.write(i, r, add)
	}
	for client, at := range r.kills {
		add(history.Line{
			Time: at, Process: history.Process{Name: "nemesis"}, Type: history.Info, F: history.FKill, Party: "nemesis",
			Client: gridClient(client),
		})
	}
	slices.SortStableFunc(lines, func(a, b history.Line) int { return cmp.Compare(a.Time, b.Time) })
	h := &history.History{Sources: []string{"grid"}, Events: history.Events(lines...)}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	rec.End = &history.End{}
	for client := range rec.Last {
		rec.Finished[client] = true // nothing is cut off
	}
	in := facts.Of(rec)
	in.Raw = h
	return in
}

func gridClient(client int) string { return fmt.Sprintf("c%d", client) }

func (s *gridSession) write(client int, r gridRun, add func(history.Line)) {
	name := gridClient(client)
	notice := history.Line{Process: history.Process{Name: name}, Type: history.Info, Party: name, Client: name, Lease: "s" + name}
	made := notice
	made.F, made.Time = history.FLease, s.created
	made.Sent, made.TTL, made.Deadline = history.Some(s.created), history.Some(r.ttl), history.Some(s.created+r.ttl)
	add(made)
	for k, c := range s.renews {
		c.write(1000+10*client+k, r, history.Line{F: history.FRenew, Party: name, Client: name, Lease: notice.Lease}, add)
	}
	if s.lost > 0 {
		notice.F, notice.Time = history.FLost, s.lost
		add(notice)
	}
}

// write adds a renewal or a release.
func (c *gridCall) write(proc int, r gridRun, e history.Line, add func(history.Line)) {
	e.Process, e.Type, e.Time = history.Process{N: int64(proc)}, history.Invoke, c.call
	add(e)
	e.Type, e.Time = c.outcome, c.ret
	switch {
	case c.outcome == history.OK && e.F == history.FRenew:
		e.Sent, e.TTL, e.Deadline = history.Some(c.call), history.Some(r.ttl), history.Some(c.call+r.ttl)
	case c.outcome == history.Fail:
		e.Error = history.ErrNotHeld
	}
	add(e)
}

func (g gridGrant) write(i int, r gridRun, add func(history.Line)) {
	client := gridClient(g.client)
	e := history.Line{
		Party: client, Client: client, Lock: "L", Grant: fmt.Sprintf("g%d", i),
		Owner: fmt.Sprintf("%s/%d", client, g.owner),
	}
	e.Lease = e.Grant
	if r.model.Session {
		e.Lease = "s" + client
	}
	if g.shared {
		e.Mode = history.ModeShared
	}
	op := func(proc int, f string, typ history.Type, at int64) history.Line {
		e := e
		e.Process, e.F, e.Type, e.Time = history.Process{N: int64(10*i + proc)}, f, typ, at
		return e
	}
	add(op(0, history.FAcquire, history.Invoke, g.invoke))
	ret := op(0, history.FAcquire, g.outcome, g.ok)
	if g.outcome == history.OK {
		ret.Sent = history.Some(g.sent)
		if r.ends == history.EndsLease || r.ends == history.EndsSession { // of a session: it must not count
			ret.TTL, ret.Deadline = history.Some(r.ttl), history.Some(g.sent+r.ttl)
		}
	}
	add(ret)
	for k, c := range g.renews {
		e := e
		e.F = history.FRenew
		c.write(10*i+1+k, r, e, add)
	}
	if g.lost > 0 {
		add(history.Line{
			Time: g.lost, Process: history.Process{Name: client}, Type: history.Info, F: history.FLost, Party: client,
			Client: client, Grant: e.Grant, Lease: e.Lease,
		})
	}
	for k, u := range g.uses {
		add(op(5+k, history.FWork, history.Invoke, u))
		add(op(5+k, history.FWork, history.OK, u))
	}
	if g.release != nil {
		e := e
		e.F = history.FRelease
		g.release.write(10*i, r, e, add)
	}
}

func describeGrid(in *checker.Input) string {
	text := fmt.Sprintf("%+v, ends %s, ttl %d, tolerance %d, %s\n", in.Run.Model, in.Run.Ends, in.Run.TTL, in.Run.Tolerance,
		in.Run.Discipline)
	for i := range in.Events[1:] {
		e := in.Events[i+1]
		text += string(e.AppendJSON(nil, false)) + "\n"
	}
	return text
}

// smaller are the grids with one thing less.
func (r gridRun) smaller() []gridRun {
	var out []gridRun
	less := func(change func(*gridRun)) {
		s := r
		s.grants = slices.Clone(r.grants)
		change(&s)
		out = append(out, s)
	}
	for i, g := range r.grants {
		less(func(s *gridRun) { s.grants = slices.Delete(s.grants, i, i+1) })
		if g.release != nil {
			less(func(s *gridRun) { s.grants[i].release = nil })
		}
		if g.lost > 0 {
			less(func(s *gridRun) { s.grants[i].lost = 0 })
		}
		for k := range g.renews {
			less(func(s *gridRun) { s.grants[i].renews = slices.Delete(slices.Clone(g.renews), k, k+1) })
		}
		for k := range g.uses {
			less(func(s *gridRun) { s.grants[i].uses = slices.Delete(slices.Clone(g.uses), k, k+1) })
		}
	}
	if len(r.kills) > 0 {
		less(func(s *gridRun) { s.kills = nil })
	}
	return out
}
