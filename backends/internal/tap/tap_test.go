package tap

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends"
)

// wire is a connection whose other end the test holds.
type wire struct {
	net.Conn
	in []byte
}

func (w *wire) Close() error { return nil }

func (w *wire) Write(p []byte) (int, error) { return len(p), nil }

func (w *wire) Read(p []byte) (int, error) {
	n := copy(p, w.in)
	w.in = w.in[n:]
	return n, nil
}

func cmd(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// talk sends and answers through a tap, both cut into pieces of up to n bytes.
func talk(t *Tap, n int, requests, answers string) {
	w := &wire{in: []byte(answers)}
	c := t.Conn(w, "redis-1")
	for p := []byte(requests); len(p) > 0; {
		k := min(len(p), 1+rand.IntN(n))
		c.Write(p[:k]) //nolint:errcheck // it cannot fail
		p = p[k:]
	}
	buf := make([]byte, n)
	for len(w.in) > 0 {
		c.Read(buf[:1+rand.IntN(n)]) //nolint:errcheck // as above
	}
}

func clock() func() int64 {
	now := int64(0)
	return func() int64 { now++; return now }
}

// What is followed is seen however the bytes are cut, with its answer, past answers of every
// kind and past pushes.
func TestTrail(t *testing.T) {
	requests := cmd("HELLO", "3") + cmd("SET", "k", "me", "NX") + cmd("GET", "other") + cmd("EVALSHA", "x", "1", "k", "me",
		"me") + cmd("PING") + cmd("SET", "k", "me")
	answers := "%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n*2\r\n#t\r\n,1.5\r\n" + ">2\r\n$1\r\nx\r\n_\r\n" + "$-1\r\n" +
		"$5\r\nhe\r\no\r\n" + "|1\r\n+a\r\n+b\r\n:0\r\n" + "+PONG\r\n"
	for n := 1; n < 80; n++ {
		tap := New(clock())
		tr := tap.Follow("me")
		talk(tap, n, requests, answers)
		got := tr.Sends()
		if len(got) != 3 || tr.Blind() {
			t.Fatalf("pieces of %d: %v, blind %v", n, got, tr.Blind())
		}
		want := []Send{
			{"redis-1", "SET", "k", 1, Reply{Kind: '_'}},
			{"redis-1", "EVALSHA", "k", 2, Reply{':', "0"}},
			{"redis-1", "SET", "k", 3, Reply{}},
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("pieces of %d: %+v, want %+v", n, got[i], want[i])
			}
		}
	}
}

// A trail that has ended is not added to, and takes the answers that are still to come.
func TestTrailEnds(t *testing.T) {
	tap := New(clock())
	tr := tap.Follow("me")
	w := &wire{}
	c := tap.Conn(w, "redis-1")
	c.Write([]byte(cmd("SET", "k", "me"))) //nolint:errcheck // it cannot fail
	tr.End()
	c.Write([]byte(cmd("SET", "k", "me"))) //nolint:errcheck // it cannot fail
	w.in = []byte("+OK\r\n")
	c.Read(make([]byte, 100)) //nolint:errcheck // it cannot fail
	if got := tr.Sends(); len(got) != 1 || got[0].Answer.Text != "OK" {
		t.Errorf("%v", got)
	}
	if len(tap.trails) != 0 {
		t.Error("the word is still followed")
	}
}

// Where a connection is not understood, nothing is certain any more.
func TestBlind(t *testing.T) {
	for _, bad := range []struct{ requests, answers string }{
		{"GET k\r\n", ""}, {"*1\r\n:1\r\n", ""}, {"*x\r\n", ""}, {cmd("SET", "me"), "what?\r\n"}, {"*1\r\n$99999999\r\n", ""},
	} {
		tap := New(clock())
		tr := tap.Follow("me")
		talk(tap, 50, bad.requests, bad.answers)
		if !tr.Blind() || tr.Fate(nil) != Lost {
			t.Errorf("%q: not blind", bad)
		}
	}
}

// What a library's refusal amounts to, by what was sent and answered.
func TestCertain(t *testing.T) {
	taken := errors.New("not obtained")
	set := cmd("SET", "k", "me")
	for name, c := range map[string]struct {
		requests, answers string
		want              error // nil: unknown
	}{
		"refused":                         {set, "$-1\r\n", backends.ErrBusy},
		"refused by a script":             {cmd("EVALSHA", "me"), ":0\r\n", backends.ErrBusy},
		"the script was not known first":  {cmd("EVALSHA", "me") + cmd("EVAL", "me"), "-NOSCRIPT no\r\n_\r\n", backends.ErrBusy},
		"never left":                      {cmd("PING"), "+PONG\r\n", backends.ErrNotSent},
		"a replica":                       {set, "-READONLY you cannot\r\n", backends.ErrNotSent},
		"sent twice, first answer lost":   {set + set, "", nil},
		"refused, after a lost answer":    {set + cmd("PING") + set, "", nil},
		"answered with a yes":             {set, "+OK\r\n", nil},
		"an error that may be of a reply": {set, "-ERR whatever\r\n", nil},
	} {
		tap := New(clock())
		tr := tap.Follow("me")
		talk(tap, 1000, c.requests, c.answers)
		err := tr.Certain(taken, backends.ErrBusy, nil)
		for _, definite := range []error{backends.ErrBusy, backends.ErrNotSent} {
			if errors.Is(err, definite) != errors.Is(c.want, definite) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		if c.want == nil && errors.Is(err, taken) {
			t.Errorf("%s: an unknown outcome wraps the library's error", name)
		}
	}
}

// Two connections: the first one lost its answer, the second one refused.
func TestCertainOverTwoConnections(t *testing.T) {
	tap := New(clock())
	tr := tap.Follow("me")
	talk(tap, 9, cmd("SET", "k", "me"), "")
	talk(tap, 9, cmd("SET", "k", "me"), "$-1\r\n")
	if err := tr.Certain(errors.New("no"), backends.ErrBusy, nil); errors.Is(err, backends.ErrBusy) {
		t.Errorf("%v: the lock may be ours by the first request", err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("*2\r\n:1\r\n$-1\r\n+OK\r\n", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		var whole, parts []Reply
		var a, b answers
		okWhole := a.feed([]byte(text), func(x Reply) { whole = append(whole, x) })
		cut = min(max(cut, 0), len(text))
		okParts := b.feed([]byte(text[:cut]), func(x Reply) { parts = append(parts, x) }) &&
			b.feed([]byte(text[cut:]), func(x Reply) { parts = append(parts, x) })
		if okWhole && (!okParts || fmt.Sprint(whole) != fmt.Sprint(parts)) {
			t.Errorf("%q cut at %d: %v %v, %v %v", text, cut, okWhole, whole, okParts, parts)
		}
	})
}

// A client that looks whether an idle connection is still good finds the one below.
func TestNetConn(t *testing.T) {
	w := &wire{}
	below, can := New(clock()).Conn(w, "redis-1").(interface{ NetConn() net.Conn })
	if !can || below.NetConn() != net.Conn(w) {
		t.Error("the connection below cannot be found")
	}
}
