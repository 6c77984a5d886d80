package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/backends"
)

// When grants count as lost.
const (
	onDisconnect = "disconnect" // the connection is lost: the session may end before it is back
	onExpiry     = "expiry"     // a server says that the session has ended
)

// session is the one session of a client for all its grants, made by the library with its defaults. When a server
// says that it has expired, the library opens another one.
type session struct {
	env    backends.Env
	lostOn string

	mu       sync.Mutex
	conn     *zk.Conn
	connects int64 // how often the connection was lost or made
	alive    bool
	asked    int64 // when the connect request left that opens the next session
	lease    string
	timeout  time.Duration
	deadline int64
	last     int64 // sent of the last renewal that is on record
	holds    []*hold

	request atomic.Int64 // when the last request left that was no ping
}

// hold is a grant whose client is told when it is lost.
type hold struct {
	hooks backends.Hooks
	lease string
}

// client returns the library's client, connected on first use: it connects in the background, and requests wait for
// that.
func (s *session) client() (*zk.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		return s.conn, nil
	}
	var servers []string
	names := map[string]string{}
	for i, n := range s.env.Nodes {
		// The library wants addresses, and resolves them: these are names that need none.
		addr := fmt.Sprintf("127.1.0.%d:2181", i+1)
		servers, names[addr] = append(servers, addr), n.Name
	}
	dial := func(_, addr string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		conn, err := s.env.Dial(ctx, names[addr])
		if err != nil {
			return nil, err
		}
		return &wire{Conn: conn, s: s}, nil
	}
	conn, _, err := zk.Connect(servers, s.env.TTL, zk.WithDialer(dial), zk.WithEventCallback(s.event), zk.WithLogger(silent{}))
	s.conn = conn
	return conn, err
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// event is called by the library when the state of its session changes.
func (s *session) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	switch e.State {
	case zk.StateHasSession:
		s.mu.Lock()
		s.alive = true
		s.connects++
		s.mu.Unlock()
	case zk.StateDisconnected:
		s.mu.Lock()
		s.alive = false
		s.connects++
		var hit []*hold
		if s.lostOn == onDisconnect {
			hit = slices.Clone(s.holds)
		}
		s.mu.Unlock()
		for _, h := range hit {
			h.hooks.Lost(h.lease, "the connection to the servers was lost")
		}
	case zk.StateExpired:
		s.mu.Lock()
		lease := s.lease
		s.lease, s.alive = "", false
		s.mu.Unlock()
		if lease != "" {
			s.env.Session.Lost(lease, "the server says that the session has expired")
		}
	}
}

// renewing is called before a request leaves: what it returns takes the outcome, where it is to be
// on record. Not every request is: one in a tenth of the time-out is enough.
func (s *session) renewing(connect, busy bool, xid int32, sent int64) (func(backends.Renewal, error), error) {
	s.mu.Lock()
	lease := s.lease
	due := !busy && (connect || sent-s.last >= s.timeout.Nanoseconds()/10)
	if connect && lease == "" {
		s.asked = sent
	}
	if xid > 0 {
		s.request.Store(sent)
	}
	if lease != "" && due {
		s.last = sent
	}
	s.mu.Unlock()
	if lease == "" || !due {
		return nil, nil
	}
	return s.env.Session.Renewing(lease)
}

// opened notes a new session.
func (s *session) opened(id uint64, timeout time.Duration) error {
	s.mu.Lock()
	s.lease, s.timeout, s.last = fmt.Sprintf("0x%x", id), timeout, s.asked
	s.deadline = s.asked + timeout.Nanoseconds()
	lease, r := s.lease, backends.Renewal{Sent: s.asked, TTL: timeout, Deadline: s.deadline}
	s.mu.Unlock()
	return s.env.Session.Opened(lease, r)
}

// outOfTouch is how much earlier than its time-out a session may end by the clock of the client: a
// server that was cut off answers pings until it notices, and the leader does not learn of them.
const outOfTouch = (syncLimit + 1) * tick

// kept is what the answer to a request says of the session.
func (s *session) kept(sent int64) backends.Renewal {
	s.mu.Lock()
	defer s.mu.Unlock()
	ttl := s.timeout
	if len(s.env.Nodes) > 1 {
		ttl -= outOfTouch
	}
	s.deadline = max(s.deadline, sent+ttl.Nanoseconds())
	return backends.Renewal{Sent: sent, TTL: ttl, Deadline: sent + ttl.Nanoseconds()}
}

// mark is the state of the connection at a moment.
func (s *session) mark() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connects
}

// granted notes a grant, and says what there is to say of its lease. The connection may have been
// lost since the mark was taken: then the client is told at once.
func (s *session) granted(req backends.Request, mark, sent int64) (*hold, backends.Info) {
	s.mu.Lock()
	h := &hold{hooks: req.Hooks, lease: s.lease}
	info := backends.Info{Owner: req.Owner, Lease: s.lease, Sent: sent, TTL: s.timeout, Deadline: s.deadline}
	late := s.connects != mark && s.lostOn == onDisconnect
	s.holds = append(s.holds, h)
	s.mu.Unlock()
	if late {
		h.hooks.Lost(h.lease, "the connection to the servers was lost while the servers granted the lock, so the client regards the "+
			"lock as lost")
	}
	return h, info
}

// lives reports whether a session is still the client's, as far as it knows.
func (s *session) lives(lease string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease == lease
}

// over forgets a grant.
func (s *session) over(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = slices.DeleteFunc(s.holds, func(o *hold) bool { return o == h })
}

// Close ends the session.
func (s *session) Close() error {
	s.mu.Lock()
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
	return nil
}

// call waits for one call of the library, which knows no context: it blocks while there is no
// connection. When ctx ends first, its outcome is unknown; the call ends with the client.
func call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, known(a.err)
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// exists looks at a node until that is answered; nil: there is none.
func exists(ctx context.Context, conn *zk.Conn, node string) (*zk.Stat, error) {
	return again(ctx, func() (*zk.Stat, error) {
		_, stat, err := conn.Exists(node)
		return stat, err
	})
}

// children are the nodes below one.
func children(conn *zk.Conn, path string) ([]string, error) {
	names, _, err := conn.Children(path)
	return names, err
}

// known keeps apart what the library knows not to have been sent. All else but the store's own
// answers is unknown.
func known(err error) error {
	if errors.Is(err, zk.ErrNoServer) {
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	return err
}

// answered reports whether an error is an answer of the store: it did not do what it was asked.
func answered(err error) bool {
	return slices.ContainsFunc([]error{
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion, zk.ErrNoAuth,
		zk.ErrNoChildrenForEphemerals,
	},
		func(e error) bool { return errors.Is(err, e) })
}

// makePath makes a node that stays, and those above it.
func makePath(ctx context.Context, conn *zk.Conn, path string) error {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		_, err := call(ctx, func() (string, error) { return conn.Create(path[:i], nil, 0, zk.WorldACL(zk.PermAll)) })
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return fmt.Errorf("cannot create the znode %s: %w", path[:i], err)
		}
	}
	return nil
}

// root is where the locks of a run are.
func root(run string) string { return "/lockstorm-" + run }

// lockPath is the node of a lock.
func lockPath(run, lock string) string { return strings.TrimSuffix(root(run)+"/"+lock, "/") }
