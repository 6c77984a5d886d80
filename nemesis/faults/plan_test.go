package faults

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

func input(specs ...string) nemesis.Input {
	return nemesis.Input{
		Seed: 7, Specs: specs, TTL: time.Second, Duration: 10 * time.Second,
		Setting: nemesis.Setting{Backend: "b", Topology: "t", Nodes: 1, Data: 1, Answers: true},
		Points:  history.PointNames(history.SectionPoints()), Own: []string{"between-get-and-del"},
		Clients: []string{"c1", "c2", "c3"}, Nodes: []string{"redis-1"},
	}
}

func all() *nemesis.Catalogue { return catalog.New("nemesis", Specs()...) }

// The same input makes the same plan; another seed another one.
func TestPlanIsAPureFunction(t *testing.T) {
	text := func(in nemesis.Input) string {
		p, err := nemesis.NewPlan(all(), in)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	in := input("client-pause", "client-kill", "server-restart")
	if first, again := text(in), text(in); first != again {
		t.Error("two plans of one seed differ")
	}
	other := in
	other.Seed++
	if text(in) == text(other) {
		t.Error("two seeds make the same plan")
	}
}

// By default half of the pauses are tied to a holder that is about to write or release, the second one and the first kill to the
// backend's own first point, and restarts keep the holder there.
func TestDefaultsStrikeWhereItHurts(t *testing.T) {
	p, err := nemesis.NewPlan(all(), input("client-pause", "client-kill", "server-restart", "client-stall"))
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, s := range p.Requests[0].Steps {
		at = append(at, s.Point)
		if s.For != 1.5e9 || s.Tied != (s.Point != "") {
			t.Errorf("a pause: %+v", s)
		}
	}
	if want := []string{"before-write", "between-get-and-del", "before-release", ""}; !slices.Equal(at, want) {
		t.Errorf("the pauses are tied to %q, want %q", at, want)
	}
	if first := p.Requests[1].Steps[0]; first.Point != "between-get-and-del" {
		t.Errorf("the first kill is tied to %q", first.Point)
	}
	if first := p.Requests[2].Steps[0]; first.Point != "acquired" || first.Stay != 0.9e9 {
		t.Errorf("the first restart: %+v", first)
	}
	for _, s := range p.Requests[3].Steps {
		if !s.Tied {
			t.Errorf("a stall that is tied to no point: %+v", s)
		}
	}
}

// A client that is killed while it waits has a holder before it, by whose lease nothing ends that: only where it renews itself.
func TestAKilledWaiterHasAHolderBeforeIt(t *testing.T) {
	for spec, want := range map[string]int64{
		"client-kill": 1.5e9, "client-kill:at=waiting": 1.5e9, "client-kill:at=waiting,stay=2s": 2e9,
		"client-kill:at=before-write,stay=2s": 0,
		"client-kill:at=random":               0,
	} {
		for _, renews := range []bool{true, false} {
			in := input(spec)
			in.Setting.Renews = renews
			p, err := nemesis.NewPlan(all(), in)
			if err != nil {
				t.Fatal(err)
			}
			longest := int64(0)
			for _, s := range p.Requests[0].Steps {
				longest = max(longest, s.Stay)
				if s.Stay > 0 && s.Point != history.AtWaiting {
					t.Errorf("%s: somebody stays: %+v", spec, s)
				}
			}
			if renews && longest != want || !renews && longest != 0 {
				t.Errorf("%s, renews %v: a holder stays for %d ns, want %d", spec, renews, longest, want)
			}
		}
	}
}

// Steps keep within the run, whatever its length, and there is always at least one.
func TestStepsFitTheRun(t *testing.T) {
	for _, d := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, time.Minute} {
		in := input("client-pause:at=random,for=100ms", "client-kill", "server-pause:every=1ms,for=150ms")
		in.Duration = d
		p, err := nemesis.NewPlan(all(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Requests {
			if len(r.Steps) == 0 {
				t.Errorf("%v: %s has no step", d, r.Spec)
			}
			for _, s := range r.Steps {
				if s.At < 0 || s.At+s.For > d.Nanoseconds() || s.Until+s.For > d.Nanoseconds() {
					t.Errorf("%v: %s: step %+v", d, r.Spec, s)
				}
			}
		}
	}
}

func TestPlanErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"meteor":                  `unknown nemesis "meteor": choose one of none, client-pause`,
		"client-pause:speed=1":    `has no parameter "speed": choose from at, nth, message, every, for, until, while, clients`,
		"client-pause:at=nowhere": "at=nowhere: this run has no such point; choose random, or one of before-acquire",
		"client-pause:for=long":   "for=long is not a length",
		"client-pause:for=20s":    "the fault takes 20s, which is too long for a run of 10s: use --time 20.3s or longer",
		"client-pause:clients=4":  "clients=4: choose from 1 to 3",
		"client-pause:clients=0":  "clients=0: choose from 1 to 3",
		"client-kill:clients=bob": `nothing is named "bob" at the start of the run; choose a number, holder, all, half, or names from c1, c2, c3`,
		"server-pause:nodes=r9":   `nothing is named "r9" at the start of the run`,
		"client-pause:every=0s":   "every= must be greater than 0",
		"client-kill:nth=0":       "nth=0 is not a whole number",
		"server-restart:mode=cut": `no parameter "mode"`,
	} {
		if _, err := nemesis.NewPlan(all(), input(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", spec, err, want)
		}
	}
}

// At a message no client stands, and what is asked of one is refused; the defaults are left alone.
func TestMessagesHaveNoClient(t *testing.T) {
	for spec, want := range map[string]string{
		"server-pause:at=request,stay=1ttl":  "stay=1ttl has no meaning with at=request",
		"server-restart:at=reply,grant=all":  "grant=all has no meaning with at=reply",
		"server-pause:at=request":            "",
		"server-pause:at=acquired,stay=1ttl": "",
	} {
		in := wide(spec)
		in.Points = append(in.Points, "request", "reply")
		if _, err := nemesis.NewPlan(all(), in); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
}

// A fault that cannot work is an error when it is the only one, else it is skipped with
// its reason.
func TestWhatCannotWork(t *testing.T) {
	in := input("server-restart")
	in.Setting.Nodes = 0
	if _, err := nemesis.NewPlan(all(), in); err == nil || !strings.Contains(err.Error(), "has no server") {
		t.Errorf("error %v", err)
	}
	in.Specs = append(in.Specs, "client-pause")
	p, err := nemesis.NewPlan(all(), in)
	if err != nil {
		t.Fatal(err)
	}
	if p.Requests[0].Skipped == "" || len(p.Requests[0].Steps) != 0 || len(p.Requests[1].Steps) == 0 {
		t.Errorf("plan %+v", p)
	}
}

// wide is an input in which every fault can work.
func wide(specs ...string) nemesis.Input {
	in := input(specs...)
	in.Setting = nemesis.Setting{
		Backend: "b", Topology: "t", Provider: "process", Nodes: 6, Data: 3, Peers: true, FailOver: time.Second,
		Stores: true, Elects: 3, Moves: true, Follows: true, Sessions: true, Connections: true, Promotes: true, Keys: true,
		Resource: true, Voters: true, RealOnly: true, Answers: true, Policies: []string{"oldest"},
	}
	in.Nodes = []string{"redis-1", "redis-2", "redis-3", "sentinel-1", "sentinel-2", "sentinel-3"}
	in.Duration = 30 * time.Second
	return in
}

// Chaos draws every fault that can work, with its own parameters, one after the other, and
// each has its full length; the same seed draws the same.
func TestChaosDrawsFromAll(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(60) {
		in := wide("chaos")
		in.Seed = seed
		p, err := nemesis.NewPlan(all(), in)
		if err != nil {
			t.Fatal(err)
		}
		last := int64(-1)
		for _, s := range p.Requests[0].Steps {
			seen[s.Fault] = true
			spec, err := all().Get(s.Fault)
			if err != nil {
				t.Fatal(err)
			}
			takes := time.Duration(0)
			if spec.Takes != nil {
				takes = spec.Takes(in.TTL)
			}
			if s.At <= last || s.At > s.Until || s.Until+s.For+takes.Nanoseconds() > in.Duration.Nanoseconds() {
				t.Fatalf("seed %d: step %+v after %d does not fit", seed, s, last)
			}
			last = s.At
		}
		again, err := nemesis.NewPlan(all(), in)
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Fatalf("seed %d draws differently the second time: %v", seed, err)
		}
	}
	for _, s := range all().All() {
		if s.Fault != nil && !seen[s.Name] {
			t.Errorf("chaos never draws %s", s.Name)
		}
	}
}

// What cannot work is left out with its reason; only= narrows.
func TestChaosLeavesOut(t *testing.T) {
	in := input("chaos:only=client-pause+failover-kill")
	p, err := nemesis.NewPlan(all(), in)
	if err != nil {
		t.Fatal(err)
	}
	q := p.Requests[0]
	if why := q.Without["failover-kill"]; !strings.Contains(why, "no automatic fail-over") || len(q.Without) != 1 {
		t.Errorf("without %v", q.Without)
	}
	for _, s := range q.Steps {
		if s.Fault != "client-pause" {
			t.Errorf("drew %s", s.Fault)
		}
	}
	for spec, want := range map[string]string{
		"chaos:only=melt": "unknown nemesis", "chaos:every=0s": "greater than 0",
		"chaos:only=failover-kill": "no fault can work in this run",
	} {
		if _, err := nemesis.NewPlan(all(), input(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// A tied clock jump strikes grants by all nodes unless told otherwise.
func TestGrantOfAPlan(t *testing.T) {
	for spec, want := range map[string]int{
		"clock-jump": nemesis.AllNodes, "clock-jump:grant=any": 0, "clock-jump:grant=3": 3, "clock-jump:at=random": 0,
		"server-restart:grant=all,at=acquired": nemesis.AllNodes, "server-restart": 0,
	} {
		p, err := nemesis.NewPlan(all(), wide(spec))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Requests[0].Steps[0].Grant; got != want {
			t.Errorf("%s: grant %d, want %d", spec, got, want)
		}
	}
}

// What depends on who granted is tied to a grant, and needs a lock that says who did.
func TestVotersOfAPlan(t *testing.T) {
	for _, spec := range []string{"server-restart:nodes=granted,every=1s", "server-restart:grant=3,every=1s"} {
		p, err := nemesis.NewPlan(all(), wide(spec))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Requests[0].Steps) < 2 {
			t.Fatalf("%s: %d steps", spec, len(p.Requests[0].Steps))
		}
		for _, st := range p.Requests[0].Steps {
			if !st.Tied || st.Point != "acquired" {
				t.Errorf("%s: a step is tied to %q", spec, st.Point)
			}
		}
		silent := wide(spec)
		silent.Setting.Voters = false
		if _, err := nemesis.NewPlan(all(), silent); err == nil ||
			!strings.Contains(err.Error(), "does not report which servers granted") {
			t.Errorf("%s of a lock that names no voters: %v", spec, err)
		}
		if _, err := nemesis.NewPlan(all(), wide(spec+",at=random")); err == nil ||
			!strings.Contains(err.Error(), "at=random: at random times lockstorm does not know which servers") {
			t.Errorf("%s at a random time: %v", spec, err)
		}
	}
	for spec, want := range map[string]string{
		"clock-jump:grant=3,at=waiting": "at=waiting: at this point the client does not hold the lock yet",
		"client-stall:clients=all":      "this fault stops only the client that reaches the point",
		"client-stall:clients=2":        "this fault stops only the client that reaches the point",
		"failover-kill:nodes=2":         "this fault acts only on the master",
		"isolate-master:nodes=replica":  "this fault acts only on the master",
	} {
		if _, err := nemesis.NewPlan(all(), wide(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
	if _, err := nemesis.NewPlan(all(), wide("server-restart:clients=2")); err == nil ||
		!strings.Contains(err.Error(), "clients= must list the clients whose steps trigger the fault") {
		t.Errorf("a number of clients for a fault of servers: %v", err)
	}
}

// Only what sets clocks back makes keys live longer.
func TestSetBackOfAPlan(t *testing.T) {
	for spec, want := range map[string]time.Duration{
		"clock-jump:every=20s": 0, "clock-jump:by=-5s,every=20s": 10 * time.Second,
		"clock-jump:by=3s,undo=yes,every=20s": 6 * time.Second, "client-pause": 0,
	} {
		p, err := nemesis.NewPlan(all(), wide(spec))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.SetBack(); got != want {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
}
