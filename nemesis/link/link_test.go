package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server echoes lines, keeps what it heard, and does not read while it is stopped.
type server struct {
	net.Listener
	wg sync.WaitGroup

	mu    sync.Mutex
	heard []string
	conns []net.Conn
}

func serve(t *testing.T) *server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			s.wg.Go(func() { s.echo(c) })
		}
	})
	t.Cleanup(func() {
		l.Close() //nolint:errcheck // a test
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close() //nolint:errcheck // a test
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

func (s *server) echo(c net.Conn) {
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		s.mu.Lock()
		s.heard = append(s.heard, strings.TrimSpace(line))
		s.mu.Unlock()
		if _, err := c.Write([]byte(line)); err != nil {
			return
		}
	}
}

func (s *server) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.heard, " ")
}

// lab is a network with one server and one private link to it.
func lab(t *testing.T) (*Network, *server, *Link, string) {
	s, n := serve(t), New()
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	n.Serve("s", "", s.Addr().String())
	addr, err := n.Between("c", "s", "")
	if err != nil {
		t.Fatal(err)
	}
	return n, s, n.Link("c", "s"), addr
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) //nolint:errcheck // a test
	return c
}

// ask sends a line and waits for its echo.
func ask(c net.Conn, line string, within time.Duration) (string, error) {
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(c, line); err != nil {
		return "", err
	}
	text, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(text), err
}

func mustAsk(t *testing.T, c net.Conn, line string) {
	t.Helper()
	if got, err := ask(c, line, 5*time.Second); err != nil || got != strings.TrimSpace(line) {
		t.Fatalf("asked %q: %q, %v", line, got, err)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

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
	addr, err := n.Announce("master", "", "127.0.0.21")
	if err != nil {
		t.Fatal(err)
	}
	n.Serve("master", "", s.Addr().String())
	for party, source := range map[string]string{"replica": "127.0.0.22", "sentinel": "127.0.0.23"} {
		if _, err := n.Announce(party, "", source); err != nil {
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

// A link whose server does not read any more heals all the same.
func TestHealWhileTheServerDoesNotRead(t *testing.T) {
	n := New()
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	n.Serve("s", "", l.Addr().String())
	addr, err := n.Between("c", "s", "")
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
	other, err := n.Between("d", "s", "")
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
	if _, err := l.ProveCut(t.Context()); err == nil || !strings.Contains(err.Error(), "link c->s is cut and yet dialling is not refused") {
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
