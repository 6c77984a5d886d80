package nemesis

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

type someClient struct {
	Client
	name string
}

func (c someClient) Name() string { return c.name }
func (c someClient) Doing() Doing { return Holds }

// oneHit is a world with one client, which stands at the point under a lease.
type oneHit struct {
	World
	clock history.Clock
	hit   *Hit
}

func (w *oneHit) Clients() []Client  { return []Client{w.hit.Client, someClient{name: "c2"}} }
func (w *oneHit) Nodes() []Node      { return []Node{place{"redis-1", RoleMaster, true}} }
func (w *oneHit) Fleet() Fleet       { return nil }
func (w *oneHit) TTL() time.Duration { return 50 * time.Millisecond }
func (w *oneHit) Now() int64         { return w.clock.Now() }
func (w *oneHit) Arm(context.Context, Arm) (*Hit, error) {
	w.hit.Deadline = history.Some(w.clock.Now() + w.TTL().Nanoseconds())
	return w.hit, nil
}

// Granted finds that nobody is.
func (w *oneHit) Granted(ctx context.Context, _, _ string, _ int64) error {
	<-ctx.Done()
	return ctx.Err()
}

// slowFault proves its effect only after the client at the point was let go.
type slowFault struct{ gone chan struct{} }

func (slowFault) Available(Setting) error { return nil }

func (f slowFault) Inject(ctx context.Context, _ World, _ Target) (Effect, error) {
	select {
	case <-f.gone:
		return Effect{Proof: "at last"}, nil
	case <-ctx.Done():
		return Effect{}, ctx.Err()
	}
}

// runOne carries out one tied step.
func runOne(t *testing.T, s Spec, st Step, w *oneHit) {
	t.Helper()
	st.Tied, st.Point, st.Until = true, "before-write", time.Second.Nanoseconds()
	cat := catalog.New("nemesis", s)
	r := &Runner{
		Plan:   &Plan{Requests: []Request{{Fault: s.Name, Steps: []Step{st}}}},
		Faults: cat, World: w, Rec: history.Discard(history.PartyNemesis, w.clock), Start: w.clock.Now(),
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("the client was kept until the end")
	}
}

// A client at a point goes on before its lease is over, also while the fault is still
// being injected: else it would act late because of the harness.
func TestAClientIsNotKeptBeyondItsLease(t *testing.T) {
	gone := make(chan struct{})
	w := &oneHit{clock: history.NewClock()}
	var left time.Duration
	var once sync.Once
	w.hit = &Hit{Client: someClient{name: "c1"}, Point: "before-write", Go: func() {
		once.Do(func() {
			left = time.Duration(w.hit.Deadline.V - w.clock.Now())
			close(gone)
		})
	}}
	s := Spec{Name: "slow-fault", Doc: "a fault that takes long", Proven: "At last.", End: "Never.", Family: history.FamilyServer, Whom: Nodes, Fault: slowFault{gone}}
	runOne(t, s, Step{Nodes: "1", Stay: time.Hour.Nanoseconds()}, w)
	if left > w.TTL()/2 {
		t.Errorf("it was let go %v before the end of its lease", left)
	}
}
