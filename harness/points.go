package harness

import (
	"context"
	"errors"
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

// await arms a point at the clients that may hit it and waits for the first. Where nobody comes, the error says who was
// stopped meanwhile.
func (p *lookout) await(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
	wait := &pointWait{Arm: a, hit: make(chan *nemesis.Hit, 1)}
	p.mu.Lock()
	p.lastID++
	id := p.lastID
	p.armed[id] = wait
	p.mu.Unlock()
	stopped := map[string]int64{} // how often each had been stopped when it was to be told; -1: it stood still
	for _, c := range p.meant(a) {
		if stopped[c.name] = c.stops.Load(); c.out.Held() {
			stopped[c.name] = -1
		}
		c.out.Send(armMessage(id, a)) //nolint:errcheck // one that has died cannot be told, and need not be
	}
	if a.Armed != nil {
		a.Armed()
	}
	defer func() { // those that live when the wait ends
		for _, c := range p.meant(a) {
			c.out.Disarm(id)
		}
	}()
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
	return nil, errors.Join(ctx.Err(), p.whoStopped(a, stopped))
}

// whoStopped is an error that names the clients that faults have stopped since an arm; nil: there is none.
func (p *lookout) whoStopped(a nemesis.Arm, before map[string]int64) error {
	var names []string
	for _, c := range p.meant(a) {
		if was, told := before[c.name]; told && was != c.stops.Load() {
			names = append(names, c.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &nemesis.StoppedError{Clients: names, All: len(names) == len(before)}
}

func armMessage(id int, a nemesis.Arm) control.Message {
	return control.Message{Op: control.Arm, ID: id, Point: a.Point, Nth: max(a.Nth, 1), GrantedBy: a.GrantedBy}
}

// meant are the living clients that an arm is about.
func (p *lookout) meant(a nemesis.Arm) []*client {
	return slices.DeleteFunc(p.all(), func(c *client) bool { return !about(a, c) })
}

func about(a nemesis.Arm, c *client) bool {
	return len(a.Clients) == 0 || slices.Contains(a.Clients, c.name)
}

// armNew arms the awaited points at a client that was just started.
func (p *lookout) armNew(c *client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, w := range p.armed {
		if about(w.Arm, c) {
			c.out.Send(armMessage(id, w.Arm)) //nolint:errcheck // see await
		}
	}
}

// reached is called when a worker stands at an armed point. The first one wins; the
// others go on at once.
func (p *lookout) reached(c *client, m control.Message) {
	var once sync.Once
	letGo := func() {
		once.Do(func() { c.out.Send(control.Message{Op: control.Go, ID: m.ID}) }) //nolint:errcheck // a dead client stands nowhere
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
	hit := &nemesis.Hit{
		Client: c, Point: m.Point, Lock: m.Lock, Grant: m.Grant, Lease: m.Lease, Connection: m.Connection,
		Nodes: m.Nodes, Go: letGo,
	}
	if m.Deadline != nil {
		hit.Deadline = history.Some(*m.Deadline)
	}
	wait.hit <- hit
}
