package harness

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/points"
)

// Every backend of the catalogue keeps the contract, on each of its topologies and with
// every provider that can start them.
func TestBackendsKeepTheContract(t *testing.T) {
	cat := Default()
	for _, spec := range cat.Backends.All() {
		for _, name := range spec.Topologies {
			top, err := cat.Topologies.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, provider := range providersFor(spec, top) {
				t.Run(spec.Name+"/"+name+"/"+provider, func(t *testing.T) {
					t.Parallel()
					b := newBench(t, spec, name, provider)
					if name == spec.Topologies[0] || !top.Peers() {
						b.all()
						return
					}
					b.elsewhere()
				})
			}
		}
	}
}

func providersFor(spec backends.Spec, t cluster.Topology) []string {
	if len(t.Nodes) > 0 && t.Nodes[0].Binary == "" {
		return []string{cluster.EmbeddedName}
	}
	if len(t.Nodes) == 0 || t.Nodes[0].Embedded == nil || spec.RealServer != "" {
		return []string{cluster.ProcessName}
	}
	return []string{cluster.ProcessName, cluster.EmbeddedName}
}

func (b *bench) all() {
	b.Run("excludes", func(t *testing.T) { b.with(t).excludes() })
	b.Run("info", func(t *testing.T) { b.with(t).info() })
	b.Run("cancel", func(t *testing.T) { b.with(t).cancel() })
	b.Run("ends", func(t *testing.T) { b.with(t).ends() })
	b.Run("points", func(t *testing.T) { b.with(t).points() })
	if len(b.spec.Calls) > 0 {
		b.Run("calls", func(t *testing.T) { b.with(t).calls() })
	}
	if b.spec.Renews {
		b.Run("renews", func(t *testing.T) { b.with(t).renews() })
	}
	if len(b.cluster.Servers()) > 0 {
		b.Run("errors", func(t *testing.T) { b.with(t).errors() })
	}
}

// elsewhere is what may differ on another topology than the default one.
func (b *bench) elsewhere() {
	b.Run("excludes", func(t *testing.T) { b.with(t).excludes() })
	b.Run("info", func(t *testing.T) { b.with(t).info() })
	b.Run("errors", func(t *testing.T) { b.with(t).errors() })
}

// lets reports whether it lets several in by what it is: no lock, or one that is flawed so that
// nothing else comes of it here.
func (b *bench) lets() bool {
	return b.spec.Name == "none" || b.spec.Name == "sql-for-update-missing-row" || !b.spec.Model.Locks()
}

// excludes: while one holds, others are refused; after its release they are not.
func (b *bench) excludes() {
	first, second := b.open(), b.open()
	lease := b.take(first, "ex", "a")
	_, _, err := b.try(second, "ex", "b")
	if b.lets() {
		if err != nil {
			b.Fatalf("no lock refuses: %v", err)
		}
		return
	}
	if !b.refused(err) {
		b.Fatalf("a try of a held lock: %v, want ErrBusy", err)
	}
	b.release(lease)
	b.release(b.take(second, "ex", "c"))
}

// try is one try; of a lock that knows none, a wait of a quarter of the ttl.
func (b *bench) try(l backends.Locker, lock, owner string) (backends.Lease, *hookLog, error) {
	if !b.spec.NoTry {
		return b.attempt(b.ctx, l.TryAcquire, lock, owner)
	}
	ctx, cancel := context.WithTimeout(b.ctx, b.ttl/4)
	defer cancel()
	return b.attempt(ctx, l.Acquire, lock, owner)
}

// refused reports whether an attempt was certainly not granted, or, of a library that does not
// say so when it is given up, at least not said to be.
func (b *bench) refused(err error) bool {
	typ, _ := backends.Outcome(err)
	return errors.Is(err, backends.ErrBusy) || (b.spec.NoTry && errors.Is(err, backends.ErrNotSent)) || (b.spec.Model.Session && b.spec.Library != "" && typ == history.Info)
}

// info: times, owner, lease and tokens are what the contract says.
func (b *bench) info() {
	l := b.open()
	var last int64
	for _, owner := range []string{"a", "b", "c"} {
		before := b.clock.Now()
		lease := b.take(l, "info", owner)
		in := lease.Info()
		if in.Sent < before || in.Sent > b.clock.Now() {
			b.Errorf("sent %d is not between the call %d and its return", in.Sent, before)
		}
		own := b.spec.Ends == history.EndsLease
		leased := own || b.spec.Ends == history.EndsSession
		if leased != (in.Lease != "") || (leased && in.Deadline < in.Sent) || (own && (in.TTL != b.ttl || in.Deadline > in.Sent+b.ttl.Nanoseconds())) {
			b.Errorf("ends by %s, but info %+v", b.spec.Ends, in)
		}
		if (len(in.Nodes) > 0) != b.spec.Voters {
			b.Errorf("granted by %v, voters are named: %v", in.Nodes, b.spec.Voters)
		}
		if in.HasToken != b.spec.Tokens || (in.HasToken && in.Token <= last) {
			b.Errorf("token %d (%v) after %d", in.Token, in.HasToken, last)
		}
		last = in.Token
		b.release(lease)
	}
}

// cancel: a waiting acquire that is cancelled between tries was certainly not granted.
func (b *bench) cancel() {
	if b.lets() {
		return // never waits
	}
	first, second := b.open(), b.open()
	b.ttl = 20 * time.Second // nothing runs out meanwhile
	lease := b.take(first, "cancel", "a")
	ctx, cancel := context.WithCancel(b.ctx)
	req, hooks := b.request("cancel", "b")
	req.Hooks.Point = func(_ context.Context, name string) {
		hooks.points = append(hooks.points, name)
		cancel()
	}
	if _, err := second.Acquire(ctx, req); !b.refused(err) {
		b.Fatalf("cancelled: %v, want ErrBusy", err)
	}
	if len(hooks.points) == 0 || hooks.points[0] != points.Waiting {
		b.Errorf("points %v, want waiting first", hooks.points)
	}
	b.release(lease)
	b.release(b.take(second, "cancel", "c"))
}

// ends: a lease frees the lock from sent + ttl on and not before; a lock without one
// stays held.
func (b *bench) ends() {
	if b.lets() || b.spec.Renews {
		return
	}
	first, second := b.open(), b.open()
	lease := b.take(first, "ends", "a")
	defer runtime.KeepAlive(lease) // a lease that is garbage may close its file
	held := lease.Info()
	if b.spec.Ends != history.EndsLease {
		ctx, cancel := context.WithTimeout(b.ctx, 2*b.ttl)
		defer cancel()
		req, _ := b.request("ends", "b")
		if _, err := second.Acquire(ctx, req); !errors.Is(err, backends.ErrBusy) {
			b.Fatalf("a lock that ends by %s was granted again: %v", b.spec.Ends, err)
		}
		return
	}
	next := b.take(second, "ends", "b").Info()
	if now := b.clock.Now(); now < held.Sent+b.ttl.Nanoseconds()-tolerance.Nanoseconds() {
		b.Errorf("granted again %v after it was sent, ttl %v", time.Duration(now-held.Sent), b.ttl)
	}
	if next.Sent < held.Sent {
		b.Errorf("sent %d before %d", next.Sent, held.Sent)
	}
}

// points: the backend reaches every point that it declares, in their order: some of them only
// while another client holds the lock.
func (b *bench) points() {
	if len(b.spec.Points) == 0 {
		return
	}
	lease, alone, err := b.attempt(b.ctx, b.open().Acquire, "points", "a")
	if err != nil {
		b.Fatal(err)
	}
	second, waited := b.open(), make(chan struct{})
	var hooks *hookLog
	go func() {
		defer close(waited)
		var next backends.Lease
		if next, hooks, err = b.attempt(b.ctx, second.Acquire, "points", "b"); err == nil {
			err = next.Release(b.ctx)
		}
	}()
	select { // until it waits, or has all that it needs
	case <-waited:
	case <-time.After(b.ttl / 4):
	}
	b.release(lease)
	if <-waited; err != nil {
		b.Fatal(err)
	}
	reached := slices.Concat(alone.points, hooks.points)
	for _, p := range b.spec.Points {
		i := slices.Index(reached, p.Name)
		if i < 0 {
			b.Fatalf("reached %v and %v, declares %v", alone.points, hooks.points, b.spec.Points)
		}
		reached = reached[i+1:]
	}
}

// renews: the lease outlives its ttl, and the renewals end before the release.
func (b *bench) renews() {
	first, second := b.open(), b.open()
	lease, hooks, err := b.attempt(b.ctx, first.Acquire, "renews", "a")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 3*b.ttl)
	defer cancel()
	if _, _, err := b.attempt(ctx, second.Acquire, "renews", "b"); err == nil {
		b.Fatal("granted to another although it is renewed")
	}
	b.release(lease)
	if b.spec.Model.Session {
		hooks = b.session
	}
	hooks.mu.Lock()
	defer hooks.mu.Unlock()
	if len(hooks.renews) < 3 {
		b.Errorf("%d renewals in 3 ttl", len(hooks.renews))
	}
}

// errors: a request to a server that is down was not sent; what breaks on the way is of
// unknown outcome.
func (b *bench) errors() {
	l := b.open()
	b.release(b.take(l, "errors", "a"))
	dead := b.cluster.Servers()[:1]
	if _, elected := cluster.As[cluster.Elector](dead[0]); elected || !b.cluster.Topology.Peers() { // a majority of them
		dead = b.cluster.Servers()[:len(b.cluster.Servers())/2+1]
	}
	for _, s := range dead {
		if err := s.Kill(b.ctx); err != nil {
			b.Fatal(err)
		}
	}
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
		case typ == history.Fail && (code == history.ErrNotSent || (code == history.ErrBusy && len(dead) > 1)):
			sawNotSent = true
		case typ == history.OK && !b.spec.Model.Locks(): // it asks nobody
			sawNotSent = true
		case typ == history.OK && b.cluster.Topology.Peers() && len(dead) == 1: // a library that is patient has asked the one that took its place
			b.release(lease)
			sawNotSent = true
		case typ != history.Info:
			b.Fatalf("a try of a dead server: %s %s (%v)", typ, code, err)
		}
	}
	if !sawNotSent {
		b.Error("a refused connection was not taken as not-sent")
	}
	for _, s := range dead {
		if _, err := s.Restart(b.ctx); err != nil {
			b.Fatal(err)
		}
	}
	again := b.open()
	b.release(b.take(again, "errors-again", "c"))
}
