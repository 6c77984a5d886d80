package nemesis

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

type proven struct{}

func (proven) Available(Setting) error { return nil }

func (proven) Inject(context.Context, World, Target) (Effect, error) {
	return Effect{Proof: "it was seen"}, nil
}

// smallest is a spec with nothing in it that may be left out.
func smallest() Spec {
	return Spec{Name: "smallest", Doc: "a fault", Proven: "It was seen.", Family: history.FamilyStore, Whom: Elsewhere, Fault: proven{}}
}

// A spec without any optional field is planned: once, at a fresh grant.
func TestSmallestSpec(t *testing.T) {
	c := catalog.New("nemesis", smallest())
	p, err := NewPlan(c, Input{Seed: 1, Specs: []string{"smallest"}, TTL: time.Second, Duration: 4 * time.Second, Points: []string{"acquired"}, Clients: []string{"c1"}})
	if err != nil {
		t.Fatal(err)
	}
	if steps := p.Requests[0].Steps; len(steps) != 1 || steps[0].Point != "acquired" {
		t.Errorf("steps %+v", steps)
	}
	if _, err := NewPlan(c, Input{Seed: 1, Specs: []string{"smallest:every=1s"}, TTL: time.Second, Duration: time.Second}); err == nil || !strings.Contains(err.Error(), "has no parameters") {
		t.Errorf("a parameter that it does not have: %v", err)
	}
}
