package nemesis

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// ground is a world with one node, and no client that comes to a point.
type ground struct {
	World
	clock history.Clock
	nodes func() []Node
}

func (g ground) Nodes() []Node {
	if g.nodes != nil {
		return g.nodes()
	}
	return []Node{place{"n1", RoleMaster, true}}
}

func (g ground) Clients() []Client  { return nil }
func (g ground) Fleet() Fleet       { return nil }
func (g ground) TTL() time.Duration { return 50 * time.Millisecond }
func (g ground) Now() int64         { return g.clock.Now() }

func (g ground) Arm(ctx context.Context, _ Arm) (*Hit, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// carryOut runs steps of one fault, and returns what is on record of it as type:f:message
// lines, and the error of the runner.
func carryOut(t *testing.T, w World, s Spec, steps ...Step) (record []string, f history.Fault, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nemesis.jsonl")
	clock := history.NewClock()
	rec, err := history.Open(path, history.PartyNemesis, clock, history.Run{})
	if err != nil {
		t.Fatal(err)
	}
	if w == nil {
		w = ground{clock: clock}
	}
	r := &Runner{
		Plan: &Plan{Requests: []Request{{Fault: s.Name, Steps: steps}}}, Faults: catalog.New("nemesis", s), World: w, Rec: rec,
		Start: clock.Now(),
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err = r.Run(ctx)
	if ctx.Err() != nil {
		t.Fatal("it did not end")
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	h, readErr := history.ReadFile(path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	for _, e := range h.Events {
		if e.F() != history.FFault && e.F() != history.FHeal {
			continue
		}
		if err := e.Value().Into(&f); err != nil {
			t.Fatal(err)
		}
		record = append(record, strings.Trim(string(e.Type())+" "+e.F()+" "+e.Message(), " "))
	}
	return record, f, err
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("on record is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A fault without any optional field is injected and healed, once each, and both are on record.
func TestABareFaultRuns(t *testing.T) {
	healed := 0
	record, f, err := carryOut(t, nil, bareSpec(plain{healed: &healed}), Step{For: time.Millisecond.Nanoseconds()})
	if err != nil || healed != 1 {
		t.Errorf("healed %d times, %v", healed, err)
	}
	same(t, record, "invoke fault", "ok fault", "invoke heal", "ok heal well again")
	if f.Fault != "melt" || f.Nodes[0] != "n1" || f.Roles["n1"] != RoleMaster || f.Family != history.FamilyServer {
		t.Errorf("the fault is %+v", f)
	}
	record, f, err = carryOut(t, nil, bareSpec(plain{began: 7}), Step{})
	if err != nil || f.Proof != "seen" || f.Began != 7 {
		t.Errorf("proof %q, began at %d, %v", f.Proof, f.Began, err)
	}
	same(t, record, "invoke fault", "ok fault")
}

// An effect without a proof is a failed injection; so is an error. What they left is healed at
// once, not after the fault's time.
func TestWhatIsNotProvenFailed(t *testing.T) {
	for message, p := range map[string]plain{
		"the fault returned no proof that it took effect": {mute: true},
		"it is made of stone":                             {err: errors.New("it is made of stone")},
	} {
		record, _, err := carryOut(t, nil, bareSpec(p), Step{For: time.Hour.Nanoseconds()})
		if err != nil {
			t.Error(err)
		}
		same(t, record, "invoke fault", "fail fault "+message)
		healed := 0
		p.healed = &healed
		record, _, err = carryOut(t, nil, bareSpec(p), Step{For: time.Hour.Nanoseconds()},
			Step{At: 20 * time.Millisecond.Nanoseconds()})
		if err != nil || healed != 2 {
			t.Errorf("healed %d times, %v", healed, err)
		}
		each := []string{"invoke fault", "fail fault " + message, "invoke heal", "ok heal well again"}
		same(t, record, append(each, each...)...)
	}
}

// A heal that fails is on record and is the error of the run.
func TestAHealThatFails(t *testing.T) {
	healed := 0
	record, _, err := carryOut(t, nil, bareSpec(plain{healed: &healed, heal: errors.New("it is gone")}), Step{})
	if err == nil || err.Error() != "lockstorm could not undo the fault melt: it is gone" || healed != 1 {
		t.Errorf("error %v, healed %d times", err, healed)
	}
	same(t, record, "invoke fault", "ok fault", "invoke heal", "info heal it is gone")
}

// A point that nobody reaches, and a target that is not there, are on record as hitting nobody.
func TestAFaultThatHitsNobody(t *testing.T) {
	point := Step{Tied: true, Point: "acquired", Nth: 2, Until: (200 * time.Millisecond).Nanoseconds()}
	record, _, err := carryOut(t, nil, bareSpec(plain{}), point, Step{Nodes: "n9"}, Step{Nodes: RoleReplica})
	if err != nil {
		t.Error(err)
	}
	same(t, record, "fail fault no client reached the point acquired 2 times before the time limit of this fault",
		`fail fault the node "n9" is not running at this moment, so the fault cannot hit it`,
		"fail fault at this moment no node matches the parameter nodes, so the fault has no target")
	any := Step{Tied: true, Nth: 1, Until: (200 * time.Millisecond).Nanoseconds()}
	record, _, _ = carryOut(t, nil, with(func(s *Spec) { s.Whom, s.Gates = Clients, true }), any) // checked above
	same(t, record, "fail fault no client reached any point before the time limit of this fault")
}

// A step of a fault that is not in the catalogue is the error of the run.
func TestAnUnknownFault(t *testing.T) {
	record, _, err := carryOut(t, nil, bareSpec(plain{}), Step{Fault: "gone"})
	if err == nil || !strings.Contains(err.Error(), `unknown nemesis "gone"`) {
		t.Errorf("error %v", err)
	}
	same(t, record)
}

// The client at the point is let go when its lease is nearly over, also while targets are still
// being chosen: they may take their time, or wait for it.
func TestBoundComesBeforeChoosing(t *testing.T) {
	clock := history.NewClock()
	gone := make(chan struct{})
	hit := &Hit{Client: someClient{name: "c1"}, Point: "acquired", Go: sync.OnceFunc(func() { close(gone) })}
	w := slowChoice{ground{clock: clock, nodes: func() []Node { <-gone; return []Node{place{"n1", RoleMaster, true}} }}, hit}
	record, f, err := carryOut(t, w, bareSpec(plain{}), Step{Tied: true, Point: "acquired", Until: time.Second.Nanoseconds()})
	if err != nil || f.By != "c1" || f.Point != "acquired" {
		t.Errorf("fault %+v, %v", f, err)
	}
	same(t, record, "invoke fault", "ok fault")
}

// What stops a client does not strike one that had to leave its point: it would be stopped anywhere.
func TestAClientThatLeftIsNotStopped(t *testing.T) {
	clock, gone := history.NewClock(), make(chan struct{})
	hit := &Hit{Client: someClient{name: "c1"}, Point: "acquired", Go: sync.OnceFunc(func() { close(gone) })}
	w := slowClients{slowChoice{ground{clock: clock}, hit}, gone}
	s := bareSpec(plain{})
	s.Family, s.Whom = history.FamilyClient, Clients
	record, f, err := carryOut(t, w, s, Step{Tied: true, Point: "acquired", Until: time.Second.Nanoseconds()})
	if err != nil || f.Proof != "" {
		t.Errorf("fault %+v, %v", f, err)
	}
	same(t, record, "fail fault too late for this fault: 0.9 of the lease of c1 was over, so it had to leave the point "+
		"acquired, because the host was busy")
}

// One whose lease is over when it reaches its point is stopped there nevertheless, and let go when it is.
func TestALateClientIsStoppedAtItsPoint(t *testing.T) {
	clock, gone := history.NewClock(), make(chan struct{})
	hit := &Hit{Client: someClient{name: "c1"}, Point: "acquired", Go: sync.OnceFunc(func() { close(gone) })}
	w := lateClient{slowClients{slowChoice{ground{clock: clock}, hit}, gone}}
	s := bareSpec(plain{})
	s.Family, s.Whom = history.FamilyClient, Clients
	record, _, err := carryOut(t, w, s, Step{Tied: true, Point: "acquired", Until: time.Second.Nanoseconds()})
	if <-gone; err != nil {
		t.Error(err)
	}
	same(t, record, "invoke fault", "ok fault")
}

// lateClient stands at the point when its lease is over. Choosing takes a moment, or until it has gone; a time to live is long.
type lateClient struct{ slowClients }

func (w lateClient) TTL() time.Duration { return 20 * time.Second }

func (w lateClient) Clients() []Client {
	select {
	case <-w.gone:
	case <-time.After(LookEvery):
	}
	return []Client{w.hit.Client}
}

func (w lateClient) Arm(context.Context, Arm) (*Hit, error) {
	w.hit.Deadline = history.Some(w.clock.Now())
	return w.hit, nil
}

// slowClients are told only when one of them is gone.
type slowClients struct {
	slowChoice
	gone chan struct{}
}

func (w slowClients) Clients() []Client {
	<-w.gone
	return []Client{w.hit.Client}
}

// slowChoice has a client at the point, and nodes that are told only when it is gone.
type slowChoice struct {
	ground
	hit *Hit
}

func (w slowChoice) Arm(context.Context, Arm) (*Hit, error) {
	w.hit.Deadline = history.Some(w.clock.Now() + w.TTL().Nanoseconds())
	return w.hit, nil
}
