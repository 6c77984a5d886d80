package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// queue is the lock of sequential ephemeral nodes: each attempt makes one, and the lowest holds the
// lock; all others watch the node before their own.
//
//	/lockstorm-RUN/LOCK/OWNER.write-0000000007   <- watched by -- OWNER.write-0000000008
type queue struct {
	*session
	token   string
	recheck bool // look again after a wake-up: the node before may have gone without having held
	shared  bool // readers come in together: else every node is a writer's
	flaw    flaw // planted by a test
}

// flaw is something that a queue of readers and writers does wrong on purpose.
type flaw string

const (
	readersIgnoreWriters flaw = "a reader gets the lock although a writer that came earlier waits for the lock or holds the lock"
	writersIgnoreReaders flaw = "a writer gets the lock although readers hold it"
	downgradeLetsIn      flaw = "a writer that has downgraded to a reader may still write, although other writers wait before it " +
		"in the queue"
)

// Kinds of nodes.
const (
	writer = "write"
	reader = "read"
)

// What a grant's token is.
const (
	tokenCzxid    = "czxid"    // of the own node: grows with every change of the whole store
	tokenSequence = "sequence" // the number in the name of the own node
	tokenVersion  = "version"  // of the data of the own node: it is never written
)

// ticket is a node in the queue.
type ticket struct {
	name string // of the node, below the lock's
	seq  int64
	kind string
}

// parse reads OWNER.KIND-SEQUENCE.
func parse(name string) (ticket, bool) {
	dash, dot := strings.LastIndexByte(name, '-'), strings.LastIndexByte(name, '.')
	if dash < 0 || dot < 0 || dot > dash {
		return ticket{}, false
	}
	seq, err := strconv.ParseInt(name[dash+1:], 10, 64)
	return ticket{name, seq, name[dot+1 : dash]}, err == nil
}

// Acquire waits for its turn.
func (q *queue) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return q.inside(ctx, req, q.await)
}

// inside enters the queue, and leaves it unless f gets the lock.
func (q *queue) inside(ctx context.Context, req backends.Request, f func(context.Context, *zk.Conn, backends.Request, ticket) (
	backends.Lease, error),
) (backends.Lease, error) {
	conn, err := q.client()
	if err != nil {
		return nil, err
	}
	t, err := q.enter(ctx, conn, req)
	if err != nil {
		return nil, err
	}
	lease, err := f(ctx, conn, req, t)
	if err == nil {
		return lease, nil
	}
	return nil, q.leave(ctx, req, t, err)
}

// TryAcquire looks once.
func (q *queue) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return q.inside(ctx, req, func(ctx context.Context, conn *zk.Conn, req backends.Request, t ticket) (backends.Lease, error) {
		lease, _, err := q.look(ctx, conn, req, t)
		if err == nil && lease == nil {
			err = backends.ErrBusy
		}
		return lease, err
	})
}

func (q *queue) kind(req backends.Request) string {
	if q.shared && req.Mode == history.ModeShared {
		return reader
	}
	return writer
}

// enter makes the node. Where the answer is lost it is found again by the owner in its name, which
// no other attempt has.
func (q *queue) enter(ctx context.Context, conn *zk.Conn, req backends.Request) (ticket, error) {
	path, own := lockPath(q.env.Run, req.Lock), req.Owner+"."+q.kind(req)+"-"
	for {
		made, err := call(ctx, func() (string, error) {
			return conn.Create(path+"/"+own, nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		})
		switch {
		case err == nil:
			t, ok := parse(made[len(path)+1:])
			if !ok {
				return t, fmt.Errorf("the new znode has an unexpected name: %s", made)
			}
			return t, nil
		case errors.Is(err, zk.ErrNoNode):
			if err := makePath(ctx, conn, path); err != nil {
				return ticket{}, fmt.Errorf("%w: %w", backends.ErrNotSent, err) // no lock was asked for yet
			}
			continue
		case ctx.Err() != nil || errors.Is(err, zk.ErrClosing):
			return ticket{}, err
		case errors.Is(err, backends.ErrNotSent):
			nap(ctx, q.env.Jitter(q.env.Retry))
			continue
		}
		t, found, err := q.find(ctx, conn, path, own)
		if found || err != nil {
			return t, err
		}
	}
}

// find looks for the own node among all, as the servers agree on now.
func (q *queue) find(ctx context.Context, conn *zk.Conn, path, own string) (t ticket, found bool, err error) {
	all, err := q.list(ctx, conn, path, true)
	for _, t := range all {
		if strings.HasPrefix(t.name, own) {
			return t, true, nil
		}
	}
	return t, false, err
}

// list is the queue in its order. It asks again while the connection is lost; with sync, the server
// catches up with the others first.
func (q *queue) list(ctx context.Context, conn *zk.Conn, path string, sync bool) ([]ticket, error) {
	names, err := again(ctx, func() ([]string, error) {
		if sync {
			if _, err := conn.Sync(path); err != nil {
				return nil, err
			}
		}
		return children(conn, path)
	})
	if err != nil {
		return nil, err
	}
	var all []ticket
	for _, name := range names {
		if t, ok := parse(name); ok {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b ticket) int { return int(a.seq - b.seq) })
	return all, nil
}

// errGone says that the own node is no more: its session has ended.
var errGone = errors.New("the lock's znode no longer exists, because its session has ended")

// look returns the grant if it is the ticket's turn, else the node that it has to wait for.
func (q *queue) look(ctx context.Context, conn *zk.Conn, req backends.Request, t ticket) (lease backends.Lease, before string,
	err error,
) {
	mark, sent := q.mark(), q.env.Now()
	path := lockPath(q.env.Run, req.Lock)
	all, err := q.list(ctx, conn, path, false)
	if err != nil {
		return nil, "", err
	}
	at := slices.IndexFunc(all, func(o ticket) bool { return o.name == t.name })
	if at < 0 {
		return nil, "", errGone
	}
	if before := q.before(all[:at], t); before != "" {
		return nil, before, nil
	}
	lease, err = q.grant(ctx, conn, req, t, mark, sent)
	return lease, "", err
}

// before is the node that a ticket has to wait for, of those that came before it: of a reader the
// last writer, of a writer the last of all.
func (q *queue) before(earlier []ticket, t ticket) string {
	for _, o := range slices.Backward(earlier) {
		switch {
		case t.kind == reader && (o.kind == reader || q.flaw == readersIgnoreWriters):
			continue
		case t.kind == writer && o.kind == reader && q.flaw == writersIgnoreReaders:
			continue
		}
		return o.name
	}
	return ""
}

// grant looks at the own node again, which tells the token.
func (q *queue) grant(ctx context.Context, conn *zk.Conn, req backends.Request, t ticket, mark, sent int64) (backends.Lease,
	error,
) {
	node := lockPath(q.env.Run, req.Lock) + "/" + t.name
	stat, err := exists(ctx, conn, node)
	switch {
	case err != nil:
		return nil, err
	case stat == nil || stat.Czxid == 0:
		return nil, errGone
	}
	if q.flaw == downgradeLetsIn && t.kind == writer {
		if node, err = q.downgrade(ctx, conn, node); err != nil {
			return nil, err
		}
	}
	h, info := q.granted(req, mark, sent)
	info.HasToken, info.Guard = true, node
	switch q.token {
	case tokenSequence:
		info.Token = t.seq
	case tokenVersion:
		info.Token = int64(stat.Version)
	default:
		info.Token = stat.Czxid
	}
	return &nodeLease{s: q.session, node: node, hold: h, info: info}, nil
}

// downgrade is a flaw: it puts a reader's node in the place of a writer's.
func (q *queue) downgrade(ctx context.Context, conn *zk.Conn, node string) (string, error) {
	own := strings.TrimSuffix(node[:strings.LastIndexByte(node, '-')], writer) + reader + "-"
	made, err := call(ctx, func() (string, error) {
		return conn.Create(own, nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	})
	if err != nil {
		return "", err
	}
	return made, q.remove(ctx, node, "")
}

// await waits until it is the ticket's turn.
func (q *queue) await(ctx context.Context, conn *zk.Conn, req backends.Request, t ticket) (backends.Lease, error) {
	path := lockPath(q.env.Run, req.Lock)
	waits := req.Waiting(ctx)
	for {
		lease, before, err := q.look(ctx, conn, req, t)
		if lease != nil || err != nil {
			return lease, err
		}
		waits()
		mark, sent := q.mark(), q.env.Now()
		gone, err := awaitGone(ctx, conn, path+"/"+before)
		if err != nil {
			return nil, err
		}
		if gone && !q.recheck {
			return q.grant(ctx, conn, req, t, mark, sent)
		}
	}
}

// awaitGone waits until a node is deleted. It returns early, with false, when something else
// happened, and the caller should look again.
func awaitGone(ctx context.Context, conn *zk.Conn, node string) (gone bool, err error) {
	type watched struct {
		there  bool
		events <-chan zk.Event
	}
	w, err := again(ctx, func() (watched, error) {
		there, _, events, err := conn.ExistsW(node)
		return watched{there, events}, err
	})
	if err != nil || !w.there {
		return false, err
	}
	select {
	case e := <-w.events:
		return e.Type == zk.EventNodeDeleted, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// leave takes the ticket back after a failed attempt: busy if the failure is certain. Unless ctx has ended it asks
// until it is answered, since a node that stays blocks all others for as long as the session lives.
func (q *queue) leave(ctx context.Context, req backends.Request, t ticket, why error) error {
	switch {
	case errors.Is(why, errGone):
		return fmt.Errorf("%w: %w", backends.ErrNotHeld, why)
	case errors.Is(why, zk.ErrClosing):
		return why
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), q.env.Timeout)
		defer cancel()
	}
	if err := q.remove(ctx, lockPath(q.env.Run, req.Lock)+"/"+t.name, ""); err != nil && !errors.Is(err, backends.ErrNotHeld) {
		return err
	}
	return fmt.Errorf("%w: %w", backends.ErrBusy, why)
}

// again makes a call that changes nothing until it is answered: while the connection is lost, the
// library fails it.
func again[T any](ctx context.Context, f func() (T, error)) (T, error) {
	for {
		v, err := call(ctx, f)
		if err == nil || answered(err) || ctx.Err() != nil || errors.Is(err, zk.ErrClosing) {
			return v, err
		}
		nap(ctx, pause)
	}
}

const pause = 5 * time.Millisecond // before a call is made again

func nap(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
