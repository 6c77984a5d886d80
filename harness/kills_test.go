package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/nemesis"
)

// lab is a session without processes: each client is its end of a control channel, and a log.
type lab struct {
	*session
	t     *testing.T
	limit time.Duration // of what clients are told
}

func newLab(t *testing.T) *lab {
	t.Helper()
	s := &session{clock: history.NewClock(), tail: newTail(true), dir: t.TempDir()}
	s.points = newLookout(s.living)
	t.Cleanup(s.tail.close)
	return &lab{s, t, control.SendLimit}
}

// join adds a client, changed before it is listened to, and returns its end of the channel.
func (l *lab) join(name string, change ...func(*client)) (*client, *control.Channel) {
	l.t.Helper()
	ours, theirs, err := control.SocketPair()
	if err != nil {
		l.t.Fatal(err)
	}
	end, err := control.FromFile(theirs)
	if err != nil {
		l.t.Fatal(err)
	}
	c := &client{
		Process: &proc.Process{Name: name}, name: name, ch: ours, out: control.NewOutbox(ours, l.limit), tail: l.tail,
		onHit: l.points.reached, onFail: func() {}, errPath: filepath.Join(l.dir, name+".stderr"),
		logPath: filepath.Join(l.dir, name+".jsonl"),
		ready:   make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{}),
	}
	for _, f := range change {
		f(c)
	}
	go c.listen()
	l.enlist(c)
	l.t.Cleanup(func() {
		c.ending.Store(true)
		c.out.Close() //nolint:errcheck // it may be closed
		end.Close()   //nolint:errcheck // as above
		<-c.ended
	})
	return c, end
}

// log begins the log of a client, which the tail follows.
func (l *lab) log(name string) *history.Recorder {
	l.t.Helper()
	path := filepath.Join(l.dir, name+".jsonl")
	rec, err := history.Open(path, name, l.clock, history.Run{Schema: history.Schema, StallLimit: time.Hour.Nanoseconds()})
	if err = errors.Join(err, l.tail.follow(name, path)); err != nil {
		l.t.Fatal(err)
	}
	return rec
}

// acquire writes a grant.
func (l *lab) acquire(rec *history.Recorder, client string) {
	l.t.Helper()
	for _, typ := range []history.Type{history.Invoke, history.OK} {
		if err := rec.Notice(history.Line{Type: typ, F: history.FAcquire, Client: client, Lock: "L1"}); err != nil {
			l.t.Fatal(err)
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Of thousands of holders that were killed nothing stays: no descriptor, no client, no hold, no room on the disk for events.
func TestNothingStaysOfTheKilled(t *testing.T) {
	l := newLab(t)
	before := 0
	for i := range 3000 {
		name := fmt.Sprintf("c%d", i+1)
		c, end := l.join(name)
		rec := l.log(name)
		l.acquire(rec, name)
		if doing := c.Doing(); doing != nemesis.Holds {
			t.Fatalf("%s is %s", name, doing)
		}
		if err := os.WriteFile(c.errPath, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c.killed.Store(true)
		tail := c.logPath + ".tail"
		held, err := os.ReadFile(tail)
		moved, failed := os.Stat(c.logPath) // what took long to record is in the log
		if err := errors.Join(err, failed, rec.Close(), end.Close()); err != nil {
			t.Fatal(err)
		}
		// as a killed one leaves it
		if err := errors.Join(os.Truncate(c.logPath, moved.Size()), os.WriteFile(tail, held, 0o600)); err != nil {
			t.Fatal(err)
		}
		l.forget(c)
		if _, err := os.Stat(tail); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the tail of a log stays: %v", err)
		}
		if st, err := os.Stat(c.logPath); err != nil || st.Size() == 0 {
			t.Fatalf("its events are gone: %v", err)
		}
		if i == 10 {
			before = descriptors(t)
		}
		if _, err := os.Stat(c.errPath); err == nil {
			t.Fatal("an empty file of standard error stays")
		}
	}
	if now := descriptors(t); now > before+5 {
		t.Errorf("%d descriptors after 10 kills, %d after 3000", before, now)
	}
	if len(l.clients)+len(l.tail.files)+len(l.tail.holding["L1"]) > 0 || len(l.tail.granted) != 1 || l.failures() != nil {
		t.Errorf("what is left: %d clients, %d logs, %d holds, %d locks, %v", len(l.clients), len(l.tail.files),
			len(l.tail.holding["L1"]), len(l.tail.granted), l.failures())
	}
	if seen := l.tail.count(); seen.Grants != 3000 || seen.Overlaps != 0 {
		t.Errorf("seen: %+v", seen)
	}
}

// A grant after the moment counts also where its client died before anybody looked, and one of the same client does not.
func TestWaitingForAGrantToAnother(t *testing.T) {
	l := newLab(t)
	c, _ := l.join("c1")
	l.acquire(l.log("c1"), "c1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.tail.waitGrant(ctx, "L1", "c1", 0); err == nil {
		t.Error("a grant to the client itself counts")
	}
	c.killed.Store(true)
	l.forget(c)
	now := l.clock.Now()
	if err := l.tail.waitGrant(ctx, "", "c2", 0); err != nil {
		t.Errorf("the grant of a client that died since does not count: %v", err)
	}
	if err := l.tail.waitGrant(ctx, "L1", "c2", now); err == nil {
		t.Error("a grant before the moment counts")
	}
	if err := l.tail.waitGrant(ctx, "L2", "c2", 0); err == nil {
		t.Error("a grant of another lock counts")
	}
}

// The last grants to two clients answer every question about another one.
func TestGrantsOfTwoAreEnough(t *testing.T) {
	var g grants
	for _, x := range []struct {
		client string
		at     int64
	}{{"a", 10}, {"b", 20}, {"a", 30}, {"c", 25}, {"c", 24}, {"b", 21}} {
		g.add(x.client, x.at)
	}
	for _, c := range []struct {
		not   string
		after int64
		want  bool
	}{{"a", 24, true}, {"a", 25, false}, {"c", 29, true}, {"c", 30, false}, {"", 29, true}} {
		if got := g.after(c.not, c.after); got != c.want {
			t.Errorf("somebody but %q after %d: %v", c.not, c.after, got)
		}
	}
}

// hear returns the next message to a client.
func hear(t *testing.T, end *control.Channel) control.Message {
	t.Helper()
	m, err := end.Receive()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A client that is stopped keeps nobody from striking another one, and the point that was armed meanwhile never reaches it.
func TestAStoppedClientHoldsNobodyUp(t *testing.T) {
	l := newLab(t)
	asleep, sleeper := l.join("c1")
	_, awake := l.join("c2")
	asleep.out.Hold()
	const rounds = 600 // more messages than a socket holds
	for range rounds {
		got := make(chan *nemesis.Hit, 1)
		go func() {
			hit, err := l.points.await(t.Context(), nemesis.Arm{Point: "acquired"})
			if err != nil {
				t.Error(err)
			}
			got <- hit
		}()
		m := hear(t, awake)
		for m.Op != control.Arm {
			m = hear(t, awake)
		}
		if err := awake.Send(control.Message{Op: control.Reached, ID: m.ID, Point: "acquired", Lock: "L1"}); err != nil {
			t.Fatal(err)
		}
		hit := <-got
		if hit == nil || hit.Client.Name() != "c2" || hit.Lock != "L1" {
			t.Fatalf("hit: %+v", hit)
		}
		hit.Go()
	}
	asleep.out.Send(control.Message{Op: control.Final}) //nolint:errcheck // it shows below
	asleep.out.Release()
	if m := hear(t, sleeper); m.Op != control.Final {
		t.Errorf("the client that was stopped hears %s %d of what is over", m.Op, m.ID)
	}
}

// Why nobody came is told truly: who was stopped all the time, or meanwhile, is named.
func TestWhyNobodyCame(t *testing.T) {
	for name, c := range map[string]struct {
		before, during []string // who is stopped
		clients        []string // that the arm is about
		want           string
		all            bool
	}{
		"nobody stopped":    {nil, nil, nil, "", false},
		"stopped before":    {[]string{"c1"}, nil, []string{"c1"}, "c1", true},
		"stopped meanwhile": {nil, []string{"c2"}, nil, "c2", false},
		"another":           {[]string{"c2"}, nil, []string{"c1"}, "", false},
		"all":               {[]string{"c1"}, []string{"c2"}, nil, "c1 c2", true},
	} {
		l := newLab(t)
		clients := map[string]*client{}
		for _, n := range []string{"c1", "c2"} {
			clients[n], _ = l.join(n)
		}
		stop := func(names []string) {
			for _, n := range names {
				clients[n].out.Hold()
				clients[n].stops.Add(1)
			}
		}
		stop(c.before)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := l.points.await(ctx, nemesis.Arm{Point: "acquired", Clients: c.clients, Armed: func() { stop(c.during); cancel() }})
		var stopped *nemesis.StoppedError
		got, all := "", false
		if errors.As(err, &stopped) {
			got, all = strings.Join(stopped.Clients, " "), stopped.All
		}
		if got != c.want || all != c.all || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: stopped %q, all %v (%v), want %q, %v", name, got, all, err, c.want, c.all)
		}
	}
}

// A client that starts while a point is armed hears of it, if it is meant.
func TestANewClientHearsWhatIsArmed(t *testing.T) {
	l := newLab(t)
	armed := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		l.points.await(ctx, nemesis.Arm{Point: "acquired", Nth: 2, Clients: []string{"c2"}, Armed: func() { close(armed) }}) //nolint:errcheck // nobody comes
	}()
	<-armed
	for _, name := range []string{"c1", "c2"} {
		c, end := l.join(name)
		l.points.armNew(c)
		c.out.Send(control.Message{Op: control.Start}) //nolint:errcheck // it shows below
		m := hear(t, end)
		if meant := name == "c2"; (m.Op == control.Arm) != meant || meant && (m.Point != "acquired" || m.Nth != 2) {
			t.Errorf("%s hears first: %+v", name, m)
		}
	}
	cancel()
	<-over
	if len(l.points.armed) > 0 {
		t.Error("what is over stays armed")
	}
}
