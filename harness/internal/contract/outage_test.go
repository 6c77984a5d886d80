package contract

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// outage: a request to a server that is down was not sent; what breaks on the way is of
// unknown outcome. One outage is for all backends of these servers: each has a client that was connected
// before, and one that comes after it.
func outage(t *testing.T, all []*bench) {
	l := make(lanes, len(all)) // at once: another server takes the place of a leader soon
	indices := make([]int, len(all))
	for i := range indices {
		indices[i] = i
	}
	each := func(when string, f func(b *bench, i int)) {
		t.Run(when, func(t *testing.T) {
			atOnce(l, indices, func(i int) {
				t.Run(all[i].spec.Name, func(t *testing.T) { f(all[i].with(t), i) })
			})
		})
	}
	clients := make([]backends.Locker, len(all))
	for i, b := range all {
		clients[i] = b.with(t).open() // closed after the outage
	}
	each("before", func(b *bench, i int) { b.release(b.take(clients[i], "errors", "a")) })
	dead := struck(all[0].cluster)
	for _, s := range dead {
		if err := s.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	each("errors", func(b *bench, i int) { b.refusedByTheDead(clients[i], len(dead)) })
	for _, s := range dead {
		if _, err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	each("again", func(b *bench, _ int) { b.grantedAgain(len(dead)) })
}

// grantedAgain takes and releases the lock, once the dead servers are back. Where another server takes the place of
// a dead leader, the old one comes back as a leader and grants until it is told to follow: what it has granted is
// lost with the failover, and the lock is taken again.
func (b *bench) grantedAgain(dead int) {
	l := b.open()
	for {
		lease, _ := b.begin(l, "errors-again", "c")
		_, err := b.released(lease)
		if err == nil {
			return
		}
		typ, _ := backends.Outcome(err)
		lost := errors.Is(err, backends.ErrNotHeld) || typ == history.Info
		if failover := b.cluster.Topology.Peers() && dead == 1; !lost || !failover || b.ctx.Err() != nil {
			b.Fatalf("release: %v", err)
		}
		b.Logf("the grant was lost with the failover, the lock is taken again: %v", err)
	}
}

// struck are the servers that die: so many that nobody is granted anything, or a leader whose place
// another one takes.
func struck(c *cluster.Cluster) []*cluster.Server {
	dead := c.Servers()[:1]
	if _, elected := cluster.As[cluster.Elector](dead[0]); elected || !c.Topology.Peers() { // a majority of them
		dead = c.Servers()[:len(c.Servers())/2+1]
	}
	return dead
}

// refusedByTheDead tries until the dead servers have refused one that was certainly not sent.
func (b *bench) refusedByTheDead(l backends.Locker, dead int) {
	req, _ := b.request("errors", "b")
	sawNotSent := b.spec.Buffers || b.spec.Model.Session // it is sent later
	limit, stop := context.WithTimeout(b.ctx, 20*time.Second)
	defer stop()
	// The first may still use the broken connection, and one whose time ends while it dials is of
	// unknown outcome: on a busy host it may take several until one is refused.
	for once := true; once || !sawNotSent && limit.Err() == nil; once = false {
		ctx, cancel := context.WithTimeout(limit, 2*time.Second)
		lease, err := l.TryAcquire(ctx, req)
		cancel()
		typ, code := backends.Outcome(err)
		switch {
		case typ == history.Fail && (code == history.ErrNotSent || (code == history.ErrBusy && dead > 1)):
			sawNotSent = true
		case typ == history.OK && !b.spec.Model.Locks(): // it asks nobody
			sawNotSent = true
		// a library that is patient has asked the one that took its place
		case typ == history.OK && b.cluster.Topology.Peers() && dead == 1:
			b.release(lease)
			sawNotSent = true
		case code == history.ErrBusy && b.cluster.Topology.Peers():
			// The one that took its place may have the key of the lease before, whose release it never got: until
			// that has run out.
		case typ != history.Info:
			b.Fatalf("a try of a dead server: %s %s (%v)", typ, code, err)
		}
	}
	if !sawNotSent {
		b.Error("a refused connection was not taken as not-sent")
	}
}
