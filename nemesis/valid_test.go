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

// A wrong field is refused when the spec is added, with a sentence.
func TestWrongSpecs(t *testing.T) {
	for want, wrong := range map[string]func(*Spec){
		"is no name":                             func(s *Spec) { s.Name = "My Fault" },
		"has no doc":                             func(s *Spec) { s.Doc = " " },
		"Proven is empty":                        func(s *Spec) { s.Proven = "" },
		`family "weather"`:                       func(s *Spec) { s.Family = "weather" },
		"would hurt nobody":                      func(s *Spec) { s.Fault = nil },
		"Whom must be Clients":                   func(s *Spec) { s.Whom = Clients | Elsewhere },
		"Whom must be":                           func(s *Spec) { s.Whom = 0 },
		"Links must be":                          func(s *Spec) { s.Links = 8 },
		"only a fault of clients can have Gates": func(s *Spec) { s.Gates = true },
		`parameter "size" has no doc`:            func(s *Spec) { s.Params = []catalog.Param{{Name: "size"}} },
		`two parameters named "at"`:              func(s *Spec) { s.Params = append(CommonParams("1s", "2s"), CommonParams("1s", "2s")...) },
		"for=long is not a length":               func(s *Spec) { s.Params = CommonParams("long", "2s") },
	} {
		s := smallest()
		wrong(&s)
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, want) {
					t.Errorf("said %q, want %q", text, want)
				}
			}()
			catalog.New("nemesis", s)
			t.Errorf("nobody refused it; want %q", want)
		}()
	}
}
