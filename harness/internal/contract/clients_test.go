package contract

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness/internal/worker"
	"github.com/lockstorm/lockstorm/history"
)

// bench is a backend with its servers, which it may share, and as many clients as a test opens.
type bench struct {
	*testing.T
	ctx     context.Context
	spec    backends.Spec
	cluster *cluster.Cluster
	dir     string
	clock   history.Clock
	ttl     time.Duration
	retry   time.Duration
	n       uint64
	session *hookLog // of all clients
	names   *names
}

// names are those of the locks that were asked for in vain: a request that was given up may hold such a lock for as long
// as its client lives, or for good, and the test goes on with another lock.
type names struct {
	mu    sync.Mutex
	again map[string]int
}

// name is the name that a lock of the test has for now.
func (n *names) name(lock string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return lock + strings.Repeat("-again", n.again[lock])
}

func (n *names) leave(lock string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.again[lock]++
}

func newBench(t *testing.T, spec backends.Spec, c *cluster.Cluster) *bench {
	ttl := 300 * time.Millisecond
	switch {
	case spec.Voters: // they give each node a part of it, which a busy host uses up
		ttl = 2 * time.Second
	case spec.Ends == history.EndsSession: // some stores know whole seconds
		ttl = 2 * time.Second
	case spec.Renews: // a renewal may come late on a busy host
		ttl = 2 * time.Second
	}
	return &bench{
		session: &hookLog{lost: make(chan string, 1)}, spec: spec, cluster: c, dir: t.TempDir(),
		clock: history.NewClock(), ttl: ttl, retry: ttl / 50, names: &names{again: map[string]int{}},
	}
}

// open is a new client of the backend.
func (b *bench) open() backends.Locker {
	b.Helper()
	b.n++
	var book worker.AddressBook
	env := backends.Env{
		Run: "run-" + b.spec.Name, Client: "c", Dial: book.Dial, Dir: b.dir, TTL: b.ttl, Retry: b.retry, Timeout: 2 * time.Second,
		Now: b.clock.Now, Session: b.session.session(), Values: b.spec.Defaults(), Rand: rand.New(rand.NewPCG(b.n, 1)), // a seed
	}
	for _, s := range b.cluster.Servers() {
		book.Set(map[string]string{s.Name(): s.Addr()})
		env.Nodes = append(env.Nodes, cluster.Ref{Name: s.Name(), Role: s.Recipe().Role, Announced: s.Announced()})
	}
	book.Announce(env.Nodes)
	l, err := b.spec.Open(b.ctx, env)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	return l
}

// patient opens clients whose leases do not run out from now on, however busy the host: those that nobody renews
// are long. What a session has left behind, where it could not say good-bye, is in the way for as long as it
// lives, so that it is not as long.
func (b *bench) patient(n int) (clients []backends.Locker) {
	b.Helper()
	switch {
	case b.spec.Ends == history.EndsSession:
		b.ttl = 5 * time.Second
	case b.spec.Ends == history.EndsLease && !b.spec.Renews:
		b.ttl = 20 * time.Second
	}
	for range n {
		clients = append(clients, b.open())
	}
	return clients
}

// log collects what a backend tells its client.
type hookLog struct {
	mu     sync.Mutex
	points []string
	renews []error
	lost   chan string

	deadline int64 // of the last renewal that was confirmed
}

// session is for leases that several grants share.
func (h *hookLog) session() backends.Session {
	return backends.Session{
		Opened:   func(string, backends.Renewal) error { return nil },
		Renewing: h.renewing, Lost: func(_, reason string) { h.tell(reason) },
	}
}

func (h *hookLog) renewing(string) (func(backends.Renewal, error), error) {
	return func(r backends.Renewal, err error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.renews = append(h.renews, err)
		if err == nil {
			h.deadline = max(h.deadline, r.Deadline)
		}
	}, nil
}

// tell keeps the first reason: a library may give a lock up and tell of the loss as well.
func (h *hookLog) tell(reason string) {
	select {
	case h.lost <- reason:
	default:
	}
}

func (b *bench) request(lock, owner string) (backends.Request, *hookLog) {
	h := &hookLog{lost: make(chan string, 1)}
	return backends.Request{Lock: b.names.name(lock), Owner: owner, TTL: b.ttl, Hooks: backends.Hooks{
		Point: func(_ context.Context, name string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.points = append(h.points, name)
		},
		Renewing: h.renewing,
		GivingUp: func(_, reason string) (func(error), error) {
			h.tell(reason)
			return func(error) {}, nil
		},
		Lost: func(_, reason string) { h.tell(reason) },
	}}, h
}

// with is the same bench inside a subtest, which has a minute.
func (b *bench) with(t *testing.T) *bench {
	c := *b
	c.T = t
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	c.ctx = ctx
	c.n = rand.Uint64() // only to be different
	c.names = &names{again: map[string]int{}}
	return &c
}

// take acquires a lock that is free, or will be. A library that waits for the word of a server waits on where a busy host
// lost it: a wait of some seconds is given up, and made again.
func (b *bench) take(l backends.Locker, lock, owner string) backends.Lease {
	b.Helper()
	lease, _ := b.acquire(l, lock, owner, false)
	return lease
}

// begin is take of a lock that nobody was granted yet, so that another one will do: a request that was given up may hold it.
func (b *bench) begin(l backends.Locker, lock, owner string) (backends.Lease, *hookLog) {
	b.Helper()
	return b.acquire(l, lock, owner, true)
}

func (b *bench) acquire(l backends.Locker, lock, owner string, fresh bool) (backends.Lease, *hookLog) {
	b.Helper()
	for {
		ctx, cancel := context.WithTimeout(b.ctx, 8*time.Second)
		lease, told, err := b.attempt(ctx, l.Acquire, lock, owner)
		if err == nil {
			b.Cleanup(cancel) // some give the lock up with the context that it was asked for with
			return lease, told
		}
		givenUp := ctx.Err() != nil
		cancel()
		if !givenUp || b.ctx.Err() != nil {
			b.Fatalf("acquire %s: %v", lock, err)
		}
		b.Logf("acquire %s is made again: %v", lock, err)
		if fresh && b.spec.Ends != history.EndsLease {
			b.names.leave(lock)
		}
	}
}

// acquiring is Acquire or TryAcquire of a client.
type acquiring func(context.Context, backends.Request) (backends.Lease, error)

// attempt asks for the lock. An acquire of unknown outcome proves nothing, nor does one that never left, and it is made
// again under another name: some locks give a server no more than a part of the ttl.
func (b *bench) attempt(ctx context.Context, acquire acquiring, lock, owner string) (backends.Lease, *hookLog, error) {
	for i := 0; ; i++ {
		req, hooks := b.request(lock, fmt.Sprintf("%s%d", owner, i))
		lease, err := acquire(ctx, req)
		notSent := errors.Is(err, backends.ErrNotSent) // the library has no server yet, or a busy host took the time to connect
		if typ, _ := backends.Outcome(err); (typ != history.Info && !notSent) || ctx.Err() != nil {
			return lease, hooks, err
		}
	}
}

func (b *bench) release(l backends.Lease) (certain bool) {
	b.Helper()
	certain, err := b.released(l)
	if err != nil {
		b.Fatalf("release: %v", err)
	}
	return certain
}

// released gives the lease back: nil where the answer is one that a live store may give, certain where it is known that the lock
// is free.
func (b *bench) released(l backends.Lease) (certain bool, _ error) {
	if r, ok := l.(backends.Renewer); ok {
		r.StopRenewing()
	}
	err := l.Release(b.ctx)
	if in := l.Info(); errors.Is(err, backends.ErrNotHeld) && !b.spec.Renews && in.Deadline > 0 && b.clock.Now() > in.Deadline {
		return true, nil // on a busy host the lease has run out, and the store says so
	}
	typ, _ := backends.Outcome(err)
	if (b.spec.Model.Session || b.spec.Voters) && typ == history.Info {
		return false, nil // a busy host may cost a session its connection, and the answer; nodes that vote have little time for theirs
	}
	if b.spec.Ends == history.EndsSession && errors.Is(err, backends.ErrNotSent) {
		return false, nil // it may even cost the session, whose end frees the lock
	}
	return err == nil, err
}
