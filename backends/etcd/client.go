package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/lockstorm/lockstorm/backends"
)

// client is one client's access to the servers: the library with its defaults, made on first use.
// What it sends is seen by interceptors, as users may have their own; they change nothing. Leases are
// on record from there: when they were granted, and when each renewal left and was answered.
type client struct {
	env backends.Env

	mu     sync.Mutex
	c      *clientv3.Client
	leases map[int64]*lease

	sent atomic.Int64 // when the last request of an attempt left
	gone atomic.Int64 // keys that the last delete found
}

// lease is one of etcd's, which the library keeps alive.
type lease struct {
	name string
	ttl  time.Duration

	mu       sync.Mutex
	deadline int64
	renewals []*renewal // under way, in order
	over     bool       // given back: nothing of it is of interest any more
}

type renewal struct {
	sent int64
	done func(backends.Renewal, error)
}

func newClient(env backends.Env) *client { return &client{env: env, leases: map[int64]*lease{}} }

// open makes the library's client. It connects in the background.
func (c *client) open() (*clientv3.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c != nil {
		return c.c, nil
	}
	var endpoints []string
	for _, n := range c.env.Nodes {
		endpoints = append(endpoints, "http://"+n.Name+":2379")
	}
	dial := func(ctx context.Context, addr string) (net.Conn, error) {
		node, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		conn, err := c.env.Dial(ctx, node)
		if err != nil {
			return nil, err
		}
		return nodeConn{conn, nodeAddr(node)}, nil
	}
	made, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(dial), grpc.WithChainUnaryInterceptor(c.unary), grpc.WithChainStreamInterceptor(c.stream),
		},
	})
	c.c = made
	return made, err
}

// nodeConn is a connection to a server that says which one it is: its address is that of a link.
type nodeConn struct {
	net.Conn
	remote nodeAddr
}

// RemoteAddr is the name of the server.
func (c nodeConn) RemoteAddr() net.Addr { return c.remote }

// nodeAddr is the name of a server.
type nodeAddr string

// Network is not one that anybody could dial.
func (nodeAddr) Network() string { return "lockstorm" }

// String is the name.
func (a nodeAddr) String() string { return string(a) }

// answeredBy is the server whose answers come on a stream, once one has come. It is the one that the client
// is connected to, which asks the leader where it is not the leader itself.
func answeredBy(ctx context.Context) []string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	if a, ok := p.Addr.(nodeAddr); ok {
		return []string{string(a)}
	}
	return nil
}

func (c *client) close() error {
	c.mu.Lock()
	made := c.c
	c.c = nil
	for _, l := range c.leases {
		l.end()
	}
	c.mu.Unlock()
	if made == nil {
		return nil
	}
	if err := made.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// unary sees each request and its answer.
func (c *client) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	sent := c.env.Now()
	if revoke, ok := req.(*pb.LeaseRevokeRequest); !ok {
		c.sent.Store(sent)
	} else if l := c.lease(revoke.ID); l != nil {
		l.end()
	}
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err != nil {
		return err
	}
	switch r := reply.(type) {
	case *pb.LeaseGrantResponse:
		return c.granted(r, sent)
	case *pb.DeleteRangeResponse:
		c.gone.Store(r.Deleted)
	}
	return nil
}

// granted notes a new lease, before its first use.
func (c *client) granted(r *pb.LeaseGrantResponse, sent int64) error {
	ttl := time.Duration(r.TTL) * time.Second
	l := &lease{name: leaseName(r.ID), ttl: ttl, deadline: sent + ttl.Nanoseconds()}
	c.mu.Lock()
	c.leases[r.ID] = l
	c.mu.Unlock()
	return c.env.Session.Opened(l.name, backends.Renewal{Sent: sent, TTL: ttl, Deadline: l.deadline})
}

// leaseName is the id in hexadecimal.
func leaseName(id int64) string { return fmt.Sprintf("0x%x", id) }

func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

func (c *client) lease(id int64) *lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leases[id]
}

// info is what there is to say of a grant under a lease.
func (c *client) info(req backends.Request, id int64, sent, token int64) backends.Info {
	in := backends.Info{Owner: req.Owner, Lease: leaseName(id), Sent: sent, TTL: req.TTL, Token: token, HasToken: true}
	if l := c.lease(id); l != nil {
		l.mu.Lock()
		in.TTL, in.Deadline = l.ttl, l.deadline
		l.mu.Unlock()
	}
	return in
}

// stream watches the stream by which leases are kept alive.
func (c *client) stream(ctx context.Context, d *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	s, err := open(ctx, d, cc, method, opts...)
	if err != nil || method != "/etcdserverpb.Lease/LeaseKeepAlive" {
		return s, err
	}
	return &keepAlive{ClientStream: s, c: c}, nil
}

// keepAlive notes renewals before they leave, and their answers.
type keepAlive struct {
	grpc.ClientStream
	c *client
}

// SendMsg is called for each renewal.
func (k *keepAlive) SendMsg(m any) error {
	req, ok := m.(*pb.LeaseKeepAliveRequest)
	if !ok {
		return k.ClientStream.SendMsg(m)
	}
	l := k.c.lease(req.ID)
	if l == nil {
		return k.ClientStream.SendMsg(m)
	}
	if err := l.renewing(k.c.env); err != nil {
		return err
	}
	return k.ClientStream.SendMsg(m)
}

// RecvMsg is called for each answer.
func (k *keepAlive) RecvMsg(m any) error {
	err := k.ClientStream.RecvMsg(m)
	if r, ok := m.(*pb.LeaseKeepAliveResponse); ok && err == nil {
		if l := k.c.lease(r.ID); l != nil {
			l.answered(time.Duration(r.TTL)*time.Second, answeredBy(k.Context()))
		}
	}
	if err != nil {
		k.c.broken(err)
	}
	return err
}

// renewing notes that a renewal is about to leave: one at a time is on record.
func (l *lease) renewing(env backends.Env) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || len(l.renewals) > 0 {
		return nil
	}
	done, err := env.Session.Renewing(l.name)
	if err != nil {
		return err
	}
	l.renewals = append(l.renewals, &renewal{sent: env.Now(), done: done})
	return nil
}

// answered notes what a server said, and which; a time to live of 0: it knows no such lease.
func (l *lease) answered(ttl time.Duration, by []string) {
	l.mu.Lock()
	if len(l.renewals) == 0 {
		l.mu.Unlock()
		return
	}
	r := l.renewals[0]
	l.renewals = nil
	re, err := backends.Renewal{Sent: r.sent, TTL: ttl, Deadline: r.sent + ttl.Nanoseconds(), Nodes: by}, error(nil)
	if ttl <= 0 {
		err = fmt.Errorf("%w: %w", backends.ErrNotHeld, rpctypes.ErrLeaseNotFound)
	} else {
		l.deadline = max(l.deadline, re.Deadline)
	}
	l.mu.Unlock()
	r.done(re, err)
}

// broken ends the renewals that were under way on the stream.
func (c *client) broken(err error) {
	if errors.Is(err, io.EOF) {
		err = net.ErrClosed
	}
	c.mu.Lock()
	var lost []*renewal
	for _, l := range c.leases {
		l.mu.Lock()
		lost = append(lost, l.renewals...)
		l.renewals = nil
		l.mu.Unlock()
	}
	c.mu.Unlock()
	for _, r := range lost {
		r.done(backends.Renewal{}, err)
	}
}

// outcome returns what an error says for certain: time-outs of the servers and of the network say nothing of what was
// done.
func outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return fmt.Errorf("%w: %w", backends.ErrNotHeld, err)
	case grpcstatus.Code(err) == codes.DeadlineExceeded:
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

// runPrefix is what the names of all keys of a run begin with.
func runPrefix(run string) string { return "/lockstorm/" + run + "/" }

// prefix is where a lock is; the library adds a slash and the lease.
func prefix(run, lock string) string { return runPrefix(run) + lock }

func keys(run, lock string) []string { return []string{prefix(run, lock)} }
