package harness

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/nemesis/link"
)

// points matches what faults wait for with what workers reach.
type points struct {
	mu     sync.Mutex
	lastID int
	armed  map[int]*pointWait
	all    func() []*client
}

type pointWait struct {
	nemesis.Arm
	hit chan *nemesis.Hit
}

func newPoints(all func() []*client) *points {
	return &points{armed: map[int]*pointWait{}, all: all}
}

// await arms a point at the clients that may hit it and waits for the first.
func (p *points) await(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
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
	defer func() { p.tell(a, p.all(), message{Op: opDisarm, ID: id}) }() // clients of then, not of now
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

func armMessage(id int, a nemesis.Arm) message {
	return message{Op: opArm, ID: id, Point: a.Point, Nth: max(a.Nth, 1), GrantedBy: a.GrantedBy}
}

// tell sends a message to the clients that an arm is about. A client that has died
// cannot be told, and need not be.
func (p *points) tell(a nemesis.Arm, clients []*client, m message) {
	for _, c := range clients {
		if len(a.Clients) == 0 || slices.Contains(a.Clients, c.name) {
			c.ch.send(m) //nolint:errcheck // see above
		}
	}
}

// armNew arms what is being waited for at a client that was just started.
func (p *points) armNew(c *client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, w := range p.armed {
		p.tell(w.Arm, []*client{c}, armMessage(id, w.Arm))
	}
}

// reached is called when a worker stands at an armed point. The first one wins; the
// others go on at once.
func (p *points) reached(c *client, m message) {
	var once sync.Once
	letGo := func() {
		once.Do(func() { c.ch.send(message{Op: opGo, ID: m.ID}) }) //nolint:errcheck // a dead client stands nowhere
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
	hit := &nemesis.Hit{Client: c, Point: m.Point, Lock: m.Lock, Grant: m.Grant, Nodes: m.Nodes, Go: letGo}
	if m.Deadline != nil {
		hit.Deadline = history.Some(*m.Deadline)
	}
	wait.hit <- hit
}

// world is the run as faults see it.
type world struct{ s *session }

var _ nemesis.World = world{}

// Clients lists the living clients.
func (w world) Clients() []nemesis.Client {
	var out []nemesis.Client
	for _, c := range w.s.living() {
		out = append(out, c)
	}
	return out
}

// Nodes lists the servers.
func (w world) Nodes() []nemesis.Node {
	var out []nemesis.Node
	for _, n := range w.s.cluster.Servers() {
		out = append(out, asNode(n))
	}
	return out
}

// ArmAll arms the point at every living client and waits until all stand there. Those
// that came are returned also when others did not.
func (w world) ArmAll(ctx context.Context, point string) ([]*nemesis.Hit, error) {
	clients := w.s.living()
	hits := make([]*nemesis.Hit, len(clients))
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			living, cancel := context.WithCancel(ctx)
			defer cancel()
			wg.Go(func() {
				select {
				case <-c.Done():
					cancel()
				case <-living.Done():
				}
			})
			hits[i], errs[i] = w.s.points.await(living, nemesis.Arm{Point: point, Clients: []string{c.name}})
			if c.Exited() {
				hits[i], errs[i] = nil, nil // it cannot go on, or come any more
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(hits, func(h *nemesis.Hit) bool { return h == nil }), errors.Join(errs...)
}

// Net is the links between the parties.
func (w world) Net() *link.Network { return w.s.net }

// Fleet is the servers whose master is replaced when it fails.
func (w world) Fleet() nemesis.Fleet {
	if w.s.r.topology.FailOver == 0 {
		return nil
	}
	return fleet(w)
}

// Keys are the names of a lock, or of all locks, in the store.
func (w world) Keys(lock string) []string {
	if w.s.r.backend.Keys == nil {
		return nil
	}
	if lock != "" {
		return w.s.r.backend.Keys(w.s.runID(), lock)
	}
	var out []string
	for _, l := range w.s.r.locks {
		out = append(out, w.s.r.backend.Keys(w.s.runID(), l)...)
	}
	return out
}

// Now is the run's clock.
func (w world) Now() int64 { return w.s.clock.Now() }

// Arm waits for a client at a point.
func (w world) Arm(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
	return w.s.points.await(ctx, a)
}

// Granted waits for a grant to another client.
func (w world) Granted(ctx context.Context, lock, not string, after int64) error {
	return w.s.tail.waitGrant(ctx, lock, not, after)
}

// Replace starts a new client.
func (w world) Replace(ctx context.Context, killed nemesis.Client) (string, error) {
	if err := w.s.net.Leave(killed.Name()); err != nil {
		return "", err
	}
	c, err := w.s.startClient(ctx)
	if err != nil {
		return "", err
	}
	w.s.points.armNew(c)
	return c.name, c.ch.send(message{Op: opStart})
}

// Killing records a kill before its signal.
func (w world) Killing(client, node string) error {
	return w.s.nemesisRec.Notice(history.Event{F: history.FKill, Client: client, Node: node})
}

// TTL is the time to live of the leases.
func (w world) TTL() time.Duration { return w.s.r.TTL }
