package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/workloads"
)

// scripted is a workload that notes its turns, and does in each what it is told.
type scripted struct {
	turns []string
	do    func(nth int, turn workloads.Turn) (bool, error)
}

func (s *scripted) Section(_ context.Context, _ *workloads.Client, turn workloads.Turn) (bool, error) {
	s.turns = append(s.turns, strings.TrimSpace(fmt.Sprint(turn.Last, " ", turn.Lock)))
	return s.do(len(s.turns), turn)
}

// looping has the client run a workload, and is told how it ended.
func (b *bench) looping(s *scripted) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- b.loop(b.t.Context(), b.stopped, nil, s) }()
	if m := b.hear(); m.Op != control.Ready {
		b.t.Errorf("first of all it says %q", m.Op)
	}
	return ended
}

// A client begins when it is told to, goes on until it is told of the last sections, has one of each lock granted, however often
// that takes, says so, and ends when it is told to.
func TestTheLifeOfAClient(t *testing.T) {
	b := newBench(t)
	refused := 0
	s := &scripted{do: func(nth int, turn workloads.Turn) (bool, error) {
		switch {
		case nth == 1 && turn.Last:
			t.Error("the first section is a last one")
		case nth == 3:
			b.final.Store(true)
		case turn.Lock == "L1" && refused < 2:
			refused++
			return false, nil
		}
		return true, nil
	}}
	ended := b.looping(s)
	b.tell(control.Message{Op: control.Start})
	if m := b.hear(); m.Op != control.Done {
		t.Errorf("it says %q", m.Op)
	}
	select {
	case err := <-ended:
		t.Fatalf("it ended before it was told to: %v", err)
	default:
	}
	b.tell(control.Message{Op: control.Stop})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if want := []string{"false", "false", "false", "true L1", "true L1", "true L1", "true L2"}; !slices.Equal(s.turns, want) {
		t.Errorf("turns %q, want %q", s.turns, want)
	}
}

// A client ends at once, and without an error, if it is stopped before it begins or in a last section that is never granted; what
// keeps it from going on is told.
func TestTheEndsOfAClient(t *testing.T) {
	b := newBench(t)
	ended := b.looping(&scripted{})
	b.tell(control.Message{Op: control.Stop})
	if err := <-ended; err != nil {
		t.Errorf("stopped before it began: %v", err)
	}

	for _, final := range []bool{false, true} {
		b = newBench(t)
		b.final.Store(final)
		ended = b.looping(&scripted{do: func(nth int, _ workloads.Turn) (bool, error) {
			if nth == 2 {
				b.tell(control.Message{Op: control.Stop})
				<-b.stopped.Done()
			}
			return false, nil
		}})
		b.tell(control.Message{Op: control.Start})
		if err := <-ended; err != nil {
			t.Errorf("stopped in a section (last: %v): %v", final, err)
		}
	}

	broken := errors.New("broken")
	for _, final := range []bool{false, true} {
		b = newBench(t)
		b.final.Store(final)
		ended = b.looping(&scripted{do: func(int, workloads.Turn) (bool, error) { return false, broken }})
		b.tell(control.Message{Op: control.Start})
		if err := <-ended; !errors.Is(err, broken) {
			t.Errorf("it ends with %v", err)
		}
	}
}

// served is a server that answers each connection with its name.
func served(t *testing.T, name string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte(name)) //nolint:errcheck // who reads it notices
			c.Close()             //nolint:errcheck // as above
		}
	}()
	t.Cleanup(func() {
		l.Close() //nolint:errcheck // it ends the server
		<-over
	})
	return l.Addr().String()
}

// A server is dialled where it is now, by its name and by the address that it has announced, which the connection then bears.
func TestDialling(t *testing.T) {
	b := newBench(t)
	const announced = "10.1.2.3:7000"
	b.addrs.Announce([]cluster.Ref{{Name: "n1", Announced: announced}, {Name: "n2"}})
	b.addrs.Set(map[string]string{"n1": served(t, "old"), "n2": served(t, "other")})
	b.addrs.Count(true)
	dial := func(by, remote, want string) {
		t.Helper()
		c, err := b.addrs.Dial(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // it was only looked at
		got := make([]byte, 10)
		n, err := c.Read(got)
		if string(got[:n]) != want || remote != "" && c.RemoteAddr().String() != remote {
			t.Errorf("%s: %q of %s (%v), want %q of %s", by, got[:n], c.RemoteAddr(), err, want, remote)
		}
	}
	dial("n1", "", "old")
	dial(announced, announced, "old")
	moved := served(t, "new")
	b.tell(control.Message{Op: control.Move, Node: "n1", Addr: moved}, control.Message{Op: control.Start})
	<-b.started
	dial("n1", moved, "new")
	dial(announced, announced, "new")
	dial("n2", "", "other")
	if _, err := b.addrs.Dial(t.Context(), ""); err == nil {
		t.Error("a server without a name is dialled")
	}
	if wire := b.addrs.Wire(); wire.Answers != 3 || wire.Requests != 0 {
		t.Errorf("counted: %+v", wire) // by name
	}
}

// A message that is read in pieces is counted as one, and nothing of it is lost.
func TestAMessageInPieces(t *testing.T) {
	b := newBench(t)
	b.addrs.Set(map[string]string{"n1": served(t, "head and body")})
	b.addrs.Count(true)
	c, err := b.addrs.Dial(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // it was only read
	text, piece := "", make([]byte, 4)
	for {
		n, err := c.Read(piece)
		if text += string(piece[:n]); err != nil {
			break
		}
	}
	if wire := b.addrs.Wire(); text != "head and body" || wire.Answers != 1 {
		t.Errorf("read %q in %d answers", text, wire.Answers)
	}
}
