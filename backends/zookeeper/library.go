package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// library is the lock that the Go client ships: zk.NewLock, Lock, Unlock. A new object is made for
// each attempt, since one whose session has expired says for ever that it is locked twice. Lock
// knows no context: it waits for as long as it takes.
type library struct{ *session }

// Acquire is Lock. It ends early only with the client.
func (l *library) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	conn, err := l.client()
	if err != nil {
		return nil, err
	}
	path := lockPath(l.env.Run, req.Lock)
	lock := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
	req.Reach(ctx, history.AtWaiting)
	// The data of the node is the only way to find it again: Lock has no way to ask for the name.
	locked := make(chan error, 1)
	go func() { locked <- lock.LockWithData([]byte(req.Owner)) }()
	select {
	case err = <-locked:
	case <-ctx.Done():
		go func() { // what a user would do who does not wait any longer
			if <-locked == nil {
				lock.Unlock() //nolint:errcheck // nobody waits for it
			}
		}()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, known(err)
	}
	mark, sent := l.mark(), l.request.Load()
	token, found := l.token(ctx, conn, path, req.Owner)
	if !found {
		return nil, errGone
	}
	h, info := l.granted(req, mark, sent)
	info.Token, info.HasToken = token, true
	// The release is Unlock, once: after an error the node may stay.
	return &backends.Granted{Of: info, Give: func(ctx context.Context) error {
		defer l.over(h)
		_, err := call(ctx, func() (struct{}, error) { return struct{}{}, lock.Unlock() })
		if errors.Is(err, zk.ErrNoNode) {
			return fmt.Errorf("%w: %w", backends.ErrNotHeld, err)
		}
		return err
	}}, nil
}

// token is the czxid of the node, which a user of the library would have to look up, too.
func (l *library) token(ctx context.Context, conn *zk.Conn, path, owner string) (int64, bool) {
	names, err := again(ctx, func() ([]string, error) { return children(conn, path) })
	for _, name := range names {
		if err != nil || !strings.Contains(name, "lock-") {
			continue
		}
		var stat *zk.Stat
		data, err := again(ctx, func() ([]byte, error) {
			data, st, err := conn.Get(path + "/" + name)
			stat = st
			return data, err
		})
		if err == nil && string(data) == owner {
			return stat.Czxid, true
		}
	}
	return 0, false
}

// TryAcquire is never called: see Spec.NoTry.
func (l *library) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.Acquire(ctx, req)
}
