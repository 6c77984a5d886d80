package workloads

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// added is with what a catalogue refuses a spec; empty: it takes it.
func added(change func(s *Spec)) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = p.(string)
		}
	}()
	s := Spec{Name: "own", Doc: "works", New: func(Settings) Workload { return nil }}
	change(&s)
	catalog.New("workload", s)
	return ""
}

// A wrong spec is refused when it is added to a catalogue, with a sentence.
func TestWrongSpecs(t *testing.T) {
	own := func(p ...history.Point) func(*Spec) { return func(s *Spec) { s.Points = p } }
	with := func(p ...Param) func(*Spec) { return func(s *Spec) { s.Params = p } }
	for _, c := range []struct {
		want   string
		change func(s *Spec)
	}{
		{`"own_" is not a valid name for a workload`, func(s *Spec) { s.Name = "own_" }},
		{`workload "own" has no description`, func(s *Spec) { s.Doc = "" }},
		{"workload \"own\": the field `New` is missing", func(s *Spec) { s.New = nil }},
		{"the field `Fenced` is true, but the field `Registers` is nil", func(s *Spec) { s.Fenced = true }},
		{
			"the field `Models` contains the unknown value \"shared\": choose constants of package history",
			func(s *Spec) { s.Models = []string{"shared"} },
		},
		{"the field `Models` contains the unknown value \"\"", func(s *Spec) { s.Models = []string{history.ModelExclusive, ""} }},
		{`point "": the field `, own(history.Point{Doc: "d"})},
		{`point "half-way": the field `, own(history.Point{Name: "half-way"})},
		{`point "before-write": the field `, own(history.Point{Name: history.AtBeforeWrite, Doc: "d"})},
		{`point "half-way": the field `, own(history.Point{Name: "half-way", Doc: "d"}, history.Point{Name: "half-way", Doc: "e"})},
		{`"Hold" is not a valid name for a parameter`, with(Param{Name: "Hold", Doc: "d"})},
		{`parameter "hold" has no description`, with(Param{Name: "hold"})},
		{`two parameters are named "hold"`, with(append(Params(), Params()[0])...)},
		{"hold=long is not a length", with(Param{Name: "hold", Default: "long", Doc: "d"})},
		{"think=-1s is not a length", with(Param{Name: "think", Default: "-1s", Doc: "d"})},
		{"try=2 is not a number from 0 to 1", with(Param{Name: "try", Default: "2", Doc: "d"})},
	} {
		if said := added(c.change); !strings.HasPrefix(said, "catalogue: ") || !strings.Contains(said, c.want) {
			t.Errorf("it is refused with %q, want %q", said, c.want)
		}
	}
	for _, change := range []func(s *Spec){
		func(*Spec) {}, with(Params()...), func(s *Spec) { s.Models = []string{history.ModelReadWrite} },
		own(history.Point{Name: "half-way", Doc: "d"}),
	} {
		if said := added(change); said != "" {
			t.Error(said)
		}
	}
}

// Without any of the common parameters a workload has settings: it never waits, never tries.
func TestSettingsWithoutParams(t *testing.T) {
	s, err := NewSettings(Values{}, []string{"a"}, 0)
	if err != nil || s.Hold != 0 || s.Think != 0 || s.Try != 0 || s.upTo(s.Hold) != 0 {
		t.Errorf("settings %+v, %v", s, err)
	}
	if lock := s.Lock(Turn{Last: true, Lock: "a"}); lock != "a" {
		t.Errorf("the last section is of %q", lock)
	}
}
