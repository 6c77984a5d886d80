package worker

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// gate keeps the client at points that the controller has armed. With nothing armed a
// point costs one atomic load.
type gate struct {
	client string
	nodes  int // of the topology
	rec    *history.Recorder
	ch     *control.Channel
	count  atomic.Int32 // armed points
	closed atomic.Bool  // nothing holds any more

	mu    sync.Mutex
	armed map[int]*armedPoint
}

type armedPoint struct {
	control.Message
	seen int
	hit  bool
	free chan struct{} // closed: go on
}

var _ workloads.Gate = (*gate)(nil)

func newGate(client string, nodes int, rec *history.Recorder, ch *control.Channel) *gate {
	return &gate{client: client, nodes: nodes, rec: rec, ch: ch, armed: map[int]*armedPoint{}}
}

func (g *gate) arm(m control.Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.armed[m.ID] != nil {
		return // told twice: by the one who waits, and at the start of this client
	}
	g.armed[m.ID] = &armedPoint{Message: m, free: make(chan struct{})}
	g.count.Store(int32(len(g.armed)))
}

func (g *gate) disarm(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.armed[id]; a != nil && !a.hit {
		g.remove(id)
	}
}

func (g *gate) letGo(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.armed[id]; a != nil {
		close(a.free)
		g.remove(id)
	}
}

func (g *gate) remove(id int) {
	delete(g.armed, id)
	g.count.Store(int32(len(g.armed)))
}

// openAll lets everybody go for good.
func (g *gate) openAll() {
	g.closed.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, a := range g.armed {
		close(a.free)
		g.remove(id)
	}
}

// Reach stands at the point while it is armed: it records that it is there, tells the
// controller, and records when it goes on.
func (g *gate) Reach(ctx context.Context, point string, at workloads.Spot) {
	if g.count.Load() == 0 || g.closed.Load() {
		return
	}
	a := g.match(point, len(at.Nodes))
	if a == nil {
		return
	}
	e := history.Line{
		Type: history.Invoke, F: history.FPoint, Client: g.client, Lock: at.Lock, Grant: at.Grant,
		Value: history.ValueOf(point), Message: backends.Source(ctx),
	}
	m := control.Message{
		Op: control.Reached, ID: a.ID, Point: point, Lock: at.Lock, Grant: at.Grant, Lease: at.Lease,
		Connection: at.Connection, Nodes: at.Nodes,
	}
	if at.Deadline.Set {
		m.Deadline = &at.Deadline.V
	}
	if g.rec.Notice(e) != nil || g.ch.Send(m) != nil {
		g.letGo(a.ID) // the log or the controller is gone: the client notices by itself
		return
	}
	select {
	case <-a.free:
	case <-ctx.Done():
		g.letGo(a.ID)
	}
	e.Type = history.OK
	g.rec.Notice(e) //nolint:errcheck // a broken log shows at the next operation
}

// strikes reports whether a grant by so many of all nodes is one that is meant. Where the
// backend does not say who granted, every grant is.
func (a *armedPoint) strikes(granted, all int) bool {
	switch a.GrantedBy {
	case 0:
		return true
	case nemesis.AllNodes:
		return granted == 0 || granted == all
	default:
		return granted == 0 || granted == a.GrantedBy
	}
}

// match counts the visit and finds the arm whose turn it is; granted is how many nodes
// granted the lock, 0 where nobody says.
func (g *gate) match(point string, granted int) *armedPoint {
	g.mu.Lock()
	defer g.mu.Unlock()
	var turn *armedPoint
	for _, a := range g.armed {
		if a.hit || (a.Point != "" && a.Point != point) || !a.strikes(granted, g.nodes) {
			continue
		}
		a.seen++
		if a.seen >= a.Nth && (turn == nil || a.ID < turn.ID) {
			turn = a
		}
	}
	if turn != nil {
		turn.hit = true
	}
	return turn
}
