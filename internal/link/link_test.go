package link

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestCutRefusesAndMends(t *testing.T) {
	_, _, l, addr := lab(t)
	c := dial(t, addr)
	mustAsk(t, c, "before")
	closed, mend, err := l.Cut()
	if err != nil || closed != 1 {
		t.Fatalf("cut %d connections: %v", closed, err)
	}
	if _, err := ask(c, "during", time.Second); err == nil {
		t.Error("a cut connection still answers")
	}
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialling a cut link: %v, want refused", err)
	}
	if _, err := l.ProveCut(context.Background()); err != nil {
		t.Error(err)
	}
	_, again, err := l.Cut() // by another fault
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{mend, mend} { // twice is once
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("mended by one of two faults, and open")
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, dial(t, addr), "after")
}

// Callers of one announced address are told apart by where they call from.
func TestAnnouncedAddressTellsCallersApart(t *testing.T) {
	n, s, _, _ := lab(t)
	addr, err := n.Announce("127.0.0.1", "master", "", "127.0.0.21")
	if err != nil {
		t.Fatal(err)
	}
	n.Serve("master", "", s.Addr().String())
	for party, source := range map[string]string{"replica": "127.0.0.22", "sentinel": "127.0.0.23"} {
		if _, err := n.Announce("127.0.0.1", party, "", source); err != nil {
			t.Fatal(err)
		}
	}
	call := func(source string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
		c, err := d.Dial("tcp", addr)
		if err == nil {
			t.Cleanup(func() { c.Close() }) //nolint:errcheck // a test
		}
		return c, err
	}
	from := func(source string) net.Conn {
		c, err := call(source)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	replica, sentinel, stranger := from("127.0.0.22"), from("127.0.0.23"), from("127.0.0.1")
	for _, c := range []net.Conn{replica, sentinel, stranger} {
		mustAsk(t, c, "hello")
	}
	_, mend, err := n.Link("replica", "master").Cut()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(replica, "again", time.Second); err == nil {
		t.Error("the replica still reaches the master")
	}
	if c, err := call("127.0.0.22"); err == nil { // it may be closed before it is open
		if _, err := ask(c, "anew", time.Second); err == nil {
			t.Error("the replica reaches the master by a new connection")
		}
	}
	mustAsk(t, sentinel, "still")
	mustAsk(t, stranger, "still")
	if err := mend(); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, from("127.0.0.22"), "mended")
}

// A link whose server does not read any more heals all the same.
func TestHealWhileTheServerDoesNotRead(t *testing.T) {
	n := New()
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	n.Serve("s", "", l.Addr().String())
	addr, err := n.Between("127.0.0.1", "c", "s", "")
	if err != nil {
		t.Fatal(err)
	}
	ln := n.Link("c", "s")
	slow, err := ln.Slow(Both, time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	hold, err := ln.Hold(To)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, addr)
	if err := c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	flood := make([]byte, 64<<10)
	for err == nil { // until every buffer is full
		_, err = c.Write(flood)
	}
	for _, a := range []*Applied{slow, hold} {
		if err := a.Remove(context.Background()); err != nil && !errors.Is(err, ErrReplaced) {
			t.Fatal(err)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// A server that is down: the connection breaks, and works again when it is back.
func TestUpstreamIsDown(t *testing.T) {
	n, s, _, addr := lab(t)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.Serve("s", "", dead.Addr().String())
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", addr); err == nil { // it may be closed before it is open
		if _, err := ask(c, "hello", 5*time.Second); err == nil {
			t.Error("a dead server answers")
		}
		c.Close() //nolint:errcheck // a test
	}
	n.Serve("s", "", s.Addr().String())
	mustAsk(t, dial(t, addr), "back")
}

// A party that is no more has no addresses left; the others keep theirs.
func TestLeave(t *testing.T) {
	n, _, _, addr := lab(t)
	other, err := n.Between("127.0.0.1", "d", "s", "")
	if err != nil {
		t.Fatal(err)
	}
	mustAsk(t, dial(t, addr), "before")
	for _, who := range []string{"c", "c", "nobody", ""} {
		if err := n.Leave(who); err != nil {
			t.Fatalf("leave of %q: %v", who, err)
		}
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close() //nolint:errcheck // a test
		t.Error("the address of a party that left still answers")
	}
	mustAsk(t, dial(t, other), "after")
}

// A copy of the listener that a child holds while it is started delays the refusal, and one
// that stays is no cut.
func TestProveCutWaitsForTheRefusal(t *testing.T) {
	_, _, l, addr := lab(t)
	hold := func() func() {
		t.Helper()
		f, err := l.front.listener.(*net.TCPListener).File() // what a fork copies
		if err != nil {
			t.Fatal(err)
		}
		return sync.OnceFunc(func() { f.Close() }) //nolint:errcheck // a test
	}
	letGo := hold()
	_, mend, err := l.Cut()
	if err != nil {
		t.Fatal(err)
	}
	dial(t, addr) // it can be dialled
	if _, err := l.ProveCut(t.Context()); err == nil || !strings.Contains(err.Error(), "link c->s should be cut, but a new "+
		"connection was accepted") {
		t.Errorf("a link that can be dialled is taken for cut: %v", err)
	}
	proof := make(chan error, 1)
	go func() {
		_, err := l.ProveCut(t.Context())
		proof <- err
	}()
	letGo()
	if err := <-proof; err != nil {
		t.Error(err)
	}
	if err := mend(); err != nil {
		t.Error(err)
	}
}
