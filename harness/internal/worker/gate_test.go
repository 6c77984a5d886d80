package worker

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// A fault may want a grant by all nodes, or by so many: other visits of the point do not
// count. Where the lock does not say who granted, every grant is one that is meant.
func TestGateCountsGrantsThatAreMeant(t *testing.T) {
	for name, c := range map[string]struct {
		grantedBy int
		visits    []int // by how many of five nodes each was granted
		hit       int   // the visit that is struck; -1: none
	}{
		"any":                 {0, []int{3, 5}, 0},
		"all":                 {nemesis.AllNodes, []int{3, 4, 5}, 2},
		"all, never":          {nemesis.AllNodes, []int{3, 4, 3}, -1},
		"three":               {3, []int{5, 4, 3}, 2},
		"nobody says: all":    {nemesis.AllNodes, []int{0}, 0},
		"nobody says: three":  {3, []int{0}, 0},
		"three, never by all": {3, []int{5, 5}, -1},
	} {
		g := newGate("c1", 5, nil, nil)
		g.arm(control.Message{ID: 1, Point: "acquired", Nth: 1, GrantedBy: c.grantedBy})
		hit := -1
		for i, granted := range c.visits {
			if g.match("before-read", granted) != nil {
				t.Errorf("%s: struck at another point", name)
			}
			if g.match("acquired", granted) != nil && hit < 0 {
				hit = i
			}
		}
		if hit != c.hit {
			t.Errorf("%s: struck at visit %d, want %d", name, hit, c.hit)
		}
	}
}

// The nth visit is that of the grants that are meant.
func TestGateCountsVisits(t *testing.T) {
	g := newGate("c1", 5, nil, nil)
	g.arm(control.Message{ID: 1, Point: "acquired", Nth: 2, GrantedBy: 3})
	for i, granted := range []int{3, 5, 3} {
		if struck := g.match("acquired", granted) != nil; struck != (i == 2) {
			t.Errorf("visit %d: struck %v", i, struck)
		}
	}
}

// bench is a client without a lock: its gate with a log, and the controller's end of its channel.
type bench struct {
	*worker
	t       *testing.T
	far     *control.Channel
	stopped context.Context // ends when the client is told to stop, or is left alone
}

func newBench(t *testing.T) *bench {
	t.Helper()
	near, theirs, err := control.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	far, err := control.FromFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c1.jsonl")
	rec, err := history.Open(path, "c1", history.NewClock(),
		history.Run{Schema: history.Schema, StallLimit: time.Hour.Nanoseconds()})
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{
		cfg: control.Config{LogPath: path, Locks: []string{"L1", "L2"}}, ch: near, rec: rec, started: make(chan struct{}),
		gate: newGate("c1", 5, rec, near),
	}
	b := &bench{worker: w, t: t, far: far}
	b.stopped, w.wake = context.WithCancel(t.Context())
	w.listening.Go(func() { w.listen(t.Context()) })
	t.Cleanup(func() {
		far.Close()  //nolint:errcheck // some tests have closed it
		near.Close() //nolint:errcheck // as above
		w.listening.Wait()
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// tell sends messages to the client.
func (b *bench) tell(messages ...control.Message) {
	b.t.Helper()
	for _, m := range messages {
		if err := b.far.Send(m); err != nil {
			b.t.Fatal(err)
		}
	}
}

// hear is the next message of the client.
func (b *bench) hear() control.Message {
	b.t.Helper()
	m, err := b.far.Receive()
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// visit has the client reach a point, and is closed when it goes on.
func (b *bench) visit(ctx context.Context, point string, at workloads.Spot) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		b.gate.Reach(ctx, point, at)
	}()
	return gone
}

// stands fails the test if a client that has told that it stands at a point has gone on.
func (b *bench) stands(gone <-chan struct{}) {
	b.t.Helper()
	select {
	case <-gone:
		b.t.Fatal("it does not stand where it said")
	default:
	}
}

// onRecord are the types of the events of a point that were logged.
func (b *bench) onRecord() (out []history.Line) {
	b.t.Helper()
	f, err := history.Follow(b.cfg.LogPath)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	if err := f.Poll(nil, func(e *history.Line) {
		if e.F == history.FPoint {
			out = append(out, *e)
		}
	}); err != nil {
		b.t.Fatal(err)
	}
	return out
}

// A client stays at an armed point until it is let go, says what it holds there, and has both on record. What is over for
// those that never came changes nothing for one that stands there.
func TestAClientStandsAtAPoint(t *testing.T) {
	b := newBench(t)
	b.gate.arm(control.Message{ID: 7, Point: "acquired", Nth: 1})
	at := workloads.Spot{
		Lock: "L1", Grant: "c1-3", Lease: "l", Connection: "k", Deadline: history.Some(42),
		Nodes: []string{"n1", "n2"},
	}
	gone := b.visit(t.Context(), "acquired", at)
	m := b.hear()
	if m.Op != control.Reached || m.ID != 7 || m.Point != "acquired" || m.Lock != "L1" || m.Grant != "c1-3" || m.Lease != "l" ||
		m.Connection != "k" || m.Deadline == nil || *m.Deadline != 42 || len(m.Nodes) != 2 {
		t.Errorf("it says %+v", m)
	}
	if got := b.onRecord(); len(got) != 1 || got[0].Type != history.Invoke {
		t.Errorf("on record while it stands there: %+v", got)
	}
	b.gate.disarm(7)
	b.gate.letGo(8)
	b.gate.Reach(t.Context(), "acquired", at) // another thread of the client is not kept
	b.stands(gone)
	b.tell(control.Message{Op: control.Go, ID: 7})
	<-gone
	if got := b.onRecord(); len(got) != 2 || got[1].Type != history.OK || got[1].Grant != "c1-3" || got[1].Client != "c1" {
		t.Errorf("on record: %+v", got)
	}
	b.gate.Reach(t.Context(), "acquired", at) // it is over
	if b.gate.count.Load() != 0 {
		t.Errorf("%d points are armed", b.gate.count.Load())
	}
}

// What was disarmed holds nobody; what was armed twice counts once.
func TestADisarmedPointHoldsNobody(t *testing.T) {
	b := newBench(t)
	arm := control.Message{ID: 1, Point: "acquired", Nth: 2}
	b.gate.arm(arm)
	b.gate.Reach(t.Context(), "acquired", workloads.Spot{})
	b.gate.arm(arm)
	b.gate.arm(control.Message{ID: 2, Point: "acquired", Nth: 1})
	b.gate.disarm(2)
	gone := b.visit(t.Context(), "acquired", workloads.Spot{})
	if m := b.hear(); m.ID != 1 {
		t.Errorf("it stands at arm %d", m.ID)
	}
	b.gate.letGo(1)
	<-gone
}

// Where a visit is that of two arms, the older one has it; the other one has the next.
func TestTwoArmsAtOnePoint(t *testing.T) {
	b := newBench(t)
	for _, id := range []int{6, 5} {
		b.gate.arm(control.Message{ID: id, Nth: 1})
	}
	for _, want := range []int{5, 6} {
		gone := b.visit(t.Context(), "acquired", workloads.Spot{})
		if m := b.hear(); m.ID != want {
			t.Errorf("arm %d, want %d", m.ID, want)
		}
		b.tell(control.Message{Op: control.Go, ID: want})
		<-gone
	}
}

// Nothing holds a client for ever: not a controller that has gone, a stop, the end of its context, or a log that is closed.
func TestNothingHoldsAClientForEver(t *testing.T) {
	for what, end := range map[string]func(b *bench, cancel func()){
		"the controller has gone": func(b *bench, _ func()) { b.far.Close() }, //nolint:errcheck // it shows
		"a stop":                  func(b *bench, _ func()) { b.tell(control.Message{Op: control.Stop}) },
		"its context":             func(_ *bench, cancel func()) { cancel() },
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b.gate.arm(control.Message{ID: 1, Point: "acquired", Nth: 1})
			b.gate.arm(control.Message{ID: 2, Point: "acquired", Nth: 2})
			gone := b.visit(ctx, "acquired", workloads.Spot{})
			b.hear()
			end(b, cancel)
			<-gone
			if what == "its context" {
				return
			}
			<-b.stopped.Done()
			b.gate.arm(control.Message{ID: 3, Nth: 1})
			b.gate.Reach(ctx, "acquired", workloads.Spot{}) // for good
		})
	}
	b := newBench(t)
	if err := b.rec.Close(); err != nil {
		t.Fatal(err)
	}
	b.gate.arm(control.Message{ID: 1, Nth: 1})
	b.gate.Reach(t.Context(), "acquired", workloads.Spot{})
	if b.gate.count.Load() != 0 {
		t.Error("what could not be told stays armed")
	}
}
