// Package nats lets you test (add [Part] to a catalogue) the lock that users build on a key-value bucket of NATS JetStream:
// create, update by revision, delete by revision. The revision is a fencing token. NATS has no lock library: these are the calls
// of nats.go with its defaults.
package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Specs returns the locks on NATS.
func Specs() []backends.Spec {
	return []backends.Spec{{
		Name: "nats-kv", Doc: "a key in a NATS KV bucket (nats.go v1.55.0): Create, and Delete with the revision, which is the " +
			"fencing token; keys live for one ttl",
		Library:    "github.com/nats-io/nats.go v1.55.0",
		Signals:    []backends.Signal{{Kind: backends.SignalMethod, Name: "Get"}, {Kind: backends.SignalError, Name: "Update"}},
		Calls:      []string{backends.CallExtend, backends.CallAsk, backends.CallToken},
		Topologies: []string{Single, Three, Single + Sync, Three + Sync},
		Ends:       history.EndsLease, Tokens: true, Buffers: true, Open: open,
		// The calls wait 5 s for an answer, and a client that was cut off waits 2 s before it dials again.
		Recovery: 8 * time.Second,
		Notes: "The bucket defines the time to live. Waiting clients poll: watchers don't learn that a key expired. Requests of a " +
			"client that is cut off are buffered and sent later, so a Create that returned an error may still take the lock. On three " +
			"servers Get may read an old value.",
	}}
}

func open(_ context.Context, env backends.Env) (backends.Locker, error) {
	if len(env.Nodes) == 0 {
		return nil, errors.New("this lock needs a NATS server: use --topology nats-... (`lockstorm list topologies` shows them)")
	}
	return &lock{env: env}, nil
}

// lock is one client's connection, made on first use: a server that is down now is no reason to
// give up.
type lock struct {
	env  backends.Env
	conn *natsgo.Conn
	kv   jetstream.KeyValue
}

// dialer leads through the links.
type dialer struct{ env backends.Env }

// Dial connects to the node of that name.
func (d dialer) Dial(_, address string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), natsgo.DefaultTimeout)
	defer cancel()
	return d.env.Dial(ctx, name)
}

// urls name the nodes: [dialer] knows the way.
func (l *lock) urls() string {
	var urls []string
	for _, n := range l.env.Nodes {
		urls = append(urls, "nats://"+n.Name+":4222")
	}
	return strings.Join(urls, ",")
}

// bucket is where the locks of a run are.
func bucket(run string) string { return "locks-" + run }

func (l *lock) connect(ctx context.Context) (err error) {
	if l.conn == nil {
		if l.conn, err = natsgo.Connect(l.urls(), natsgo.SetCustomDialer(dialer{l.env}), natsgo.SkipHostLookup()); err != nil {
			return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
		}
	}
	if l.kv != nil {
		return nil
	}
	js, err := jetstream.New(l.conn)
	if err != nil {
		return err
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: bucket(l.env.Run), TTL: l.env.TTL,
		Replicas: len(l.env.Nodes),
	})
	if err != nil {
		// no lock was asked for yet
		return fmt.Errorf("%w: cannot create the NATS KV bucket for the locks: %w", backends.ErrNotSent, err)
	}
	l.kv = kv
	return nil
}

// Acquire polls with jitter.
func (l *lock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire creates the key.
func (l *lock) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	ctx = context.WithoutCancel(ctx) // the calls have a time-out of their own: 5 s
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	sent := l.env.Now()
	rev, err := l.kv.Create(ctx, req.Lock, []byte(req.Owner))
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
		return nil, fmt.Errorf("%w: %w", backends.ErrBusy, err)
	case err != nil:
		return nil, err
	}
	return &lease{l: l, key: req.Lock, rev: rev, info: backends.Info{
		Owner: req.Owner, Lease: req.LeaseName(), Sent: sent, TTL: req.TTL, Deadline: sent + req.TTL.Nanoseconds(),
		Token: int64(rev), HasToken: true,
	}}, nil
}

// Close closes the connection.
func (l *lock) Close() error {
	if l.conn != nil {
		l.conn.Close()
	}
	return nil
}

// lease is a key that was created, with the revision that it has by now.
type lease struct {
	l    *lock
	key  string
	info backends.Info

	mu     sync.Mutex
	rev    uint64
	unsure int // updates under way, or without an answer: the revision may be another one
}

var (
	_ backends.Extender = (*lease)(nil)
	_ backends.Asker    = (*lease)(nil)
)

// Info is what was granted.
func (le *lease) Info() backends.Info { return le.info }

// revision is the one that the key had last, as far as is known, and whether it may have got
// another one of ours since.
func (le *lease) revision() (rev uint64, unsure bool) {
	le.mu.Lock()
	defer le.mu.Unlock()
	return le.rev, le.unsure > 0
}

// updating notes that an update is under way; what it returns takes its outcome.
func (le *lease) updating() func(rev uint64, err error) {
	le.mu.Lock()
	defer le.mu.Unlock()
	le.unsure++
	return func(rev uint64, err error) {
		le.mu.Lock()
		defer le.mu.Unlock()
		if err == nil {
			le.rev = max(le.rev, rev)
		}
		if err == nil || errors.Is(err, backends.ErrNotHeld) {
			le.unsure--
		}
	}
}

// Extend writes the same value again, which begins another time to live.
func (le *lease) Extend(ctx context.Context) (backends.Renewal, error) {
	re := backends.Renewal{Sent: le.l.env.Now(), TTL: le.info.TTL}
	last, unsure := le.revision()
	done := le.updating()
	rev, err := le.l.kv.Update(ctx, le.key, []byte(le.info.Owner), last)
	err = notOurs(err, unsure)
	done(rev, err)
	if err != nil {
		return re, err
	}
	re.Deadline = re.Sent + le.info.TTL.Nanoseconds()
	return re, nil
}

// Held looks whether the key has the lease's own value: its revision changes with each extension.
func (le *lease) Held(ctx context.Context) (bool, error) {
	e, err := le.l.kv.Get(ctx, le.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil && string(e.Value()) == le.info.Owner, err
}

// Release deletes the key if it has the lease's own revision.
func (le *lease) Release(ctx context.Context) error {
	rev, _ := le.revision()
	err := le.l.kv.Delete(ctx, le.key, jetstream.LastRevision(rev))
	now, unsure := le.revision()
	return notOurs(err, unsure || now != rev)
}

// notOurs keeps apart the answer that the key has another revision, or none: unless it may be
// another one of ours.
func notOurs(err error, unsure bool) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence && !unsure {
		return fmt.Errorf("%w: %w", backends.ErrNotHeld, err)
	}
	return err
}
