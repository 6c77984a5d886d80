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

// canLose reports whether this host lets packets be lost. Where it does not, that is what is tested: nobody
// is told that they are.
func canLose(t *testing.T, l *Link) bool {
	t.Helper()
	if CanLose() == nil {
		return true
	}
	x, err := l.Lose()
	if err == nil && l.front != nil {
		t.Error("they are lost, and CanLose says that they cannot be")
	}
	if _, err := x.Remove(); err != nil {
		t.Error(err)
	}
	return false
}

// lose has a link lose packets, which it proves.
func lose(t *testing.T, l *Link, want string) *Loss {
	t.Helper()
	x, err := l.Lose()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := x.Prove(context.Background())
	if err != nil || proof != want {
		t.Fatalf("proof %q, %v", proof, err)
	}
	return x
}

// silent says that nobody answers for a while.
func silent(t *testing.T, c net.Conn, line string) {
	t.Helper()
	_, err := ask(c, line, 50*time.Millisecond)
	var ne net.Error
	if !errors.As(err, &ne) || !ne.Timeout() {
		t.Fatalf("into a loss: %v, want a time-out", err)
	}
}

// answered reads an answer that is under way.
func answered(t *testing.T, c net.Conn, want string) {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len(want)+1)
	if _, err := io.ReadFull(c, b); err != nil || string(b) != want+"\n" {
		t.Fatalf("answer %q, %v, want %q", b, err, want)
	}
}

const (
	lossOfOne = "loses every packet, on every open connection (1) and on every new connection"
	unheard   = "; a test connection got no answer"
)

// What is lost is sent again: it arrives once, late, by the same connection. So does the call of somebody
// new. Others notice nothing.
func TestLossHealsByRetransmission(t *testing.T) {
	n, s, l, addr := lab(t)
	if !canLose(t, l) {
		return
	}
	other, err := n.Between("127.0.0.1", "d", "s", "")
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, addr)
	mustAsk(t, c, "before")
	x := lose(t, l, lossOfOne+unheard)
	silent(t, c, "during")
	fresh := make(chan net.Conn, 1)
	go func() {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Error(err)
			close(fresh)
			return
		}
		fresh <- conn
	}()
	mustAsk(t, dial(t, other), "other")
	select {
	case <-fresh:
		t.Fatal("a call gets through")
	case <-time.After(50 * time.Millisecond):
	}
	if heard := s.all(); heard != "before other" {
		t.Errorf("the server heard %q", heard)
	}
	lost, err := x.Remove()
	if err != nil || lost < 2 {
		t.Errorf("%d packets were lost, %v", lost, err)
	}
	answered(t, c, "during")
	conn, ok := <-fresh
	if !ok {
		return
	}
	defer conn.Close() //nolint:errcheck // a test
	mustAsk(t, conn, "new")
	if heard := s.all(); heard != "before other during new" {
		t.Errorf("the server heard %q", heard)
	}
}

// Nobody acknowledges: who wants to know how long nobody does gives up.
func TestLossIsNotAcknowledged(t *testing.T) {
	_, s, l, addr := lab(t)
	if !canLose(t, l) {
		return
	}
	c := dial(t, addr)
	mustAsk(t, c, "before")
	err := ofSocket(c, func(fd int) error {
		return syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, 18 /* TCP_USER_TIMEOUT */, 100)
	})
	if err != nil {
		t.Fatal(err)
	}
	x := lose(t, l, lossOfOne+unheard)
	if _, err := ask(c, "during", 10*time.Second); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("%v, want that the kernel gives up", err)
	}
	if _, err := x.Remove(); err != nil {
		t.Fatal(err)
	}
	if heard := s.all(); heard != "before" {
		t.Errorf("the server heard %q", heard)
	}
}

// Two faults on one link: it carries with the end of the second. Cut meanwhile, it is refused, and what
// comes after the cut is lost again.
func TestLossTwiceAndCut(t *testing.T) {
	_, _, l, addr := lab(t)
	if !canLose(t, l) {
		return
	}
	first, second := lose(t, l, strings.Replace(lossOfOne, "1", "0", 1)+unheard),
		lose(t, l, strings.Replace(lossOfOne, "1", "0", 1)+unheard)
	if _, err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Remove(); err != nil { // once only
		t.Fatal(err)
	}
	_, mend, err := l.Cut()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a cut link: %v", err)
	}
	if err := mend(); err != nil {
		t.Fatal(err)
	}
	d := net.Dialer{Timeout: 50 * time.Millisecond}
	var ne net.Error
	if _, err := d.Dial("tcp", addr); !errors.As(err, &ne) || !ne.Timeout() {
		t.Errorf("a link that loses: %v", err)
	}
	if _, err := second.Remove(); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, dial(t, addr), "after")
}

// At an address that several share, only the packets of one are lost: its call is taken, and nothing of
// what it says.
func TestLossAtASharedAddress(t *testing.T) {
	n, s, l, _ := lab(t)
	if !canLose(t, l) {
		return
	}
	addr, err := n.Announce("127.0.0.1", "s", "", "127.0.0.9")
	if err != nil {
		t.Fatal(err)
	}
	n.Calls("a", "127.0.0.2")
	n.Calls("b", "127.0.0.3")
	from := func(host string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
		c, err := d.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() }) //nolint:errcheck // a test
		return c
	}
	old := from("127.0.0.2")
	mustAsk(t, old, "old")
	x := lose(t, n.Link("a", "s"), lossOfOne)
	fresh := from("127.0.0.2")
	silent(t, fresh, "lost")
	silent(t, old, "lost too")
	mustAsk(t, from("127.0.0.3"), "b")
	if heard := s.all(); heard != "old b" {
		t.Errorf("the server heard %q", heard)
	}
	if _, err := x.Remove(); err != nil {
		t.Fatal(err)
	}
	answered(t, old, "lost too")
	if _, err := ask(fresh, "again", 5*time.Second); err == nil {
		t.Error("who called meanwhile gets through, and may have given up long ago")
	}
	mustAsk(t, from("127.0.0.2"), "anew")
	if heard := s.all(); heard != "old b lost too anew" {
		t.Errorf("the server heard %q", heard)
	}
}

// A network that ends while packets are lost, with somebody who waits, leaves nothing: goleak looks.
func TestLossAtTheEnd(t *testing.T) {
	n, _, l, addr := lab(t)
	if !canLose(t, l) {
		return
	}
	shared, err := n.Announce("127.0.0.1", "s", "", "127.0.0.9")
	if err != nil {
		t.Fatal(err)
	}
	n.Calls("a", "127.0.0.1")
	mustAsk(t, dial(t, addr), "before")
	lose(t, n.Link("c", "s"), lossOfOne+unheard)
	lose(t, n.Link("a", "s"), strings.Replace(lossOfOne, "1", "0", 1))
	silent(t, dial(t, shared), "for ever")
}
