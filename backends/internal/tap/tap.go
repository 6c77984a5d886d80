// Package tap looks at the connections between one client and its Redis servers: what leaves,
// when, how often, and what comes back. The libraries under test run with the retries of their
// clients switched on, and what they tell hides how often a request was sent. A refusal after
// the same request had left before, or after an answer was lost, says nothing for certain: a
// [Trail] tells the two apart.
//
//	library -> go-redis, redigo -> Conn (looks) -> link -> server
//	                                          |
//	                              Follow(word) -> Trail -> []Send
//
// Nothing is changed, held back or sent by it.
package tap

import (
	"bytes"
	"net"
	"slices"
	"sync"
)

// Tap looks at all connections of one client.
type Tap struct {
	now func() int64

	mu     sync.Mutex
	trails map[string][]*Trail // by the word that they follow
}

// New is a tap that goes by the run's clock.
func New(now func() int64) *Tap { return &Tap{now: now, trails: map[string][]*Trail{}} }

// Send is one request that left with a word that is followed.
type Send struct {
	Node   string
	Verb   string // as it was sent: SET, evalsha
	Key    string // the first one that it names
	Left   int64  // when it was handed to the system, on the run's clock
	Answer Reply  // its zero value: none came (yet)
}

// Trail is the requests that carried a word, in the order in which they left.
type Trail struct {
	tap  *Tap
	word string

	sends []*Send // guarded by the tap's mutex
	blind bool    // a connection was not understood: more may have left
}

// Follow notes every request that carries a word from now on, until End.
func (t *Tap) Follow(word string) *Trail {
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := &Trail{tap: t, word: word}
	t.trails[word] = append(t.trails[word], tr)
	return tr
}

// End stops the following. What was seen stays, also answers that are still to come.
func (tr *Trail) End() {
	tr.tap.mu.Lock()
	defer tr.tap.mu.Unlock()
	left := slices.DeleteFunc(tr.tap.trails[tr.word], func(o *Trail) bool { return o == tr })
	if len(left) == 0 {
		delete(tr.tap.trails, tr.word)
		return
	}
	tr.tap.trails[tr.word] = left
}

// Sends is what has left so far.
func (tr *Trail) Sends() []Send {
	tr.tap.mu.Lock()
	defer tr.tap.mu.Unlock()
	out := make([]Send, len(tr.sends))
	for i, s := range tr.sends {
		out[i] = *s
	}
	return out
}

// Blind reports whether more may have left than was seen.
func (tr *Trail) Blind() bool {
	tr.tap.mu.Lock()
	defer tr.tap.mu.Unlock()
	return tr.blind
}

// Conn is a connection to a node that is looked at.
func (t *Tap) Conn(c net.Conn, node string) net.Conn {
	return &conn{Conn: c, tap: t, node: node}
}

// conn looks at what passes. Reads and writes may be concurrent.
type conn struct {
	net.Conn
	tap  *Tap
	node string

	out requests // of the writer

	mu      sync.Mutex // guards what follows
	in      answers
	pending []*Send // sent and not answered, in order; nil for those that nobody follows
	opaque  bool
}

// NetConn is the connection below: Redis clients look there whether an idle one is still good.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Write notes the bytes before they are sent: even if the write fails, they may have been received.
func (c *conn) Write(p []byte) (int, error) {
	c.look(p)
	return c.Conn.Write(p)
}

func (c *conn) look(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opaque {
		c.tap.blind()
		return
	}
	ok := c.out.feed(p, func(words [][]byte) { c.pending = append(c.pending, c.tap.note(c.node, words)) })
	if !ok {
		c.blind()
	}
}

// Read notes what has come.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard(p[:n])
	}
	return n, err
}

func (c *conn) heard(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opaque {
		return
	}
	if !c.in.feed(p, c.answered) {
		c.blind()
	}
}

// answered takes the answer to the oldest request. One that nobody asked for is a push.
func (c *conn) answered(a Reply) {
	if len(c.pending) == 0 {
		return
	}
	s := c.pending[0]
	c.pending = c.pending[1:]
	if s == nil {
		return
	}
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	s.Answer = a
}

func (c *conn) blind() {
	c.opaque, c.pending = true, nil
	c.tap.blind()
}

// blind makes every trail say that it may have missed something.
func (t *Tap) blind() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, trails := range t.trails {
		for _, tr := range trails {
			tr.blind = true
		}
	}
}

// keyOf is the first key of a command; of a script it comes after the number of keys.
func keyOf(words [][]byte) string {
	i := 1
	if len(words) > 3 && bytes.HasPrefix(bytes.ToUpper(words[0]), []byte("EVAL")) {
		i = 3
	}
	if i >= len(words) {
		return ""
	}
	return string(words[i])
}

// OfKey chooses the sends that name a key.
func OfKey(key string) func(Send) bool { return func(s Send) bool { return s.Key == key } }

// note puts a request on the trails of its words.
func (t *Tap) note(node string, words [][]byte) *Send {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s *Send
	for _, w := range words {
		for _, tr := range t.trails[string(w)] {
			if s == nil {
				s = &Send{Node: node, Verb: string(words[0]), Key: keyOf(words), Left: t.now()}
			}
			if n := len(tr.sends); n == 0 || tr.sends[n-1] != s { // a word may stand twice in a request
				tr.sends = append(tr.sends, s)
			}
		}
	}
	return s
}
