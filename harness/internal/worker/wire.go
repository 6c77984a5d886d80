package worker

import (
	"net"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/history"
)

// wire counts what leaves for all servers and what comes from them, in pieces.
type wire struct {
	on            bool
	writes, reads atomic.Int64
}

// Count has connections counted that are dialled from now on.
func (a *AddressBook) Count(on bool) { a.wire.on = on }

// Wire is what was counted so far.
func (a *AddressBook) Wire() history.Wire {
	return history.Wire{Requests: a.wire.writes.Load(), Answers: a.wire.reads.Load()}
}

// counted counts on a connection, where that is asked for. It stays a TCP connection in all else.
func (w *wire) counted(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !w.on || !ok {
		return c
	}
	return &countedConn{TCPConn: tcp, wire: w}
}

// countedConn reads ahead: who asks for the head of a message and then for its body is told of one.
type countedConn struct {
	*net.TCPConn
	wire *wire

	reading sync.Mutex
	ahead   []byte // was read, and not asked for yet
	buffer  [16 << 10]byte
}

// Read counts what comes.
func (c *countedConn) Read(b []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if len(c.ahead) == 0 {
		n, err := c.TCPConn.Read(c.buffer[:])
		if n == 0 || err != nil {
			return 0, err
		}
		c.wire.reads.Add(1)
		c.ahead = c.buffer[:n]
	}
	n := copy(b, c.ahead)
	c.ahead = c.ahead[n:]
	return n, nil
}

// Write counts what leaves.
func (c *countedConn) Write(b []byte) (int, error) {
	c.wire.writes.Add(1)
	return c.TCPConn.Write(b)
}
