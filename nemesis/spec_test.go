package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// plain hurts nobody and says so.
type plain struct {
	why    error // it is not available
	err    error // it cannot be injected
	mute   bool  // it has no proof
	began  int64
	healed *int
	heal   error
}

func (p plain) Available(Setting) error { return p.why }

func (p plain) Inject(context.Context, World, Target) (Effect, error) {
	e := Effect{Proof: "seen", Began: p.began}
	if p.mute {
		e.Proof = ""
	}
	if p.healed != nil {
		e.Heal = func(context.Context) (string, error) { *p.healed++; return "well again", p.heal }
	}
	return e, p.err
}

// bareSpec has what every fault must have, and nothing else.
func bareSpec(f Fault) Spec {
	return Spec{
		Name: "melt", Doc: "it melts", Proven: "It is seen.", End: "It cools.", Family: history.FamilyServer, Whom: Nodes,
		Fault: f,
	}
}

func with(change func(s *Spec)) Spec {
	s := bareSpec(plain{})
	change(&s)
	return s
}

func params(p ...Param) []Param { return p }

// added is with what a catalogue refuses a spec; empty: it takes it.
func added(s Spec) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = p.(string)
		}
	}()
	catalog.New("nemesis", s)
	return ""
}

// A wrong spec is refused when it is added to a catalogue, with a sentence.
func TestWrongSpecs(t *testing.T) {
	const nobody = "the fields `Fault` and `Draw` are empty, so there is no fault to inject: set one of these fields"
	for _, c := range []struct {
		want string
		spec Spec
	}{
		{`"Melt" is not a valid name for a nemesis`, with(func(s *Spec) { s.Name = "Melt" })},
		{`"" is not a valid name for a nemesis`, with(func(s *Spec) { s.Name = "" })},
		{`nemesis "melt" has no description`, with(func(s *Spec) { s.Doc = " " })},
		{nobody, with(func(s *Spec) { s.Fault = nil })},
		{nobody, Spec{Name: "melt", Doc: "d", Params: CommonParams(AtOnce, "1s")}},
		{nobody, Spec{Name: "melt", Doc: "d", Links: ToServers}},
		{"the field `Family` is \"\": set it to one of [client server link clock store mixed]", with(func(s *Spec) { s.Family = "" })},
		{"the field `Family` is \"sun\"", with(func(s *Spec) { s.Family = "sun" })},
		{"the field `Proven` is empty: describe what shows that the fault took effect", with(func(s *Spec) { s.Proven = "" })},
		{"the field `End` is empty: describe what happens when the fault ends", with(func(s *Spec) { s.End = "" })},
		{"the field `Whom` must be Clients, Nodes, ClientsAndNodes or OwnTargets", with(func(s *Spec) { s.Whom = 0 })},
		{
			"the field `Whom` must be Clients, Nodes, ClientsAndNodes or OwnTargets",
			with(func(s *Spec) { s.Whom = Clients | OwnTargets }),
		},
		{"the field `Whom` must be Clients, Nodes, ClientsAndNodes or OwnTargets", with(func(s *Spec) { s.Whom = 16 })},
		{"the field `Links` must be ToServers, ToRegister, both (ToServers|ToRegister), or 0", with(func(s *Spec) { s.Links = 4 })},
		{
			"the field `Gates` is true, so the fault stops a client at a point: set the field `Whom` to Clients",
			with(func(s *Spec) { s.Gates = true }),
		},
		{
			"the field `Gates` is true, so the fault stops a client at a point: set the field `Whom` to Clients",
			with(func(s *Spec) { s.Gates, s.Whom = true, ClientsAndNodes }),
		},
		{
			"the field `OfMaster` is true, so the fault acts on a server: set the field `Whom` to Nodes or ClientsAndNodes",
			with(func(s *Spec) { s.OfMaster, s.Whom = true, Clients }),
		},
		{`two parameters are named "every"`, with(func(s *Spec) {
			s.Params = append(ServerParams("1s", "1s", "1"), TimeParams("1s", "1s")...)
		})},
		{`"By" is not a valid name for a parameter`, with(func(s *Spec) { s.Params = params(Param{Name: "By", Doc: "d"}) })},
		{`parameter "by" has no description`, with(func(s *Spec) { s.Params = params(Param{Name: "by"}) })},
		{"for=long is not a length", with(func(s *Spec) { s.Params = ServerParams("long", "1s", "1") })},
		{"every=often is not a length", with(func(s *Spec) { s.Params = ServerParams("1s", "often", "1") })},
		{"every= must be greater than 0", with(func(s *Spec) { s.Params = ServerParams("1s", "0s", "1") })},
		{"nth=first is not a whole number", with(func(s *Spec) { s.Params = params(Param{Name: "nth", Default: "first", Doc: "d"}) })},
		{"stay=-1s is not a length", with(func(s *Spec) { s.Params = params(Param{Name: "stay", Default: "-1s", Doc: "d"}) })},
		{"the function in the field `Strikes` must return a point or history.AtRandom for every backend, but it fails for a backend " +
			"without points of its own: runtime error: index out of range", with(func(s *Spec) {
			s.Strikes = func(k int, own []string) string { return own[k] }
		})},
	} {
		if said := added(c.spec); !strings.HasPrefix(said, "catalogue: ") || !strings.Contains(said, c.want) {
			t.Errorf("it is refused with %q, want %q", said, c.want)
		}
	}
	none := Spec{Name: "none", Doc: "no faults"}
	for _, s := range []Spec{
		none, bareSpec(plain{}), with(func(s *Spec) { s.Whom = ClientsAndNodes }),
		with(func(s *Spec) { s.Gates, s.Whom = true, Clients }),
	} {
		if said := added(s); said != "" {
			t.Error(said)
		}
	}
}

func someInput(specs ...string) Input {
	return Input{
		Seed: 3, Specs: specs, TTL: time.Second, Duration: 10 * time.Second, Setting: Setting{Nodes: 3, Data: 2},
		Points: history.PointNames(history.SectionPoints()), Own: []string{"half-way"},
		Clients: []string{"c1", "c2"}, Nodes: []string{"n1", "n2", "n3"},
	}
}

func mustPlan(t *testing.T, c *Catalogue, in Input) *Plan {
	t.Helper()
	p, err := NewPlan(c, in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Without any optional field a fault is planned once, soon, tied to a grant, on one target.
func TestDefaultsOfASpec(t *testing.T) {
	steps := mustPlan(t, catalog.New("nemesis", bareSpec(plain{})), someInput("melt")).Requests[0].Steps
	if len(steps) != 1 {
		t.Fatalf("steps %+v", steps)
	}
	st := steps[0]
	if st.At != 3e8 || st.Until != 13e8 || !st.Tied || st.Point != history.AtAcquired || st.Nth != 1 || st.For != 0 ||
		st.Stay != 0 || st.SetBack != 0 || st.Params != nil || st.Nodes+st.Clients != "" {
		t.Errorf("step %+v", st)
	}
	master := catalog.New("nemesis", with(func(s *Spec) { s.OfMaster = true }))
	if nodes := mustPlan(t, master, someInput("melt")).Requests[0].Steps[0].Nodes; nodes != RoleMaster {
		t.Errorf("a fault of the master strikes %q", nodes)
	}
	gating := catalog.New("nemesis", with(func(s *Spec) {
		s.Gates, s.Whom, s.Strikes = true, Clients, func(int, []string) string { return history.AtRandom }
	}))
	if st := mustPlan(t, gating, someInput("melt")).Requests[0].Steps[0]; !st.Tied || st.Point != "" {
		t.Errorf("a fault that gates is not tied to any point: %+v", st)
	}
}

// OneStep is one injection that fits into what is left of the run; none where it does not.
func TestOneStep(t *testing.T) {
	spec := with(func(s *Spec) {
		s.Params = ServerParams("2s", "1s", "2", Param{Name: "heat", Default: "9", Doc: "how hot"})
		s.Takes = func(ttl time.Duration) time.Duration { return ttl }
	})
	rnd := rand.New(rand.NewPCG(1, 2))
	st, until, err := OneStep(spec, someInput(), 4*time.Second, rnd)
	if err != nil || st == nil || until != 7*time.Second {
		t.Fatalf("step %+v until %v, %v", st, until, err)
	}
	if st.Fault != "melt" || st.At < 4e9 || st.Until > 7e9 || st.For != 2e9 || st.Nodes != "2" || st.Params["heat"] != "9" ||
		len(st.Params) != 1 {
		t.Errorf("step %+v", st)
	}
	if st, _, err := OneStep(spec, someInput(), 7*time.Second, rnd); err != nil || st == nil {
		t.Errorf("what just fits is left out: %v", err)
	}
	if st, _, err := OneStep(spec, someInput(), 7*time.Second+1, rnd); err != nil || st != nil {
		t.Errorf("what does not fit is %+v, %v", st, err)
	}
	bad := with(func(s *Spec) { s.Check = func(Values, Input) error { return errors.New("too hot") } })
	if _, _, err := OneStep(bad, someInput(), 0, rnd); err == nil || err.Error() != "too hot" {
		t.Errorf("error %v", err)
	}
	last := with(func(s *Spec) { s.Params = params(Param{Name: "grant", Default: "7", Doc: "d"}) })
	if _, _, err := OneStep(last, someInput(), 0, rnd); err == nil || !strings.Contains(err.Error(), "grant=7: choose any, all, "+
		"or a number from 1 to 3") {
		t.Errorf("error %v", err)
	}
}

// A request that draws must draw faults.
func TestDrawnSteps(t *testing.T) {
	drawing := func(steps ...Step) *Catalogue {
		return catalog.New("nemesis", Spec{Name: "none", Doc: "no faults"}, bareSpec(plain{}), Spec{
			Name: "storm", Doc: "draws", Proven: "As each.", End: "As each.", Family: history.FamilyMixed,
			Draw: func(*Catalogue, Values, Input, *rand.Rand) (Drawn, error) {
				return Drawn{Steps: steps, Without: map[string]string{"rain": "it is dry"}}, nil
			},
		})
	}
	good := mustPlan(t, drawing(Step{Fault: "melt"}), someInput("storm")).Requests[0]
	if len(good.Steps) != 1 || good.Without["rain"] != "it is dry" {
		t.Errorf("request %+v", good)
	}
	for want, st := range map[string]Step{
		"step 1 of the fault storm: a step must inject exactly one fault, but storm is not a single fault": {},
		"step 1 of the fault storm: a step must inject exactly one fault, but none is not a single fault":  {Fault: "none"},
		`step 1 of the fault storm: unknown nemesis "thunder"`:                                             {Fault: "thunder"},
	} {
		if _, err := NewPlan(drawing(st), someInput("storm")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A saved plan that cannot be carried out is refused with the step and the reason.
func TestCheckOfASavedPlan(t *testing.T) {
	hot := with(func(s *Spec) {
		s.Params = params(Param{Name: "heat", Default: "9", Doc: "how hot"})
		s.Check = func(own Values, _ Input) error {
			if own["heat"] != "9" {
				return errors.New("too hot: heat=" + own["heat"])
			}
			return nil
		}
	})
	cold := Spec{
		Name: "freeze", Doc: "d", Proven: "p", End: "e", Family: history.FamilyServer, Whom: Nodes,
		Fault: plain{why: errors.New("it is summer")},
	}
	c := catalog.New("nemesis", Spec{Name: "none", Doc: "no faults"}, hot, cold)
	p := mustPlan(t, c, someInput("melt", "none", "freeze"))
	if err := p.Check(c, someInput("melt", "none", "freeze")); err != nil {
		t.Errorf("a good plan is refused: %v", err)
	}
	for want, change := range map[string]func(q *Request, st *Step){
		`unknown nemesis "gone"`:                           func(q *Request, _ *Step) { q.Fault = "gone" },
		`step 1 of the fault melt: unknown nemesis "gone"`: func(_ *Request, st *Step) { st.Fault = "gone" },
		"step 1 of the fault melt: a step must inject exactly one fault, but none is not a single fault": func(_ *Request, st *Step) {
			st.Fault = "none"
		},
		"step 1 of the fault melt: freeze cannot work in this run: it is summer": func(_ *Request, st *Step) {
			st.Fault = "freeze"
		},
		"step 1 of the fault melt: at=moon: this run has no such point; choose": func(_ *Request, st *Step) {
			st.Point = "moon"
		},
		"step 1 of the fault melt: too hot: heat=99": func(_ *Request, st *Step) {
			st.Params = Values{"heat": "99"}
		},
		"step 1 of the fault melt: too hot: heat=": func(_ *Request, st *Step) {
			st.Params = nil
		},
		"fault number 1 differs: the saved plan has melt:every=1s, but the configuration of this run has": func(q *Request, _ *Step) {
			q.Spec = "melt:every=1s"
		},
		"fault number 1 differs: the saved plan has melt, but the configuration of this run has": func(q *Request, _ *Step) {
			q.Family = "bogus"
		},
		"step 1 of the fault melt: a step in the saved plan has a negative time or count: write 0 or more": func(_ *Request, st *Step) {
			st.For = -5
		},
		"step 1 of the fault melt: nodes=n9: nothing is named \"n9\"": func(_ *Request, st *Step) {
			st.Nodes = "n9"
		},
	} {
		p := mustPlan(t, c, someInput("melt"))
		change(&p.Requests[0], &p.Requests[0].Steps[0])
		if err := p.Check(c, someInput("melt")); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	p.Requests[1].Steps = p.Requests[0].Steps
	if err := p.Check(c, someInput("melt", "none", "freeze")); err == nil || err.Error() != "step 1 of the fault none: a step "+
		"must inject exactly one fault, but none is not a single fault" {
		t.Errorf("steps of a request for no faults: %v", err)
	}
	if err := (&Plan{}).Check(c, someInput("melt")); err == nil ||
		!strings.Contains(err.Error(), "belongs to another configuration") {
		t.Errorf("an empty plan: %v", err)
	}
	p.Requests = nil
	if err := p.Check(c, someInput("melt")); err == nil || !strings.Contains(err.Error(), "the saved plan contains 0 faults, but "+
		"the configuration of this run contains 1") {
		t.Errorf("a plan without requests: %v", err)
	}
	typo := with(func(s *Spec) { s.Strikes = func(int, []string) string { return "before-wirte" } })
	if _, err := NewPlan(catalog.New("nemesis", typo), someInput("melt")); err == nil ||
		!strings.Contains(err.Error(), "the default point of the fault is wrong: at=before-wirte: this run has no such point") {
		t.Errorf("a fault that strikes nowhere: %v", err)
	}
}
