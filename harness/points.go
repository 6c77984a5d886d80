package harness

import (
	"context"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// lookout matches what faults wait for with what workers reach.
type lookout struct {
	mu     sync.Mutex
	lastID int
	armed  map[int]*pointWait
	all    func() []*client
}

type pointWait struct {
	nemesis.Arm
	hit chan *nemesis.Hit
}

func newLookout(all func() []*client) *lookout {
	return &lookout{armed: map[int]*pointWait{}, all: all}
}

// await arms a point at the clients that may hit it and waits for the first.
func (p *lookout) await(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
	wait := &pointWait{Arm: a, hit: make(chan *nemesis.Hit, 1)}
	p.mu.Lock()
	p.lastID++
	id := p.lastID
	p.armed[id] = wait
	p.mu.Unlock()
	p.tell(a, p.all(), armMessage(id, a))
	if a.Armed != nil {
		a.Armed()
	}
	defer func() { p.tell(a, p.all(), control.Message{Op: control.Disarm, ID: id}) }() // those that live when the wait ends
	select {
	case hit := <-wait.hit:
		return hit, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	delete(p.armed, id)
	p.mu.Unlock()
	select {
	case hit := <-wait.hit: // it came at the last moment
		hit.Go()
	default:
	}
	return nil, ctx.Err()
}

func armMessage(id int, a nemesis.Arm) control.Message {
	return control.Message{Op: control.Arm, ID: id, Point: a.Point, Nth: max(a.Nth, 1), GrantedBy: a.GrantedBy}
}

// tell sends a message to the clients that an arm is about. A client that has died
// cannot be told, and need not be.
func (p *lookout) tell(a nemesis.Arm, clients []*client, m control.Message) {
	for _, c := range clients {
		if len(a.Clients) == 0 || slices.Contains(a.Clients, c.name) {
			c.ch.Send(m) //nolint:errcheck // see above
		}
	}
}

// armNew arms what is being waited for at a client that was just started.
func (p *lookout) armNew(c *client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, w := range p.armed {
		p.tell(w.Arm, []*client{c}, armMessage(id, w.Arm))
	}
}

// reached is called when a worker stands at an armed point. The first one wins; the
// others go on at once.
func (p *lookout) reached(c *client, m control.Message) {
	var once sync.Once
	letGo := func() {
		once.Do(func() { c.ch.Send(control.Message{Op: control.Go, ID: m.ID}) }) //nolint:errcheck // a dead client stands nowhere
	}
	// The hit is handed over under the lock: await, once it has disarmed, must find it.
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := p.armed[m.ID]
	delete(p.armed, m.ID)
	if wait == nil {
		letGo()
		return
	}
	hit := &nemesis.Hit{Client: c, Point: m.Point, Lock: m.Lock, Grant: m.Grant, Lease: m.Lease, Connection: m.Connection, Nodes: m.Nodes, Go: letGo}
	if m.Deadline != nil {
		hit.Deadline = history.Some(*m.Deadline)
	}
	wait.hit <- hit
}
