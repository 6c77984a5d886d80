package contract

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// Every backend of the catalogue keeps the contract, on each of its topologies and with
// every provider that can start them. Backends share the servers: each has a run of its own there, and the
// server that dies dies for all of them.
func TestBackendsKeepTheContract(t *testing.T) {
	n := 7 // more would be too much for two cores
	if setting.Race {
		n = 5
	}
	if setting.Slow() {
		n = n/2 + 1
	}
	servers, clients := make(lanes, n), make(lanes, 8)
	atOnce(servers, shared(t), func(s *sharing) {
		t.Run(s.topology.Name+"/"+s.provider, func(t *testing.T) {
			c := startTopology(t, s.topology.Name, s.provider)
			var all []*bench
			for _, spec := range s.specs {
				all = append(all, newBench(t, spec, c))
			}
			atOnce(clients, all, func(b *bench) {
				t.Run(b.spec.Name, func(t *testing.T) { b.with(t).alive() })
			})
			if len(c.Servers()) > 0 {
				outage(t, all)
			}
		})
	})
}

// tolerance is how much earlier than a lease's end a grant may come.
const tolerance = 5 * time.Millisecond

// waits is how long a client may take until it waits for a lock that another one has.
const waits = 250 * time.Millisecond

// lanes are how much is done at once. The tests that go by them wait for most of their time, and are not
// parallel ones, which would be as many as there are cores.
type lanes chan struct{}

// atOnce does f for all, and waits for the last one.
func atOnce[T any](l lanes, all []T, f func(T)) {
	var wg sync.WaitGroup
	for _, one := range all {
		l <- struct{}{}
		wg.Go(func() {
			defer func() { <-l }()
			f(one)
		})
	}
	wg.Wait()
}

// sharing are the backends that can run on the same servers.
type sharing struct {
	topology cluster.Topology
	provider string
	specs    []backends.Spec
}

func shared(t *testing.T) (all []*sharing) {
	cat := plainCatalogue()
	for _, spec := range cat.Backends.All() {
		for _, name := range spec.Topologies {
			top, err := cat.Topologies.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, provider := range providersFor(spec, top) {
				i := slices.IndexFunc(all, func(s *sharing) bool { return s.topology.Name == name && s.provider == provider })
				if i < 0 {
					i = len(all)
					all = append(all, &sharing{topology: top, provider: provider})
				}
				all[i].specs = append(all[i].specs, spec)
			}
		}
	}
	// Those of many servers take the longest, and begin first.
	slices.SortStableFunc(all, func(a, b *sharing) int { return len(b.topology.Nodes) - len(a.topology.Nodes) })
	return all
}

func providersFor(spec backends.Spec, t cluster.Topology) []string {
	if len(t.Nodes) > 0 && t.Nodes[0].Binary == "" {
		return []string{cluster.EmbeddedName}
	}
	if len(t.Nodes) == 0 || !t.Nodes[0].Embeds() || spec.RealServer != "" {
		return []string{cluster.ProcessName}
	}
	return []string{cluster.ProcessName, cluster.EmbeddedName}
}

// alive is what a backend does while its servers serve. On another topology than the default one only
// some of it may differ.
func (b *bench) alive() {
	b.Run("excludes", func(t *testing.T) { b.with(t).excludes() })
	b.Run("info", func(t *testing.T) { b.with(t).info() })
	if top := b.cluster.Topology; top.Name != b.spec.Topologies[0] && top.Peers() {
		return
	}
	b.Run("cancel", func(t *testing.T) { b.with(t).cancel() })
	b.Run("ends", func(t *testing.T) { b.with(t).ends() })
	b.Run("points", func(t *testing.T) { b.with(t).points() })
	if len(b.spec.Calls) > 0 {
		b.Run("calls", func(t *testing.T) { b.with(t).calls() })
	}
	if b.spec.Renews {
		b.Run("renews", func(t *testing.T) { b.with(t).renews() })
	}
}

// lets reports whether it lets several in by what it is: no lock, or one that is flawed so that
// nothing else comes of it here.
func (b *bench) lets() bool {
	return b.spec.Name == "none" || b.spec.Name == "sql-for-update-missing-row" || !b.spec.Model.Locks()
}

// excludes: while one holds, others are refused; after its release they are not.
func (b *bench) excludes() {
	patience, clients := b.ttl/4, b.patient(2)
	first, second := clients[0], clients[1]
	lease, told := b.begin(first, "ex", "a")
	other, _, err := b.try(second, "ex", "b", patience)
	for again := 0; err == nil && again < 3 && b.ranOut(lease, told); again++ {
		b.release(other)
		lease, told = b.begin(first, "ex", "a")
		other, _, err = b.try(second, "ex", "b", patience)
	}
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

// ranOut reports whether a lease that its library renews has run out by now, on a busy host: its last renewal that was confirmed
// is too old.
func (b *bench) ranOut(l backends.Lease, told *hookLog) bool {
	if !b.spec.Renews {
		return false
	}
	told.mu.Lock()
	defer told.mu.Unlock()
	deadline := max(l.Info().Deadline, told.deadline)
	return deadline > 0 && b.clock.Now() > deadline
}

// try is one try; of a lock that knows none, a wait of some patience.
func (b *bench) try(l backends.Locker, lock, owner string, patience time.Duration) (backends.Lease, *hookLog, error) {
	if !b.spec.NoTry {
		return b.attempt(b.ctx, l.TryAcquire, lock, owner)
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return b.attempt(ctx, l.Acquire, lock, owner)
}

// refused reports whether an attempt was certainly not granted, or, of a library that does not
// say so when it is given up, at least not said to be.
func (b *bench) refused(err error) bool {
	typ, _ := backends.Outcome(err)
	return errors.Is(err, backends.ErrBusy) || (b.spec.NoTry && errors.Is(err, backends.ErrNotSent)) ||
		(b.spec.Model.Session && b.spec.Library != "" && typ == history.Info)
}

// info: times, owner, lease and tokens are what the contract says.
func (b *bench) info() {
	if b.spec.Ends == history.EndsSession { // it is renewed, which must not come late
		b.patient(0)
	}
	opened := b.clock.Now()
	l := b.open()
	var last int64
	freed := true // a session that may still have the last grant may be granted the same again
	for _, owner := range []string{"a", "b", "c"} {
		before := b.clock.Now()
		lease := b.take(l, "info", owner)
		in := lease.Info()
		if in.Sent < before || in.Sent > b.clock.Now() {
			b.Errorf("sent %d is not between the call %d and its return", in.Sent, before)
		}
		if b.spec.Ends == history.EndsSession {
			b.promised(in, opened)
		} else if own := b.spec.Ends == history.EndsLease; own != (in.Lease != "") ||
			(own && (in.TTL != b.ttl || in.Deadline < in.Sent || in.Deadline > in.Sent+b.ttl.Nanoseconds())) {
			b.Errorf("ends by %s, but info %+v", b.spec.Ends, in)
		}
		if (len(in.Nodes) > 0) != b.spec.Voters {
			b.Errorf("granted by %v, voters are named: %v", in.Nodes, b.spec.Voters)
		}
		if in.HasToken != b.spec.Tokens || (in.HasToken && in.Token <= last && (freed || in.Token < last)) {
			b.Errorf("token %d (%v) after %d", in.Token, in.HasToken, last)
		}
		last, freed = in.Token, b.release(lease)
	}
}

// promised: a grant that ends with its session knows how long that one lives at least. On a busy host its
// last renewal may be older than the grant, so that the deadline is held against the opening.
func (b *bench) promised(in backends.Info, opened int64) {
	if in.Lease == "" || in.Deadline < opened || in.Deadline > b.clock.Now()+in.TTL.Nanoseconds() {
		b.Errorf("ends by %s, opened at %d, but info %+v", b.spec.Ends, opened, in)
	}
}

// cancelTries is how often a cancelled acquire may be of unknown outcome: a library that is told of a change of the lock's key,
// as the holder's extensions are on a busy host, may ask once more after it was cancelled; nodes that vote have little time for
// their answers.
const cancelTries = 20

// cancel: a waiting acquire that is cancelled between tries was certainly not granted.
func (b *bench) cancel() {
	if b.lets() {
		return // never waits
	}
	clients := b.patient(2)
	first, second := clients[0], clients[1]
	lease, _ := b.begin(first, "cancel", "a")
	for try := 1; ; try++ {
		ctx, cancel := context.WithCancel(b.ctx)
		req, hooks := b.request("cancel", "b")
		req.Hooks.Point = func(_ context.Context, name string) {
			hooks.points = append(hooks.points, name)
			cancel()
		}
		_, err := second.Acquire(ctx, req)
		cancel()
		typ, _ := backends.Outcome(err)
		noMajority := b.spec.Voters && typ == history.Info
		if !noMajority && (len(hooks.points) == 0 || hooks.points[0] != history.AtWaiting) {
			b.Errorf("points %v, want waiting first", hooks.points)
		}
		if b.refused(err) {
			break
		}
		if !noMajority && (b.spec.Library == "" || typ != history.Info) || try == cancelTries {
			b.Fatalf("cancelled, try %d: %v, want ErrBusy", try, err)
		}
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
	lease, _ := b.begin(first, "ends", "a")
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
// while another client holds the lock. On a busy host the other client may come too late to wait, and the holder waits for
// longer.
func (b *bench) points() {
	if len(b.spec.Points) == 0 {
		return
	}
	clients := b.patient(2)
	for patience := waits; ; patience *= 2 {
		first, second := b.reached(clients, patience)
		rest := slices.Concat(first, second)
		i := 0
		for ; i < len(b.spec.Points); i++ {
			at := slices.Index(rest, b.spec.Points[i].Name)
			if at < 0 {
				break
			}
			rest = rest[at+1:]
		}
		if i == len(b.spec.Points) {
			return
		}
		if patience > 10*waits {
			b.Fatalf("reached %v and %v, declares %v", first, second, b.spec.Points)
		}
	}
}

// reached are the points that a client reaches with a free lock, and another one that waits until the lock is released after some
// time.
func (b *bench) reached(clients []backends.Locker, patience time.Duration) (first, second []string) {
	lease, alone, err := b.attempt(b.ctx, clients[0].Acquire, "points", "a")
	if err != nil {
		b.Fatal(err)
	}
	waited := make(chan struct{})
	var hooks *hookLog
	go func() {
		defer close(waited)
		var next backends.Lease
		if next, hooks, err = b.attempt(b.ctx, clients[1].Acquire, "points", "b"); err == nil {
			err = next.Release(b.ctx)
		}
	}()
	select { // until it waits, or has all that it needs
	case <-waited:
	case <-time.After(patience):
	}
	b.release(lease)
	if <-waited; err != nil {
		b.Fatal(err)
	}
	return alone.points, hooks.points
}

// renews: the lease outlives its ttl, and the renewals end before the release. On a host that is busy for longer than a ttl the
// renewals come too late: it is tried again, with a longer one.
func (b *bench) renews() {
	for try := 1; ; try++ {
		err := b.outlives(fmt.Sprint("renews", try))
		if err == nil {
			return
		}
		if try == 3 {
			b.Fatal(err)
		}
		b.Logf("try %d, ttl %v: %v", try, b.ttl, err)
		b.ttl *= 2
	}
}

func (b *bench) outlives(lock string) error {
	b.session = &hookLog{lost: make(chan string, 1)}
	first, second := b.open(), b.open()
	lease, hooks, err := b.attempt(b.ctx, first.Acquire, lock, "a")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(b.ctx, 3*b.ttl)
	defer cancel()
	other, _, err := b.attempt(ctx, second.Acquire, lock, "b")
	if err == nil {
		b.release(other)
		return errors.New("granted to another although it is renewed")
	}
	if _, err := b.released(lease); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	if b.spec.Model.Session {
		hooks = b.session
	}
	hooks.mu.Lock()
	defer hooks.mu.Unlock()
	if len(hooks.renews) < 3 {
		return fmt.Errorf("%d renewals in 3 ttl", len(hooks.renews))
	}
	return nil
}
