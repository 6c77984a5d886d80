package harness

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/nemesis"
)

// reach has a client say that it stands at the point of an arm.
func reach(t *testing.T, end *control.Channel, arm control.Message) {
	t.Helper()
	if err := end.Send(control.Message{
		Op: control.Reached, ID: arm.ID, Point: "acquired", Lock: "L1", Grant: "g",
		Deadline: new(int64),
	}); err != nil {
		t.Fatal(err)
	}
}

// The first client that comes is struck, and stays until it is let go, once; whoever comes then goes on at once, and all hear
// that it is over.
func TestTheFirstIsStruck(t *testing.T) {
	l := newLab(t)
	ends := map[string]*control.Channel{}
	for _, name := range []string{"c1", "c2", "c3"} {
		_, ends[name] = l.join(name)
	}
	got := make(chan *nemesis.Hit, 1)
	go func() {
		hit, err := l.points.await(t.Context(), nemesis.Arm{
			Point: "acquired", Clients: []string{"c1", "c2"},
			GrantedBy: nemesis.AllNodes,
		})
		if err != nil {
			t.Error(err)
		}
		got <- hit
	}()
	arm := hear(t, ends["c1"])
	if second := hear(t, ends["c2"]); arm.Op != control.Arm || second.ID != arm.ID || arm.Nth != 1 ||
		arm.GrantedBy != nemesis.AllNodes {
		t.Fatalf("they hear %+v and %+v", arm, second)
	}
	reach(t, ends["c2"], arm)
	hit := <-got
	if hit == nil || hit.Client.Name() != "c2" || hit.Lock != "L1" || hit.Grant != "g" || !hit.Deadline.Set {
		t.Fatalf("struck: %+v", hit)
	}
	if m := hear(t, ends["c1"]); m.Op != control.Disarm || m.ID != arm.ID {
		t.Errorf("c1 hears %+v", m)
	}
	reach(t, ends["c1"], arm)
	if m := hear(t, ends["c1"]); m.Op != control.Go || m.ID != arm.ID {
		t.Errorf("c1, which came second, hears %+v", m)
	}
	if m := hear(t, ends["c2"]); m.Op != control.Disarm { // and no Go yet
		t.Errorf("c2 hears %+v before it is let go", m)
	}
	hit.Go()
	hit.Go()
	l.tellAll(control.Message{Op: control.Final})
	for _, want := range []string{control.Go, control.Final} {
		if m := hear(t, ends["c2"]); m.Op != want {
			t.Errorf("c2 hears %s, want %s", m.Op, want)
		}
	}
	if m := hear(t, ends["c3"]); m.Op != control.Final {
		t.Errorf("c3, which is not meant, hears %s", m.Op)
	}
}

// armed reports whether a point is.
func (l *lab) armed() bool {
	l.points.mu.Lock()
	defer l.points.mu.Unlock()
	return len(l.points.armed) > 0
}

// Whoever comes when the wait ends is either struck or goes on: it never stays.
func TestAtTheLastMoment(t *testing.T) {
	l := newLab(t)
	_, end := l.join("c1")
	struck := 0
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		hit, err := l.points.await(ctx, nemesis.Arm{Point: "acquired", Armed: func() {
			reach(t, end, hear(t, end))
			for l.armed() { // until it is handed over
				<-time.After(10 * time.Microsecond)
			}
			cancel()
		}})
		if err == nil {
			struck++
			hit.Go()
		} else if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for op, goes, over := "", false, false; !goes || !over; {
			op = hear(t, end).Op
			goes, over = goes || op == control.Go, over || op == control.Disarm
		}
	}
	if struck == 0 || struck == 200 {
		t.Errorf("%d of 200 were struck: only one way was seen", struck)
	}
}

// A client that does not read what it is told, and one that ends by itself, are of no use any more: the run ends at once where it
// cannot go on, and says why. Of one that was killed, or told to end, nothing is said.
func TestClientsOfNoUse(t *testing.T) {
	l := newLab(t)
	l.limit = 100 * time.Millisecond
	given := make(chan struct{})
	deaf, _ := l.join("c1", func(c *client) { c.onFail = func() { close(given) } })
	for range 5000 { // more than a socket holds
		deaf.out.Send(control.Message{Op: control.Arm, Point: "acquired"}) //nolint:errcheck // it shows below
	}
	<-given
	if err := deaf.failure(); !errors.Is(err, control.ErrDeaf) || !strings.Contains(err.Error(), "c1") {
		t.Errorf("deaf: %v", err)
	}

	s := proc.NewStarter()
	defer s.Close()
	p, err := s.Start("c2", exec.Command("sh", "-c", "exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	gone, end := l.join("c2", func(c *client) { c.Process = p })
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	<-gone.ended
	if err := gone.failure(); err == nil || !strings.Contains(err.Error(), "ended by itself: exit status 3 before") {
		t.Errorf("ended by itself: %v", err)
	}

	for name, told := range map[string]func(*client){
		"c3": func(c *client) { c.killed.Store(true) }, "c4": func(c *client) { c.ending.Store(true) },
	} {
		c, end := l.join(name, told)
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
		<-c.ended
		if err := c.failure(); err != nil {
			t.Error(err)
		}
	}
}
