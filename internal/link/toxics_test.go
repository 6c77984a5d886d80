package link

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestBlackHoleIsSilentAndClosesInTheEnd(t *testing.T) {
	for _, way := range []Way{Both, To, From} {
		t.Run(string(way), func(t *testing.T) {
			_, s, l, addr := lab(t)
			c := dial(t, addr)
			mustAsk(t, c, "before")
			a, err := l.BlackHole(way)
			if err != nil {
				t.Fatal(err)
			}
			for _, conn := range []net.Conn{c, dial(t, addr)} {
				_, err := ask(conn, "during", 50*time.Millisecond)
				var ne net.Error
				if !errors.As(err, &ne) || !ne.Timeout() {
					t.Fatalf("into a black hole: %v, want a time-out", err)
				}
			}
			if heard := strings.Contains(s.all(), "during"); heard != (way == From) {
				t.Errorf("way %s: the server heard the request: %v", way, heard)
			}
			if err := a.Remove(context.Background()); err != nil {
				t.Fatal(err)
			}
			if _, err := ask(c, "after", time.Second); err == nil {
				t.Error("a connection of the black hole lives on")
			}
			mustAsk(t, dial(t, addr), "anew")
		})
	}
}

// What is held is delivered late, in order, also when its sender has gone meanwhile, and
// also when another toxic was added behind.
func TestHoldDeliversLate(t *testing.T) {
	_, s, l, addr := lab(t)
	c := dial(t, addr)
	mustAsk(t, c, "first")
	a, err := l.Hold(To)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"second", "third"} {
		if _, err := ask(c, line, 20*time.Millisecond); err == nil {
			t.Fatal("a held request was answered")
		}
	}
	slow, err := l.Slow(To, time.Millisecond, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "held", func() bool { return a.Held() == int64(len("second\nthird\n")) })
	if got := s.all(); got != "first" {
		t.Fatalf("the server heard %q before the heal", got)
	}
	for _, x := range []*Applied{a, slow} {
		if err := x.Remove(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "delivered in order", func() bool { return s.all() == "first second third" })
	mustAsk(t, dial(t, addr), "fourth")
}

func TestSlowDelays(t *testing.T) {
	_, _, l, addr := lab(t)
	a, err := l.Slow(From, 60*time.Millisecond, 0)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	mustAsk(t, dial(t, addr), "slow")
	if took := time.Since(begun); took < 60*time.Millisecond {
		t.Errorf("answered after %v", took)
	}
	if err := a.Remove(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A refusal passes; the next answer is lost with its connection, once.
func TestLoseReply(t *testing.T) {
	_, s, l, addr := lab(t)
	a, err := l.LoseReply(func(answer []byte) bool { return answer[0] == ':' || answer[0] == '$' })
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, addr)
	mustAsk(t, c, ":0\r")
	mustAsk(t, c, "$-1\r")
	if _, err := ask(c, "+OK", 5*time.Second); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("a lost answer: %v, want the connection closed", err)
	}
	if a.Lost() != "+OK" || !strings.HasSuffix(s.all(), "+OK") {
		t.Errorf("lost %q, the server heard %q", a.Lost(), s.all())
	}
	mustAsk(t, dial(t, addr), "+OK")
	if err := a.Remove(context.Background()); err != nil {
		t.Fatal(err)
	}
}
