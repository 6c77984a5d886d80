package nemesis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
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
	s := Spec{
		Name: "slow-fault", Doc: "a fault that takes long", Proven: "At last.", End: "Never.", Family: history.FamilyServer,
		Whom: Nodes, Fault: slowFault{gone},
	}
	runOne(t, s, Step{Nodes: "1", Stay: time.Hour.Nanoseconds()}, w)
	if left > w.TTL()/2 {
		t.Errorf("it was let go %v before the end of its lease", left)
	}
}

// nobody is a world in which no client reaches a point.
type nobody struct {
	World
	why error
}

func (w nobody) Arm(ctx context.Context, _ Arm) (*Hit, error) {
	<-ctx.Done()
	return nil, errors.Join(ctx.Err(), w.why)
}

// What a step could not do is told truly: that no client came is said only of clients that could, at a time that was left.
func TestWhyAStepStruckNobody(t *testing.T) {
	const unit = 10 * int64(time.Millisecond) // half of the time that a step has is more than a busy host takes
	for name, c := range map[string]struct {
		begun   int64 // so many units ago
		stopped *StoppedError
		want    []string
		not     string
	}{
		"nobody came": {0, nil, []string{"no client reached the point acquired before"}, "late"},
		"all were stopped": {
			0, &StoppedError{[]string{"c1"}, true},
			[]string{"no client could reach", "a fault had stopped c1"},
			"as often",
		},
		"one was stopped":  {0, &StoppedError{[]string{"c1"}, false}, []string{"no client reached", "a fault had stopped c1"}, "late"},
		"too late":         {60, nil, []string{"too late for this fault", "0.500 s"}, "no client"},
		"little time left": {40, nil, []string{"no client reached", "lockstorm began to wait"}, "stopped"},
		"beside, too late": {60, nil, []string{"too late for this fault"}, "needs"},
	} {
		path := filepath.Join(t.TempDir(), "nemesis.jsonl")
		clock := history.NewClock()
		rec, err := history.Open(path, history.PartyNemesis, clock,
			history.Run{Schema: history.Schema, StallLimit: time.Hour.Nanoseconds()})
		if err != nil {
			t.Fatal(err)
		}
		w := nobody{}
		if c.stopped != nil {
			w.why = c.stopped
		}
		st := Step{Tied: true, Point: "acquired", Nth: 1, Until: 50 * unit}
		if strings.HasPrefix(name, "beside") {
			st.While = 1
		}
		spec := Spec{
			Name: "some", Doc: "a fault that nobody meets", Proven: "At last.", End: "Never.", Family: history.FamilyServer, Whom: Nodes,
			Fault: slowFault{},
		}
		r := &Runner{
			Plan: &Plan{Requests: []Request{{Fault: "some", Steps: []Step{st}}}}, Faults: catalog.New("nemesis", spec),
			World: w, Rec: rec, Start: clock.Now() - c.begun*unit,
		}
		if err := errors.Join(r.Run(t.Context()), rec.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(b), "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", name, want, text)
			}
		}
		if strings.Contains(text, c.not) {
			t.Errorf("%s: %q is in %s", name, c.not, text)
		}
	}
}

// stuck is a fault that cannot be undone.
type stuck struct{}

func (stuck) Available(Setting) error { return nil }

func (stuck) Inject(context.Context, World, Target) (Effect, error) {
	return Effect{Proof: "it is stuck", Heal: func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }}, nil
}

// A fault that cannot be undone keeps a run no longer than its limit, and the run says so.
func TestAHealEndsAtTheLimit(t *testing.T) {
	clock := history.NewClock()
	w := &oneHit{clock: clock, hit: &Hit{Client: someClient{name: "c1"}, Go: func() {}}}
	spec := Spec{
		Name: "stuck", Doc: "a fault that stays", Proven: "At once.", End: "Never.", Family: history.FamilyServer,
		Whom: Nodes, Fault: stuck{},
	}
	r := &Runner{
		Plan:   &Plan{Requests: []Request{{Fault: "stuck", Steps: []Step{{Nodes: "1", For: time.Millisecond.Nanoseconds()}}}}},
		Faults: catalog.New("nemesis", spec), World: w, Rec: history.Discard(history.PartyNemesis, clock), Start: clock.Now(),
		Limit: time.Now().Add(100 * time.Millisecond),
	}
	begun := time.Now()
	err := r.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "could not undo the fault stuck") || time.Since(begun) > healLimit/2 {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
}

// queue is a world in which c1 waits for a lock, c2 holds another one and c3 holds it.
type queue struct {
	oneHit
	armed   []Arm
	holders []*Hit
	stays   time.Duration // of the last client that stays
}

func (w *queue) Clients() []Client {
	return []Client{someClient{name: "c1"}, someClient{name: "c2"}, someClient{name: "c3"}}
}

func (w *queue) Arm(ctx context.Context, a Arm) (*Hit, error) {
	w.armed = append(w.armed, a)
	if a.Point == history.AtWaiting {
		return w.hit, nil
	}
	if len(w.holders) == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	h := w.holders[0]
	w.holders = w.holders[1:]
	return h, nil
}

// Granted is at once: another client has the lock.
func (w *queue) Granted(ctx context.Context, _, _ string, _ int64) error {
	end, _ := ctx.Deadline()
	w.stays = time.Until(end)
	return nil
}

// killing looks who stands at a point while it is injected.
type killing struct{ look func() }

func (killing) Available(Setting) error { return nil }

func (k killing) Inject(context.Context, World, Target) (Effect, error) {
	k.look()
	return Effect{Proof: "dead"}, nil
}

// While a waiting client is struck, the holder of its lock stays where it is, also beyond its deadline; it goes on when another
// client is granted the lock. Holders of other locks are let go, and nobody is waited for where nobody holds it.
func TestAHolderStaysBeforeAClientThatIsStruck(t *testing.T) {
	for name, c := range map[string]struct {
		clients string
		locks   []string // of the clients that come, in this order
		stay    time.Duration
		want    string // of the clients that have gone on: when it is injected, and in the end
		arms    int
	}{
		"the holder stays":      {"1", []string{"L1"}, time.Hour, " | L1 waiter", 2},
		"another lock's holder": {"1", []string{"L2", "L1"}, time.Hour, "L2 | L1 L2 waiter", 3},
		"nobody holds it":       {"1", nil, time.Hour, " | waiter", 2},
		"all are struck":        {"all", []string{"L1"}, time.Hour, " | waiter", 1},
		"nobody is to stay":     {"1", []string{"L1"}, 0, " | waiter", 1},
	} {
		var gone []string
		var mu sync.Mutex
		goes := func(who string) func() {
			return func() {
				mu.Lock()
				defer mu.Unlock()
				if !slices.Contains(gone, who) {
					gone = append(gone, who)
				}
			}
		}
		went := func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(gone, " ")
		}
		w := &queue{oneHit: oneHit{clock: history.NewClock()}}
		w.hit = &Hit{Client: someClient{name: "c1"}, Point: history.AtWaiting, Lock: "L1", Go: goes("waiter")}
		for i, lock := range c.locks {
			w.holders = append(w.holders, &Hit{
				Client: someClient{name: []string{"c2", "c3"}[i]}, Lock: lock, Go: goes(lock), Deadline: history.Some(w.clock.Now()),
			})
		}
		injected := ""
		s := Spec{
			Name: "kill", Doc: "kills", Proven: "It is dead.", End: "Never.", Family: history.FamilyClient, Whom: Clients, Behind: true,
			Fault: killing{func() { injected = went() }},
		}
		st := Step{
			Tied: true, Point: history.AtWaiting, Nth: 1, Clients: c.clients, Stay: c.stay.Nanoseconds(),
			Until: time.Minute.Nanoseconds(),
		}
		if _, _, err := carryOut(t, w, s, st); err != nil {
			t.Fatal(err)
		}
		inTheEnd := strings.Split(went(), " ")
		slices.Sort(inTheEnd)
		if got := injected + " | " + strings.Join(inTheEnd, " "); got != c.want || len(w.armed) != c.arms {
			t.Errorf("%s: gone on: %q after %d arms, want %q after %d", name, got, len(w.armed), c.want, c.arms)
		}
		if stays := strings.Contains(c.want, "L1"); stays != (w.stays > 10*time.Second) {
			t.Errorf("%s: somebody stays for %v", name, w.stays)
		}
		for _, a := range w.armed[1:] {
			if a.Point != history.AtBeforeWrite || !slices.Equal(a.Clients, []string{"c2", "c3"}) {
				t.Errorf("%s: the holder is looked for by %+v", name, a)
			}
		}
	}
}
