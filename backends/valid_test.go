package backends_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// plain has what every backend must have, and nothing else.
func plain() backends.Spec {
	return backends.Spec{
		Name: "own", Doc: "a lock", Topologies: []string{"local"}, Ends: history.EndsNever,
		Open: func(context.Context, backends.Env) (backends.Locker, error) { return nil, nil },
	}
}

// added is with what a catalogue refuses a spec; empty: it takes it.
func added(change func(s *backends.Spec)) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = p.(string)
		}
	}()
	s := plain()
	change(&s)
	catalog.New("backend", s)
	return ""
}

// A wrong spec is refused when it is added to a catalogue, with a sentence.
func TestWrongSpecs(t *testing.T) {
	own := func(p ...history.Point) func(*backends.Spec) { return func(s *backends.Spec) { s.Points = p } }
	for _, c := range []struct {
		want   string
		change func(s *backends.Spec)
	}{
		{`"Own" is not a valid name for a backend`, func(s *backends.Spec) { s.Name = "Own" }},
		{`backend "own" has no description`, func(s *backends.Spec) { s.Doc = "" }},
		{
			"backend \"own\": the field `Open` is missing: it must be a function that returns a Locker",
			func(s *backends.Spec) { s.Open = nil },
		},
		{"the field `Topologies` is empty: name at least one topology (set of servers) on which the lock can run, or \"local\" for a " +
			"lock without servers", func(s *backends.Spec) { s.Topologies = nil }},
		{"`Ends` (what ends a grant that is not released) is \"\": choose one of [", func(s *backends.Spec) { s.Ends = "" }},
		{
			"`Ends` (what ends a grant that is not released) is \"someday\": choose one of [",
			func(s *backends.Spec) { s.Ends = "someday" },
		},
		{
			"the field `Model.Kind` has the unknown value \"shared\": choose a constant of package history",
			func(s *backends.Spec) { s.Model.Kind = "shared" },
		},
		{`point "": the field `, own(history.Point{Doc: "d"})},
		{`point "half-way": the field `, own(history.Point{Name: "half-way"})},
		{"point \"acquired\": the field `Name` or `Doc` is empty, or another point has this name already (perhaps a point of every " +
			"section)", own(history.Point{Name: history.AtAcquired, Doc: "d"})},
		{`point "half-way": the field `, own(history.Point{Name: "half-way", Doc: "d"}, history.Point{Name: "half-way", Doc: "e"})},
	} {
		if said := added(c.change); !strings.HasPrefix(said, "catalogue: ") || !strings.Contains(said, c.want) {
			t.Errorf("it is refused with %q, want %q", said, c.want)
		}
	}
	for _, change := range []func(s *backends.Spec){
		func(*backends.Spec) {},
		func(s *backends.Spec) { s.Model.Kind = history.ModelReadWrite },
		own(history.Point{Name: "half-way", Doc: "d"}, history.Point{Name: "nearly", Doc: "e"}),
	} {
		if said := added(change); said != "" {
			t.Error(said)
		}
	}
}
