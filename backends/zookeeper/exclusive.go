package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/backends"
)

// exclusive is the lock of one fixed ephemeral node: who makes it holds the lock; all others watch
// it, and are all woken when it goes.
type exclusive struct {
	*session
	token   string
	recheck bool // a woken client looks whether it has made the node: another one may have been faster
}

const fixedNode = "/lock"

// Acquire waits for the node to go, and tries again.
func (x *exclusive) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	conn, err := x.client()
	if err != nil {
		return nil, err
	}
	woken, waits := false, req.Waiting(ctx)
	for {
		lease, err := x.try(context.WithoutCancel(ctx), req, woken && !x.recheck)
		if err == nil || (!errors.Is(err, backends.ErrBusy) && !errors.Is(err, backends.ErrNotSent)) {
			return lease, err
		}
		if ctx.Err() != nil {
			return nil, err
		}
		waits()
		gone, watchErr := awaitGone(ctx, conn, lockPath(x.env.Run, req.Lock)+fixedNode)
		if watchErr != nil {
			return nil, err // busy
		}
		woken = gone
	}
}

// TryAcquire makes one try.
func (x *exclusive) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return x.try(ctx, req, false)
}

// try makes the node. careless takes the lock for its own whatever the answer is.
func (x *exclusive) try(ctx context.Context, req backends.Request, careless bool) (backends.Lease, error) {
	conn, err := x.client()
	if err != nil {
		return nil, err
	}
	path := lockPath(x.env.Run, req.Lock)
	mark, sent := x.mark(), x.env.Now()
	_, err = call(ctx, func() (string, error) {
		return conn.Create(path+fixedNode, []byte(req.Owner), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	})
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, cmp.Or(makePath(ctx, conn, path), err)) // no lock was asked for yet
	case err != nil && (!careless || !errors.Is(err, zk.ErrNodeExists)):
		return x.known(ctx, conn, req, mark, sent, err)
	}
	return x.grant(ctx, conn, req, mark, sent)
}

// known finds out whose the node is, by its data: if an answer was lost, it may be our own.
func (x *exclusive) known(ctx context.Context, conn *zk.Conn, req backends.Request, mark, sent int64, why error) (backends.Lease,
	error,
) {
	if errors.Is(why, backends.ErrNotSent) || errors.Is(why, zk.ErrClosing) {
		return nil, why
	}
	data, err := again(ctx, func() ([]byte, error) {
		if !errors.Is(why, zk.ErrNodeExists) { // the request may be on its way yet
			if _, err := conn.Sync(lockPath(x.env.Run, req.Lock)); err != nil {
				return nil, err
			}
		}
		data, _, err := conn.Get(lockPath(x.env.Run, req.Lock) + fixedNode)
		return data, err
	})
	switch {
	case err == nil && string(data) == req.Owner:
		return x.grant(ctx, conn, req, mark, sent)
	case errors.Is(why, zk.ErrNodeExists):
		return nil, fmt.Errorf("%w: %w", backends.ErrBusy, why)
	}
	return nil, why // it may have been made, and have gone with its session
}

// grant reads the token from the node.
func (x *exclusive) grant(ctx context.Context, conn *zk.Conn, req backends.Request, mark, sent int64) (backends.Lease, error) {
	node := lockPath(x.env.Run, req.Lock) + fixedNode
	stat, err := exists(ctx, conn, node)
	switch {
	case err != nil:
		return nil, err
	case stat == nil, x.recheck && stat.EphemeralOwner != conn.SessionID():
		return nil, errGone
	}
	h, info := x.granted(req, mark, sent)
	info.Token, info.HasToken = stat.Czxid, true
	if x.token == tokenVersion {
		info.Token = int64(stat.Version)
	}
	return &nodeLease{s: x.session, node: node, hold: h, info: info, shared: true}, nil
}
