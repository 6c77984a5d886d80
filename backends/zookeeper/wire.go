package zookeeper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/backends"
)

// wire is a connection of the library that sees what it asks and is told: by every request that a
// server answers, a session is kept alive, and the library tells nobody when. It changes nothing.
//
//	request   int32 length | int32 xid | int32 operation | ...     (the first one: connect)
//	answer    int32 length | int32 xid | int64 zxid | int32 error | ...
type wire struct {
	net.Conn
	s *session

	out  frames // of the library, whose requests are written by one goroutine at a time
	in   frames
	mu   sync.Mutex
	keep *renewal // under way; nil: none
}

// renewal is a request whose answer keeps the session alive.
type renewal struct {
	xid  int32
	sent int64
	done func(backends.Renewal, error)
}

const connectXid = 0 // of no request: those count from 1, and pings have xidPing

// Write notes requests before they leave.
func (w *wire) Write(b []byte) (int, error) {
	err := w.out.each(b, func(n int, frame []byte) error { return w.asks(n, frame) })
	if err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// Read notes answers.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		if failed := w.in.each(b[:n], func(k int, frame []byte) error { return w.told(k, frame) }); failed != nil {
			return 0, failed
		}
	}
	if err != nil {
		w.lost(err)
	}
	return n, err
}

// Close ends what was under way.
func (w *wire) Close() error {
	err := w.Conn.Close()
	w.lost(net.ErrClosed)
	return err
}

func (w *wire) asks(n int, frame []byte) error {
	xid := int32(connectXid)
	if n > 0 {
		if len(frame) < 8 {
			return nil
		}
		xid = int32(binary.BigEndian.Uint32(frame))
	}
	w.mu.Lock()
	busy := w.keep != nil // one is recorded at a time: they overtake nobody
	w.mu.Unlock()
	done, err := w.s.renewing(n == 0, busy, xid, w.s.env.Now())
	if err != nil || done == nil {
		return err
	}
	sent := w.s.env.Now() // after its invocation is on record
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep = &renewal{xid: xid, sent: sent, done: done}
	return nil
}

func (w *wire) told(n int, frame []byte) error {
	if n == 0 {
		return w.connected(frame)
	}
	if len(frame) < 4 {
		return nil
	}
	if keep := w.take(int32(binary.BigEndian.Uint32(frame))); keep != nil {
		keep.done(w.s.kept(keep.sent), nil)
	}
	return nil
}

// connected reads the answer to the first request: the session and its time-out.
//
//	int32 version | int32 time-out in ms | int64 session | ...
func (w *wire) connected(frame []byte) error {
	if len(frame) < 16 {
		return errors.New("the server's answer to the connect request is too short")
	}
	timeout, id := time.Duration(int32(binary.BigEndian.Uint32(frame[4:])))*time.Millisecond, binary.BigEndian.Uint64(frame[8:])
	keep := w.take(connectXid)
	switch {
	case id == 0 && keep != nil:
		keep.done(backends.Renewal{}, fmt.Errorf("%w: the session has expired", backends.ErrNotHeld))
		return nil
	case id == 0:
		return nil
	case keep != nil:
		keep.done(w.s.kept(keep.sent), nil)
		return nil
	}
	return w.s.opened(id, timeout)
}

// take is the renewal under way, if the answer is to it.
func (w *wire) take(xid int32) *renewal {
	w.mu.Lock()
	defer w.mu.Unlock()
	keep := w.keep
	if keep == nil || keep.xid != xid {
		return nil
	}
	w.keep = nil
	return keep
}

func (w *wire) lost(err error) {
	w.mu.Lock()
	keep := w.keep
	w.keep = nil
	w.mu.Unlock()
	if keep != nil {
		keep.done(backends.Renewal{}, err)
	}
}

// frames cuts a stream into its frames.
type frames struct {
	rest []byte
	n    int // frames that went before
}

// longest is the longest frame that is kept whole: of longer ones, only the beginning matters, and
// none of ours is.
const longest = 1 << 20

// each calls f with every frame that is whole by now, without its length.
func (f *frames) each(b []byte, do func(n int, frame []byte) error) error {
	f.rest = append(f.rest, b...)
	for len(f.rest) >= 4 {
		size := int(binary.BigEndian.Uint32(f.rest))
		if size > longest {
			return fmt.Errorf("a ZooKeeper message of %d bytes is too long", size)
		}
		if len(f.rest) < 4+size {
			return nil
		}
		err := do(f.n, f.rest[4:4+size])
		f.n++
		f.rest = f.rest[4+size:]
		if err != nil {
			return err
		}
	}
	return nil
}
