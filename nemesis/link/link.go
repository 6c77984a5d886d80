package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

const healLimit = 3 * time.Second // for a toxic to go; then the link is replaced

// Link is the way from one party to another. Its zero state carries everything.
type Link struct {
	Pair
	net *Network

	mu      sync.Mutex
	front   *front           // that only this link has; nil for announced ones
	toxics  *toxiproxy.Proxy // never started: only its toxics are used
	pipes   map[*pipe]struct{}
	idle    chan struct{} // closed while there are no pipes
	cuts    int
	refused atomic.Int64 // connections that came while it was cut
}

var serial atomic.Int64 // tells connections and toxics apart

func newLink(n *Network, p Pair) *Link {
	l := &Link{Pair: p, net: n, pipes: map[*pipe]struct{}{}, idle: make(chan struct{})}
	close(l.idle)
	l.toxics = l.newToxics()
	return l
}

func (l *Link) newToxics() *toxiproxy.Proxy {
	return toxiproxy.NewProxy(l.net.server, l.String(), "", "")
}

func (l *Link) setFront(f *front) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.front = f
}

// serve carries one accepted connection.
func (l *Link) serve(client net.Conn) {
	l.mu.Lock()
	cut := l.cuts > 0
	l.mu.Unlock()
	if cut {
		l.refused.Add(1)
		abort(client)
		return
	}
	server, err := net.DialTimeout("tcp", l.net.upstream(l.To), dialTimeout)
	if err != nil {
		abort(client)
		return
	}
	p := &pipe{link: l}
	p.client, p.server = &end{Conn: client, pipe: p}, &end{Conn: server, pipe: p}
	l.mu.Lock()
	if l.cuts > 0 { // meanwhile
		l.mu.Unlock()
		l.refused.Add(1)
		abort(client)
		abort(server)
		return
	}
	if len(l.pipes) == 0 {
		l.idle = make(chan struct{})
	}
	l.pipes[p] = struct{}{}
	t := l.toxics
	l.mu.Unlock()
	name := fmt.Sprintf("%s#%d", l, serial.Add(1))
	t.Toxics.StartLink(l.net.server, name+"upstream", p.client, p.server, stream.Upstream)
	t.Toxics.StartLink(l.net.server, name+"downstream", p.server, p.client, stream.Downstream)
}

// remove forgets a pipe whose two directions have ended.
func (l *Link) remove(p *pipe) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.pipes[p]; !ok {
		return
	}
	delete(l.pipes, p)
	if len(l.pipes) == 0 {
		close(l.idle)
	}
}

// drained waits until no connection of the link is left.
func (l *Link) drained(ctx context.Context) error {
	l.mu.Lock()
	idle := l.idle
	l.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("link %v: %d connections do not end", l.Pair, l.Open())
	}
}

// Open is the number of connections that the link carries now.
func (l *Link) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pipes)
}

// Refused is how many connections came while the link was cut and were closed at once.
func (l *Link) Refused() int64 { return l.refused.Load() }

// Reset closes every connection of the link at both ends, and says how many there were.
// What is under way is lost; new connections are not hindered.
func (l *Link) Reset() int {
	l.mu.Lock()
	pipes := make([]*pipe, 0, len(l.pipes))
	for p := range l.pipes {
		pipes = append(pipes, p)
	}
	l.mu.Unlock()
	for _, p := range pipes {
		p.abort()
	}
	return len(pipes)
}

// Cut closes every connection and refuses new ones until the function that it returns
// is called, once for each Cut. The number is of the connections that it closed.
func (l *Link) Cut() (closed int, mend func() error, err error) {
	l.mu.Lock()
	l.cuts++
	f := l.front
	l.mu.Unlock()
	if f != nil {
		err = f.block()
	}
	mend = sync.OnceValue(func() error {
		l.mu.Lock()
		l.cuts--
		l.mu.Unlock()
		if f != nil {
			return f.unblock()
		}
		return nil
	})
	return l.Reset(), mend, err
}

// Way is a direction of a link.
type Way string

// The directions, seen from who dialled.
const (
	Both Way = "both"
	To   Way = "to"   // requests
	From Way = "from" // answers
)

func (w Way) streams() []string {
	switch w {
	case To:
		return []string{"upstream"}
	case From:
		return []string{"downstream"}
	default:
		return []string{"upstream", "downstream"}
	}
}

// Applied is a toxic at work on a link.
type Applied struct {
	link   *Link
	names  []string
	toxics []*toxics.ToxicWrapper
	closes bool // its connections are closed when it goes: what is under way is lost
}

// apply adds a toxic of the kind, in each direction of the way.
func (l *Link) apply(kind string, way Way, attributes map[string]any, closes bool) (*Applied, error) {
	l.mu.Lock()
	t := l.toxics
	l.mu.Unlock()
	a := &Applied{link: l, closes: closes}
	for _, s := range way.streams() {
		name := fmt.Sprintf("%s-%d", kind, serial.Add(1))
		text, err := json.Marshal(map[string]any{"name": name, "type": kind, "stream": s, "toxicity": 1, "attributes": attributes})
		if err != nil {
			return a, err
		}
		w, err := t.Toxics.AddToxicJson(bytes.NewReader(text))
		if err != nil {
			return a, fmt.Errorf("link %v: %w", l.Pair, err)
		}
		a.names, a.toxics = append(a.names, name), append(a.toxics, w)
	}
	return a, nil
}

// BlackHole swallows everything; connections stay open and silent until it is removed,
// which closes them.
func (l *Link) BlackHole(way Way) (*Applied, error) {
	return l.apply("timeout", way, map[string]any{"timeout": 0}, true)
}

// Slow delays everything by latency, give or take jitter.
func (l *Link) Slow(way Way, latency, jitter time.Duration) (*Applied, error) {
	return l.apply("latency", way, map[string]any{"latency": latency.Milliseconds(), "jitter": jitter.Milliseconds()}, false)
}

// Hold keeps everything back; it is delivered, late and in order, when it is removed.
func (l *Link) Hold(way Way) (*Applied, error) {
	return l.apply(holdToxic, way, map[string]any{}, false)
}

// LoseReply swallows the next answer that is no refusal (a nil or a 0 of the Redis
// protocol) and closes its connection: what was asked for was done, and nobody knows.
func (l *Link) LoseReply() (*Applied, error) {
	return l.apply(lostReplyToxic, From, map[string]any{}, false)
}

// Held is how many bytes a Hold keeps back now.
func (a *Applied) Held() int64 {
	var n int64
	for _, w := range a.toxics {
		if h, ok := w.Toxic.(*hold); ok {
			n += h.held.Load()
		}
	}
	return n
}

// Lost is the answer that a LoseReply swallowed; empty before.
func (a *Applied) Lost() string {
	for _, w := range a.toxics {
		if r, ok := w.Toxic.(*lostReply); ok {
			if text := r.lost.Load(); text != nil {
				return *text
			}
		}
	}
	return ""
}

// ErrReplaced says that a link did not heal and was replaced by a new one.
var ErrReplaced = errors.New("the link did not heal and was replaced: its connections were closed")

// Remove ends the toxic. A link that will not let it go within a few seconds is
// replaced: its connections are closed, and the error is ErrReplaced.
func (a *Applied) Remove(ctx context.Context) error {
	l := a.link
	if a.closes {
		l.Reset()
	}
	ctx, cancel := context.WithTimeout(ctx, healLimit)
	defer cancel()
	l.mu.Lock()
	t := l.toxics
	l.mu.Unlock()
	done := make(chan error, 1)
	go func() { // ends at the latest when the link's connections are closed
		var errs []error
		for _, name := range a.names {
			if err := t.Toxics.RemoveToxic(ctx, name); err != nil && !errors.Is(err, toxiproxy.ErrToxicNotFound) {
				errs = append(errs, err)
			}
		}
		done <- errors.Join(errs...)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	if l.toxics == t {
		l.toxics = l.newToxics()
	}
	l.mu.Unlock()
	l.Reset()
	// The ends of a closed pipe neither block nor fail (see end), so this comes.
	return errors.Join(fmt.Errorf("link %v: %w", l.Pair, ErrReplaced), <-done)
}

// ProveCut shows that the link carries nothing: nobody can dial it, or, where its
// address is shared with others, no connection is left and new ones are closed.
func (l *Link) ProveCut(ctx context.Context) (string, error) {
	l.mu.Lock()
	f, cuts := l.front, l.cuts
	l.mu.Unlock()
	if cuts == 0 {
		return "", fmt.Errorf("link %v is not cut", l.Pair)
	}
	if f == nil {
		return "new ones are closed at once", l.drained(ctx)
	}
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", f.addr)
	if err == nil {
		c.Close() //nolint:errcheck // it should not have been there
		return "", fmt.Errorf("link %v is cut and yet can be dialled", l.Pair)
	}
	return "dialling is refused", nil
}
