package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/backends"
)

// nodeLease is a node that is the lock while it is there.
type nodeLease struct {
	s    *session
	node string
	hold *hold
	info backends.Info
	// shared: after its session another one may have a node of the same name, which is not to be
	// deleted.
	shared bool
}

// Info is what was granted.
func (l *nodeLease) Info() backends.Info { return l.info }

// Release deletes the node.
func (l *nodeLease) Release(ctx context.Context) error {
	defer l.s.over(l.hold)
	under := ""
	if l.shared {
		under = l.hold.lease
	}
	return l.s.remove(ctx, l.node, under)
}

// remove deletes a node, until that is answered: nil when the store deleted it, ErrNotHeld when it
// says that there is none, and the first error where an earlier request may have deleted it. With
// the name of a session, of a node that others make under the same name: nothing is asked for any more
// once the client knows that the session has ended, or, after a request of unknown outcome, once the
// node is not that session's.
func (s *session) remove(ctx context.Context, node, under string) error {
	conn, err := s.client()
	if err != nil {
		return err
	}
	var unsure error
	for {
		if under != "" && !s.lives(under) {
			return cmp.Or(unsure, fmt.Errorf("%w: the session of the lock's znode has ended", backends.ErrNotHeld))
		}
		if under != "" && unsure != nil && !s.owns(ctx, conn, node) {
			return unsure
		}
		_, err := call(ctx, func() (struct{}, error) { return struct{}{}, conn.Delete(node, -1) })
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNoNode) && unsure == nil:
			return fmt.Errorf("%w: %w", backends.ErrNotHeld, err)
		case errors.Is(err, zk.ErrNoNode):
			return unsure
		case ctx.Err() != nil || answered(err) || errors.Is(err, zk.ErrClosing):
			if unsure == nil {
				unsure = err
			}
			return unsure
		case unsure == nil && !errors.Is(err, backends.ErrNotSent):
			unsure = err
		}
		nap(ctx, pause)
	}
}

// owns reports whether a node is there and of the client's own session: then it stays so until the
// client deletes it, or the session ends.
func (s *session) owns(ctx context.Context, conn *zk.Conn, node string) bool {
	stat, err := again(ctx, func() (*zk.Stat, error) {
		if _, err := conn.Sync(node); err != nil {
			return nil, err
		}
		_, stat, err := conn.Exists(node)
		return stat, err
	})
	return err == nil && stat != nil && stat.EphemeralOwner == conn.SessionID()
}
