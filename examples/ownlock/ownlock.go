// Package ownlock judges a lock of your own, from outside lockstorm's repository. Copy it
// and put your lock in the place of the one in filelock.go; this file is the adapter, all
// that lockstorm asks of a lock author:
//
//	[Specs] name it -> Open (one a client) -> TryAcquire -> a lease with its Info -> Release
//
// Beside it stand three more things of your own, a file each: a fault that strikes this lock's
// files (ownfault.go), a workload with data and parameters of its own (ownworkload.go), and a
// check over what that workload recorded (owncheck.go). You need none of them to judge a lock.
//
// [Catalogue] is lockstorm's own catalogue and all of these. The command in cmd/ownlock and the
// tests pass it on.
package ownlock

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
)

// Names of the locks, for --backend and harness.Config.
const (
	Name  = "own-lock"
	Blind = "own-lock-blind"
)

// PointFree is a point of the locks' own protocol: a fault can be tied to it
// (--nemesis client-pause:at=between-look-and-take). It is where a race would be.
const PointFree = "between-look-and-take"

// Specs are the locks for the catalogue: the one to be judged, and one with a bug, which
// shows that the judge would find it.
func Specs() []backends.Spec {
	return []backends.Spec{
		spec(Name, "a lease in a file; only the owner of the lease can release the lock", fileLock.release),
		spec(Blind, "a lease in a file; the release frees the lock, even if the lock belongs to another client (a planted bug)", fileLock.releaseBlindly),
	}
}

// Catalogue is what lockstorm has for locks without servers, and what this package adds. (package stores has all that lockstorm
// can run.) A run
// starts its own binary again as its clients: they must find the same catalogue.
func Catalogue() *harness.Catalogue {
	cat := harness.New(file.Part())
	cat.Backends.Add(Specs()...)
	cat.Nemeses.Add(Faults()...)
	cat.Workloads.Add(Workloads()...)
	cat.Checks.Add(Checks()...)
	return cat
}

func spec(name, doc string, release func(fileLock, string) error) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc,
		Topologies: []string{file.Local}, // no servers, only a folder
		Ends:       history.EndsLease,    // the promise: not before sent + ttl
		Tokens:     true,
		Keys:       func(_, lock string) []string { return []string{leaseFile(lock)} }, // for faults that strike the lock's file
		Points:     []backends.Point{{Name: PointFree, Doc: "the client has seen that the lock is free, but has not yet written itself into the file as the owner"}},
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			return &locker{env: env, release: release}, nil
		},
	}
}

// leaseFile is the name of a lock's file, in the folder that all clients share.
func leaseFile(lock string) string { return lock + ".lease" }

// locker is one client's access to the locks: each client is a process of its own.
type locker struct {
	env     backends.Env
	release func(fileLock, string) error
}

var _ backends.Locker = (*locker)(nil)

// Acquire polls: this lock cannot tell anybody that it is free.
func (l *locker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire makes one try.
func (l *locker) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	// The run's clock is CLOCK_MONOTONIC with one base for all clients of the host, so a
	// lease can be kept in it. It is read before the request leaves, and the lease counts
	// from here: a client that is held up in between then believes too little, not too much.
	sent := l.env.Now()
	files := fileLock{path: filepath.Join(l.env.Dir, leaseFile(req.Lock)), now: l.env.Now}
	token, err := files.take(req.Owner, sent, req.TTL, func() { req.Hooks.Point(ctx, PointFree) })
	if errors.Is(err, errGuarded) {
		return nil, backends.ErrBusy // to be tried again, as any other refusal
	}
	if err != nil {
		return nil, classify(err)
	}
	return &lease{l: l, files: files, info: backends.Info{
		Owner: req.Owner, Lease: req.Owner,
		// Owner and store share one clock: the deadline needs no allowance for drift.
		Sent: sent, TTL: req.TTL, Deadline: sent + req.TTL.Nanoseconds(),
		Token: token, HasToken: true,
	}}, nil
}

// Close has nothing to close.
func (*locker) Close() error { return nil }

// lease is a lock that was granted.
type lease struct {
	l     *locker
	files fileLock
	info  backends.Info
}

var _ backends.Lease = (*lease)(nil)

// Info is what was granted.
func (l *lease) Info() backends.Info { return l.info }

// Release gives the lock back. It waits for a guard that somebody else has, but not for
// one who is stopped with it: then the lease runs out instead.
func (l *lease) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.l.env.Timeout)
	defer cancel()
	for {
		err := l.l.release(l.files, l.info.Owner)
		if !errors.Is(err, errGuarded) {
			return classify(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
		case <-time.After(l.l.env.Jitter(l.l.env.Retry)):
		}
	}
}

// classify says what certainly did not happen, and nothing about the rest: an error that
// is passed on as it is counts as unknown, and the judge allows for both.
func classify(err error) error {
	switch {
	case errors.Is(err, errHeld):
		return backends.ErrBusy
	case errors.Is(err, errLost):
		return backends.ErrNotHeld
	case errors.Is(err, errUntouched):
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	default:
		return err
	}
}
