package control

import (
	"errors"
	"runtime"
	"testing"
	"time"
)

// pair is an outbox of a client, and the client's end.
func pair(t *testing.T, limit time.Duration) (*Outbox, *Channel) {
	t.Helper()
	ours, theirs, err := SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	o := NewOutbox(ours, limit)
	client, err := FromFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.Close()      //nolint:errcheck // some tests have closed it
		client.Close() //nolint:errcheck // as above
	})
	return o, client
}

func receive(t *testing.T, c *Channel) Message {
	t.Helper()
	m, err := c.Receive()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// To a client that is stopped nothing is sent, nobody waits, and an arm that is over by the time it goes on never reaches it;
// all else does, in order.
func TestAStoppedClientIsToldLater(t *testing.T) {
	o, client := pair(t, time.Minute)
	o.Hold()
	o.Hold()          // by a second fault
	const many = 5000 // more than a socket holds
	for id := range many {
		if err := o.Send(Message{Op: Arm, ID: id + 1}); err != nil {
			t.Fatal(err)
		}
		if id > 0 && o.Disarm(id) {
			t.Fatalf("the stopped client was told of arm %d", id)
		}
	}
	o.Release()
	if !o.Held() {
		t.Fatal("released while a second fault stops it")
	}
	for _, op := range []string{Move, Go} {
		if err := o.Send(Message{Op: op}); err != nil {
			t.Fatal(err)
		}
	}
	o.Release()
	for _, want := range []Message{{Op: Arm, ID: many}, {Op: Move}, {Op: Go}} {
		if got := receive(t, client); got.Op != want.Op || got.ID != want.ID {
			t.Errorf("received %s %d, want %s %d", got.Op, got.ID, want.Op, want.ID)
		}
	}
	if !o.Disarm(many) {
		t.Error("the client knows of the arm, and is not told that it is over")
	}
	if got := receive(t, client); got.Op != Disarm || got.ID != many {
		t.Errorf("received %s %d", got.Op, got.ID)
	}
}

// fill sends until the client, which reads nothing, has been sent all that its socket holds.
func fill(t *testing.T, o *Outbox) (sent int) {
	t.Helper()
	for last := -1; ; {
		for range 1000 {
			sent++
			if err := o.Send(Message{Op: Arm, ID: sent, Point: "before-write"}); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(300 * time.Millisecond); ; {
			o.mu.Lock()
			left := len(o.queue)
			o.mu.Unlock()
			if left == 0 {
				break
			}
			if left == last && time.Now().After(deadline) {
				return sent
			}
			if left != last {
				last, deadline = left, time.Now().Add(100*time.Millisecond)
			}
			runtime.Gosched() // the outbox sends meanwhile
		}
	}
}

// A client that runs and reads nothing is given up: its channel says so to who listens.
func TestAClientThatReadsNothingIsGivenUp(t *testing.T) {
	o, _ := pair(t, 300*time.Millisecond)
	fill(t, o)
	if _, err := o.ch.Receive(); !errors.Is(err, ErrDeaf) {
		t.Errorf("received %v", err)
	}
	<-o.ended
	if err := o.Send(Message{Op: Go}); !errors.Is(err, ErrDeaf) {
		t.Errorf("sent: %v", err)
	}
}

// A client that is stopped while a message is on its way to it has time until it goes on, and gets every message whole.
func TestAMessageUnderWayToAStoppedClient(t *testing.T) {
	o, client := pair(t, 4*time.Second)
	sent := fill(t, o)
	o.Hold()
	<-time.After(o.limit + o.limit/2) // beyond the deadline of the message that is on its way
	if err := o.Send(Message{Op: Go}); err != nil {
		t.Fatalf("a stopped client was given up: %v", err)
	}
	o.Release()
	for id := 1; id <= sent; id++ {
		if got := receive(t, client); got.ID != id || got.Point != "before-write" {
			t.Fatalf("message %d: %+v", id, got)
		}
	}
	if got := receive(t, client); got.Op != Go {
		t.Errorf("received %s", got.Op)
	}
}

// What was not sent when an outbox is closed is dropped; whoever sends then is told.
func TestClosedOutbox(t *testing.T) {
	o, client := pair(t, time.Minute)
	o.Hold()
	if err := errors.Join(o.Send(Message{Op: Go}), o.Close(), o.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Receive(); err == nil {
		t.Error("a message came after the close")
	}
	if err := o.Send(Message{Op: Go}); err == nil {
		t.Error("sent to nobody, without an error")
	}
	if o.Disarm(1); len(o.queue) > 0 {
		t.Errorf("%d messages are kept for nobody", len(o.queue))
	}
}
