package faults

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/clockshim"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

func TestMain(m *testing.M) {
	clustertest.Main()
	leaktest.Main(m)
}

const (
	testLimit = time.Minute            // what has not come by then does not come
	labTTL    = 400 * time.Millisecond // of leases
	labLock   = "lock-0"               // and the name of its key
)

// lab is a world of real parts: servers and clients are processes, links are links. What a
// client does at its points, the test says, or a worker (see work).
//
//	client process       front -> link c1->store-1 -> server process
//	worker of c1  --------^
type lab struct {
	gate
	t       *testing.T
	ctx     context.Context //nolint:containedctx // of the test
	clock   history.Clock
	net     *link.Network
	starter *proc.Starter
	cluster *cluster.Cluster
	workers sync.WaitGroup

	mu      sync.Mutex
	started int
	clients []*labClient
	fronts  map[link.Pair]string
	kills   []string // that were announced
	grants  []labGrant
	stuck   error // Replace fails with it
}

var _ nemesis.World = (*lab)(nil)

// Dir is a folder of the test.
func (l *lab) Dir() string { return l.t.TempDir() }

// newLab starts a topology, and so many clients. The register of the lab is its first store.
func newLab(t *testing.T, top cluster.Topology, clients int) *lab {
	t.Helper()
	return openLab(t, top, clients, "")
}

// newJumpingLab is one whose clocks can jump.
func newJumpingLab(t *testing.T, top cluster.Topology) *lab {
	t.Helper()
	shim, err := clockshim.Build(t.Context())
	if err != nil {
		t.Fatalf("%v\n(make test installs what the tests need)", err)
	}
	return openLab(t, top, 0, shim)
}

func openLab(t *testing.T, top cluster.Topology, clients int, shim string) *lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	l := &lab{t: t, ctx: ctx, clock: history.NewClock(), net: link.New(), starter: proc.NewStarter(), fronts: map[link.Pair]string{}}
	t.Cleanup(func() { l.close(cancel) })
	p := cluster.ProcessProvider{Starter: l.starter}
	c, err := cluster.Start(ctx, top, p, filepath.Join(t.TempDir(), "nodes"), cluster.Options{Network: l.net, Shim: shim})
	if err != nil {
		t.Fatal(err)
	}
	l.cluster = c
	l.net.Serve(history.PartyRegister, "", c.Servers()[0].Addr())
	for range clients {
		if _, err := l.startClient(); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// close ends all that was started.
func (l *lab) close(cancel func()) {
	cancel()
	l.workers.Wait()
	ctx, done := context.WithTimeout(context.Background(), testLimit)
	defer done()
	for _, c := range l.clients {
		if err := c.Process.Kill(ctx); err != nil {
			l.t.Error(err)
		}
	}
	if l.cluster != nil {
		if err := l.cluster.Stop(ctx); err != nil {
			l.t.Error(err)
		}
	}
	if err := l.net.Close(); err != nil {
		l.t.Error(err)
	}
	l.starter.Close()
}

// inject plans the fault as the user asks for it, and injects it with the parameters of the
// first step.
func (l *lab) inject(spec string, t nemesis.Target) (nemesis.Effect, error) {
	l.t.Helper()
	return l.injectWithin(l.ctx, spec, t)
}

// givesUp injects what is going to wait for something that does not come, and says what the error
// is. It is given little time; on a busy host more, where it did not come as far as that wait.
func (l *lab) givesUp(spec string, t nemesis.Target, want string) {
	l.t.Helper()
	for limit := 100 * time.Millisecond; ; limit *= 2 {
		ctx, cancel := context.WithTimeout(l.ctx, limit)
		e, err := l.injectWithin(ctx, spec, t)
		cancel()
		if err == nil || strings.Contains(err.Error(), want) || limit > 10*time.Second {
			l.fails(e, err, want)
			return
		}
		l.heal(e)
	}
}

func (l *lab) injectWithin(ctx context.Context, spec string, t nemesis.Target) (nemesis.Effect, error) {
	l.t.Helper()
	in := wide(spec)
	in.TTL = labTTL
	p, err := nemesis.NewPlan(all(), in)
	if err != nil {
		l.t.Fatal(err)
	}
	st := p.Requests[0].Steps[0]
	t.For, t.Params, t.Draw = time.Duration(st.For), st.Params, st.Draw
	s, err := all().Get(p.Requests[0].Fault)
	if err != nil {
		l.t.Fatal(err)
	}
	return s.Fault.Inject(ctx, l, t)
}

// must injects what has nothing in its way.
func (l *lab) must(spec string, t nemesis.Target) nemesis.Effect {
	l.t.Helper()
	e, err := l.inject(spec, t)
	if err != nil {
		l.t.Fatal(err)
	}
	if e.Proof == "" {
		l.t.Fatal("there is no proof")
	}
	return e
}

// heal undoes a fault and returns what was seen. One that left nothing to undo is fine.
func (l *lab) heal(e nemesis.Effect) string {
	l.t.Helper()
	if e.Heal == nil {
		return ""
	}
	text, err := e.Heal(l.ctx)
	if err != nil {
		l.t.Fatalf("heal: %v", err)
	}
	return text
}

// fails says what the error is, which must be there, and heals what was left.
func (l *lab) fails(e nemesis.Effect, err error, want string) {
	l.t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		l.t.Errorf("error %v, want %q", err, want)
	}
	l.heal(e)
}

// says compares what was observed.
func (l *lab) says(text string, wants ...string) {
	l.t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			l.t.Errorf("it says %q, want %q", text, want)
		}
	}
}

// await waits for something to come true.
func (l *lab) await(what string, there func() bool) {
	l.t.Helper()
	if nemesis.Until(l.ctx, func() (bool, error) { return there(), nil }) != nil {
		l.t.Fatalf("no %s in time", what)
	}
}

// check fails the test with an error.
func (l *lab) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}
