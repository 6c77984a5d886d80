package conform

import (
	"net"
	"sync"
	"sync/atomic"
)

// relay is what an adapter takes for a server: it counts what leaves for it, and can keep back either way.
type relay struct {
	listener net.Listener
	upstream string
	sent     atomic.Int64 // bytes that left for the server
	swallow  atomic.Bool  // what leaves is counted, and goes nowhere

	mu    sync.Mutex
	freed *sync.Cond
	held  bool // answers are kept back
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

func newRelay(upstream string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, upstream: upstream, conns: map[net.Conn]bool{}}
	r.freed = sync.NewCond(&r.mu)
	r.wg.Go(r.accept)
	return r, nil
}

func (r *relay) addr() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", r.upstream)
		if err != nil {
			c.Close() //nolint:errcheck // it is refused
			continue
		}
		r.mu.Lock()
		r.conns[c], r.conns[up] = true, true
		r.mu.Unlock()
		r.wg.Go(func() { r.pass(c, up, r.leaves) })
		r.wg.Go(func() { r.pass(up, c, r.comes) })
	}
}

// pass copies one way until either end is closed; may says whether a piece goes on.
func (r *relay) pass(from, to net.Conn, may func(n int) bool) {
	defer from.Close() //nolint:errcheck // it is over
	defer to.Close()   //nolint:errcheck // as above
	b := make([]byte, 16<<10)
	for {
		n, err := from.Read(b)
		if n > 0 && may(n) {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *relay) leaves(n int) bool {
	r.sent.Add(int64(n))
	return !r.swallow.Load()
}

func (r *relay) comes(int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held {
		r.freed.Wait()
	}
	return true
}

// hold keeps answers back, or lets them come.
func (r *relay) hold(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = on
	r.freed.Broadcast()
}

// reset closes all connections.
func (r *relay) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.Close() //nolint:errcheck // that is what is wanted
		delete(r.conns, c)
	}
}

func (r *relay) close() error {
	err := r.listener.Close()
	r.hold(false)
	r.reset()
	r.wg.Wait()
	return err
}
