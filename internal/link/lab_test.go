package link

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

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
	addr, err := n.Between("127.0.0.1", "c", "s", "")
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
