package register

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// Server serves a Handler over TCP on a free port of 127.0.0.1.
type Server struct {
	handle   Handler
	rec      *history.Recorder
	listener net.Listener
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	err   error
	down  bool
}

// Serve starts a server that records what it answers in rec.
func Serve(handle Handler, rec *history.Recorder) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot start the register: %w", err)
	}
	s := &Server{handle: handle, rec: rec, listener: l, conns: map[net.Conn]struct{}{}}
	s.wg.Go(s.accept)
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops the server, waits for its connections, and returns the first error of
// its log: what was answered after that is not on record.
func (s *Server) Close() error {
	s.mu.Lock()
	s.down = true
	err := s.listener.Close()
	for c := range s.conns {
		err = errors.Join(err, c.Close())
	}
	s.mu.Unlock()
	s.wg.Wait()
	return errors.Join(err, s.err)
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.down {
			s.mu.Unlock()
			c.Close() //nolint:errcheck // we are closing down
			return
		}
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(c) })
	}
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		c.Close() //nolint:errcheck // the client is gone or we are closing down
	}()
	in := json.NewDecoder(bufio.NewReader(c))
	out := json.NewEncoder(c)
	for {
		var req Request
		if in.Decode(&req) != nil {
			return
		}
		var logErr error
		resp := s.handle(req, func(req Request, resp Response) { logErr = s.rec.Notice(event(req, resp)) })
		if logErr != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, logErr)
			s.mu.Unlock()
			return // not on record: not answered
		}
		if out.Encode(resp) != nil {
			return
		}
	}
}
