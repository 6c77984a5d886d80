package nemesis

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// strayFault strikes nobody in particular, and proves it.
type strayFault struct{}

func (strayFault) Available(Setting) error { return nil }

func (strayFault) Inject(_ context.Context, _ World, t Target) (Effect, error) {
	if len(t.Clients)+len(t.Nodes) > 0 {
		return Effect{}, nil
	}
	return Effect{Proof: "it was seen"}, nil
}

// stray is a spec with nothing in it that may be left out.
func stray() Spec {
	return Spec{
		Name: "stray", Doc: "a fault", Proven: "It was seen.", End: "It is over.", Family: history.FamilyStore,
		Whom: OwnTargets, Fault: strayFault{},
	}
}

// A fault of neither clients nor nodes, without any optional field, is planned: once, at a fresh grant.
func TestElsewhereIsPlanned(t *testing.T) {
	c := catalog.New("nemesis", stray())
	p, err := NewPlan(c, Input{
		Seed: 1, Specs: []string{"stray"}, TTL: time.Second, Duration: 4 * time.Second,
		Points: []string{"acquired"}, Clients: []string{"c1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if steps := p.Requests[0].Steps; len(steps) != 1 || steps[0].Point != "acquired" {
		t.Errorf("steps %+v", steps)
	}
	if _, err := NewPlan(c, Input{
		Seed: 1, Specs: []string{"stray:every=1s"}, TTL: time.Second,
		Duration: time.Second,
	}); err == nil || !strings.Contains(err.Error(), "takes no parameters") {
		t.Errorf("a parameter that it does not have: %v", err)
	}
}

// It is injected without targets; the client at its point is kept no longer than its lease.
func TestElsewhereIsInjected(t *testing.T) {
	gone := make(chan struct{})
	w := &oneHit{clock: history.NewClock()}
	w.hit = &Hit{Client: someClient{name: "c1"}, Point: "before-write", Go: sync.OnceFunc(func() { close(gone) })}
	runOne(t, stray(), Step{Stay: time.Hour.Nanoseconds()}, w)
	select {
	case <-gone:
	default:
		t.Error("its client was never let go")
	}
}

// OwnTargets stands alone.
func TestElsewhereIsNobodyElse(t *testing.T) {
	for _, whom := range []Whom{0, Clients | OwnTargets, Nodes | OwnTargets, 8} {
		s := stray()
		s.Whom = whom
		if err := s.Valid(); err == nil || !strings.Contains(err.Error(), "the field `Whom` must be Clients, Nodes, ClientsAndNodes "+
			"or OwnTargets") {
			t.Errorf("Whom %d: %v", whom, err)
		}
	}
	if err := stray().Valid(); err != nil {
		t.Error(err)
	}
}
