package link

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// pipe is one connection through a link: the client's end and the server's.
type pipe struct {
	link           *Link
	client, server *end
	ended          atomic.Int32 // directions that have ended
}

// abort closes both ends at once, with a reset.
func (p *pipe) abort() {
	p.client.shut(true)
	p.server.shut(true)
}

// end is one end of a pipe as toxiproxy sees it. Once it is closed, reading ends and
// writing succeeds into nothing: a toxic that is about to write never blocks for good,
// so that it can always be removed.
type end struct {
	net.Conn
	pipe   *pipe
	head   []byte // is read before what the party sends
	once   sync.Once
	closed atomic.Bool
}

var _ io.ReadWriteCloser = (*end)(nil)

// Read reads what the party sends.
func (e *end) Read(b []byte) (int, error) {
	if len(e.head) > 0 {
		n := copy(b, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	n, err := e.Conn.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader returns it bare
		err = io.EOF // a reset ends the stream like a close does
	}
	if n > 0 {
		e.pipe.link.net.passes(e, b[:n])
	}
	return n, err
}

// Write sends to the party, or into nothing.
func (e *end) Write(b []byte) (int, error) {
	if !e.closed.Load() {
		if _, err := e.Conn.Write(b); err != nil {
			e.pipe.abort()
		}
	}
	return len(b), nil
}

// Close is called by toxiproxy when the direction towards this end has ended.
func (e *end) Close() error {
	e.shut(false)
	if e.pipe.ended.Add(1) == 2 {
		e.pipe.link.remove(e.pipe)
	}
	return nil
}

func (e *end) shut(reset bool) {
	e.once.Do(func() {
		e.closed.Store(true)
		if reset {
			abort(e.Conn)
			return
		}
		e.Conn.Close() //nolint:errcheck // the party may have closed it first
	})
}

// abort closes a connection with a reset: the other end sees an error, not an end.
func abort(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0) //nolint:errcheck // then it is closed politely
	}
	c.Close() //nolint:errcheck // the party may have closed it first
}
