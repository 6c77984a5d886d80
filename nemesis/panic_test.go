package nemesis

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// wild panics when it is injected, or when it is healed.
type wild struct{ inject bool }

func (wild) Available(Setting) error { return nil }

func (f wild) Inject(context.Context, World, Target) (Effect, error) {
	if f.inject {
		panic("no brakes")
	}
	return Effect{Proof: "it runs", Heal: func(context.Context) (string, error) { panic("no brakes") }}, nil
}

// A fault that panics ends the run with an error that names it and the place; it never ends
// the program.
func TestAFaultThatPanics(t *testing.T) {
	for _, inject := range []bool{true, false} {
		clock := history.NewClock()
		w := &oneHit{clock: clock, hit: &Hit{Client: someClient{name: "c1"}, Go: func() {}}}
		s := Spec{
			Name: "wild", Doc: "a fault", Proven: "It runs.", End: "It stops.", Family: history.FamilyServer, Whom: Nodes,
			Fault: wild{inject},
		}
		r := &Runner{
			Plan:   &Plan{Requests: []Request{{Fault: "wild", Steps: []Step{{Nodes: "1"}}}}},
			Faults: catalog.New("nemesis", s), World: w, Rec: history.Discard(history.PartyNemesis, clock), Start: clock.Now(),
		}
		err := r.Run(context.Background())
		var p *PanicError
		if !errors.As(err, &p) || p.Fault != "wild" || !strings.Contains(err.Error(), "no brakes") ||
			!strings.Contains(err.Error(), "panic_test.go") {
			t.Errorf("inject %v: %v", inject, err)
		}
	}
}
