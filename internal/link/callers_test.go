package link

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// Callers of an address that all share are told apart by whose process they are; one that is
// nobody's is refused.
func TestCallersBySocket(t *testing.T) {
	n, s, _, _ := lab(t)
	n.Serve("master", "peer", s.Addr().String())
	addr, err := n.Announce("127.0.0.1", "master", "peer", "")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", addr); err == nil { // it may be closed before it is open
		if _, err := ask(c, "hello", time.Second); err == nil {
			t.Error("a stranger was let in")
		}
		c.Close() //nolint:errcheck // a test
	}
	eventually(t, "a caller was refused", func() bool { return n.Refused() == 1 })
	n.Runs("other", 1)
	n.Runs("replica", os.Getpid())
	c := dial(t, addr)
	mustAsk(t, c, "hello")
	links := n.Links("replica", "master")
	if got := links[len(links)-1]; got.Port != "peer" || got.Open() != 1 {
		t.Errorf("the link %v carries %d connections", got, got.Open())
	}
	_, mend, err := links[len(links)-1].Cut()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(c, "again", time.Second); err == nil {
		t.Error("it still reaches the master")
	}
	if err := mend(); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, dial(t, addr), "mended")
}

// What a caller says first is rewritten, with the way back; the rest passes as it is. One that says
// nothing that can be understood is hung up on.
func TestGreet(t *testing.T) {
	n, s, _, _ := lab(t)
	n.Serve("s", "door", s.Addr().String())
	there, err := n.Between("127.0.0.1", "c", "s", "door")
	if err != nil {
		t.Fatal(err)
	}
	back, err := n.Between("127.0.0.1", "s", "c", "door")
	if err != nil {
		t.Fatal(err)
	}
	n.Greet("c", "s", "door", func(said io.Reader, back string) ([]byte, error) {
		name := make([]byte, 3)
		if _, err := io.ReadFull(said, name); err != nil || string(name) == "bad" {
			return nil, errors.Join(err, errors.New("who is that?"))
		}
		return fmt.Appendf(nil, "%s at %s", name, back), nil
	})
	c := dial(t, there)
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(c, "abc says hello"); err != nil {
		t.Fatal(err)
	}
	want := "abc at " + back + " says hello\n"
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != want {
		t.Errorf("the server heard %q, %v; want %q", line, err, want)
	}
	bad, err := net.Dial("tcp", there)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close() //nolint:errcheck // a test
	if _, err := ask(bad, "bad caller", 5*time.Second); err == nil {
		t.Error("it was let in")
	}
}
