package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
)

const healLimit = 3 * time.Second // for a toxic to go; then the link is replaced

// Link is the way from one party to another. Its zero state carries everything.
type Link struct {
	Pair
	net *Network

	mu      sync.Mutex
	front   *front           // that only this link has; nil for announced ones
	greets  Greeting         // rewrites what a caller says first; nil: nothing is
	toxics  *toxiproxy.Proxy // never started: only its toxics are used
	pipes   map[*pipe]struct{}
	idle    chan struct{} // closed while there are no pipes
	cuts    int
	losses  int
	carries chan struct{} // closed when packets are lost no more
	hasLost bool          // packets, ever
}

// upstream dials servers. Sockets of several paths take no filter.
var upstream = func() *net.Dialer {
	d := &net.Dialer{Timeout: dialTimeout}
	d.SetMultipathTCP(false)
	return d
}()

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

// Greeting rewrites the beginning of what a caller sends: see Network.Greet.
type Greeting = func(said io.Reader, back string) ([]byte, error)

// greeting is what the caller says first, as it is passed on; nothing where that is not
// rewritten.
func (l *Link) greeting(client net.Conn) ([]byte, error) {
	l.mu.Lock()
	greets := l.greets
	l.mu.Unlock()
	if greets == nil {
		return nil, nil
	}
	back := l.net.link(Pair{l.To, l.From, l.Port})
	back.mu.Lock()
	f := back.front
	back.mu.Unlock()
	if f == nil {
		return nil, fmt.Errorf("link %v needs the link in the opposite direction, so that the called server can connect back, "+
			"but that link is not open", l.Pair)
	}
	if err := client.SetReadDeadline(time.Now().Add(dialTimeout)); err != nil {
		return nil, err
	}
	head, err := greets(client, f.addr)
	if err != nil {
		return nil, err
	}
	return head, client.SetReadDeadline(time.Time{})
}

// serve carries one accepted connection. Its front is gone when that is closed.
func (l *Link) serve(client net.Conn, gone <-chan struct{}) {
	if !l.admit(client, gone) {
		abort(client)
		return
	}
	head, err := l.greeting(client)
	if err != nil {
		abort(client)
		return
	}
	server, err := upstream.Dial("tcp", l.net.upstream(l.Pair))
	if err != nil {
		abort(client)
		return
	}
	p := &pipe{link: l}
	p.client, p.server = &end{Conn: client, pipe: p, head: head}, &end{Conn: server, pipe: p}
	l.mu.Lock()
	if l.cuts > 0 { // meanwhile
		l.mu.Unlock()
		abort(client)
		abort(server)
		return
	}
	if l.losses > 0 { // meanwhile, too
		l.mu.Unlock()
		abort(server)
		l.admit(client, gone)
		abort(client)
		return
	}
	if len(l.pipes) == 0 {
		l.idle = make(chan struct{})
	}
	l.pipes[p] = struct{}{}
	t := l.toxics
	if l.hasLost { // a connection inherits what its front had when it came
		err = p.lose(false)
	}
	l.mu.Unlock()
	if err != nil {
		p.abort() // it would lose for ever
	}
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
		return fmt.Errorf("link %v should be cut, but %d connections are still open", l.Pair, l.Open())
	}
}

// Open is the number of connections that the link carries now.
func (l *Link) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pipes)
}

// Sources are where its connections come from, as the one who is called sees it.
func (l *Link) Sources() (addrs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.pipes {
		addrs = append(addrs, p.server.LocalAddr().String())
	}
	return addrs
}

// Reset closes every connection of the link at both ends, and says how many there were.
// What is under way is lost; new connections are not hindered.
func (l *Link) Reset() int {
	l.mu.Lock()
	pipes := slices.Collect(maps.Keys(l.pipes))
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

// ProveCut shows that the link carries nothing: nobody can dial it, or, where its
// address is shared with others, no connection is left and new ones are closed.
func (l *Link) ProveCut(ctx context.Context) (string, error) {
	l.mu.Lock()
	f, cuts := l.front, l.cuts
	l.mu.Unlock()
	if cuts == 0 {
		return "", fmt.Errorf("link %v should be cut, but is not cut", l.Pair)
	}
	if f == nil {
		return "new connections are closed at once", l.drained(ctx)
	}
	return l.proveRefused(ctx, f.addr)
}

const (
	proveLimit = time.Second          // for a closed front to refuse
	proveEvery = 2 * time.Millisecond // between two tries
)

// proveRefused dials until that is refused. A child process that is being started at this
// moment has a copy of the closed listener until it executes its program: for so long the
// kernel takes connections, which nobody serves.
func (l *Link) proveRefused(ctx context.Context, addr string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, proveLimit)
	defer cancel()
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp", addr)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return "new connections are refused", nil
		}
		if err == nil {
			c.Close() //nolint:errcheck // it should not have been there
		}
		select {
		case <-ctx.Done():
			return "", errors.Join(fmt.Errorf("link %v should be cut, but a new connection was accepted", l.Pair), err)
		case <-time.After(proveEvery):
		}
	}
}
