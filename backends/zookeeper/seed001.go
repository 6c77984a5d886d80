package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/backends"
)

// pointBetween is where a wake-up is missed: the watch is set, and nobody waits for it yet.
const pointBetween = "between-exists-and-wait"

// seed001 is the lock that an article (seed 001) builds from sequential nodes, as it stands there:
// one object has one node, which a tryLock that fails leaves in the queue; lock looks whether the
// node before is there, and then waits to be notified; a notice that comes between the two is lost.
type seed001 struct {
	*session

	mu      sync.Mutex
	current map[string]string // the object's node, by lock
}

// monitor is what the article waits on: a notice wakes who waits, and is forgotten where nobody
// does.
type monitor struct {
	mu     sync.Mutex
	waiter chan struct{}
}

func (m *monitor) notify() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiter != nil {
		close(m.waiter)
		m.waiter = nil
	}
}

func (m *monitor) wait(ctx context.Context) error {
	woken := make(chan struct{})
	m.mu.Lock()
	m.waiter = woken
	m.mu.Unlock()
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryAcquire is the article's tryLock.
func (l *seed001) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	lease, _, err := l.try(ctx, req)
	return lease, err
}

// try returns the grant, or the node before the own one.
func (l *seed001) try(ctx context.Context, req backends.Request) (backends.Lease, string, error) {
	conn, err := l.client()
	if err != nil {
		return nil, "", err
	}
	path := lockPath(l.env.Run, req.Lock)
	own, err := l.node(ctx, conn, path, req.Lock)
	if err != nil {
		return nil, "", err
	}
	mark, sent := l.mark(), l.env.Now()
	list, err := call(ctx, func() ([]string, error) { return children(conn, path) })
	if err != nil {
		return nil, "", err
	}
	slices.Sort(list)
	switch at := slices.Index(list, own[len(path)+1:]); {
	case at < 0:
		l.forget(req.Lock)
		return nil, "", fmt.Errorf("%w: %w", backends.ErrNotHeld, errGone)
	case at > 0:
		return nil, path + "/" + list[at-1], backends.ErrBusy
	}
	_, stat, err := conn.Exists(own)
	if err != nil {
		return nil, "", err
	}
	h, info := l.granted(req, mark, sent)
	info.Token, info.HasToken = stat.Czxid, true
	return &articleLease{nodeLease{s: l.session, node: own, hold: h, info: info}, l, req.Lock}, "", nil
}

// node is the object's node, made where there is none.
func (l *seed001) node(ctx context.Context, conn *zk.Conn, path, lock string) (string, error) {
	l.mu.Lock()
	own := l.current[lock]
	l.mu.Unlock()
	if own != "" {
		return own, nil
	}
	create := func() (string, error) {
		return call(ctx, func() (string, error) {
			return conn.Create(path+"/", []byte("0"), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		})
	}
	own, err := create()
	if errors.Is(err, zk.ErrNoNode) {
		if err := makePath(ctx, conn, path); err != nil {
			return "", fmt.Errorf("%w: %w", backends.ErrNotSent, err)
		}
		own, err = create()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.current[lock] = own
	}
	return own, err
}

func (l *seed001) forget(lock string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.current, lock)
}

// Acquire is the article's lock.
func (l *seed001) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	waits := req.Waiting(ctx)
	for {
		lease, pre, err := l.try(context.WithoutCancel(ctx), req)
		if !errors.Is(err, backends.ErrBusy) {
			return lease, err
		}
		if ctx.Err() != nil {
			return nil, err
		}
		waits()
		if ended := l.waitFor(ctx, req, pre); ended != nil {
			return nil, err
		}
	}
}

// waitFor waits until the node before goes, if it is there.
func (l *seed001) waitFor(ctx context.Context, req backends.Request, pre string) error {
	conn, err := l.client()
	if err != nil {
		return err
	}
	there, _, events, err := conn.ExistsW(pre)
	if err != nil || !there {
		return err
	}
	m := &monitor{}
	seen := make(chan struct{})
	defer func() { <-seen }()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(seen)
		select {
		case <-events:
			m.notify()
			<-watching.Done()
		case <-watching.Done():
		}
	}()
	req.Reach(ctx, pointBetween)
	return m.wait(ctx)
}

// articleLease forgets the object's node with its release.
type articleLease struct {
	nodeLease
	l    *seed001
	lock string
}

// Release is the article's unlock: delete, and forget.
func (a *articleLease) Release(ctx context.Context) error {
	defer a.l.forget(a.lock)
	return a.nodeLease.Release(ctx)
}
