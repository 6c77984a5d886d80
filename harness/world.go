package harness

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

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
		out = append(out, node{n})
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
	f := w.s.cluster.Fleet()
	if f == nil {
		return nil
	}
	return fleet{f}
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

// Dir is the folder that all clients share.
func (w world) Dir() string { return filepath.Join(w.s.dir, nodesDir) }

// Now is the run's clock.
func (w world) Now() int64 { return w.s.clock.Now() }

// Arm waits for a client at a point.
func (w world) Arm(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
	if history.IsMessagePoint(a.Point) {
		return w.s.carried(ctx, a)
	}
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
	return c.name, c.out.Send(control.Message{Op: control.Start})
}

// Killing records a kill before its signal.
func (w world) Killing(client, node string) error {
	return w.s.nemesisRec.Notice(history.Line{F: history.FKill, Client: client, Node: node})
}

// TTL is the time to live of the leases.
func (w world) TTL() time.Duration { return w.s.r.TTL }
