// Package ownlock shows how to test your own lock with lockstorm, from a module of your own. Copy this
// package, and replace the lock in filelock.go by your lock. This file is the adapter, the only
// code that you must write:
//
//	[Specs] describe the lock -> Open (once for each client) -> TryAcquire -> a lease with its Info -> Release
//
// Three further files are optional: a fault that replaces this lock's files (ownfault.go), a
// workload with its own data and parameters (ownworkload.go), and a check that judges the record
// of this workload (owncheck.go).
//
// [Catalogue] contains a part of lockstorm's catalogue and all entries of this package. The command
// in cmd/ownlock and the tests use this catalogue.
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

// PointFree is a point (a named step) of the locks' own protocol. A fault can act at this point
// (--nemesis client-pause:at=between-look-and-take). A race between clients would happen here.
const PointFree = "between-look-and-take"

// Specs describes the two locks for the catalogue: the lock under test, and a lock with a planted
// bug. The second lock shows that lockstorm finds such a bug.
func Specs() []backends.Spec {
	return []backends.Spec{
		spec(Name, "a lease in a file; only the owner of the lease can release the lock", fileLock.release),
		spec(Blind, "a lease in a file; the release frees the lock, even if the lock belongs to another client (a planted bug)",
			fileLock.releaseBlindly),
	}
}

// Catalogue contains the part of lockstorm for locks without servers, and the entries of this package. (To use all stores of
// lockstorm, see package backends/stores.) A run starts its own binary again, once for each client, so all clients must use this
// catalogue.
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
		Ends:       history.EndsLease,    // a lease ends no earlier than sent + ttl
		Tokens:     true,
		Keys:       func(_, lock string) []string { return []string{leaseFile(lock)} }, // for faults that act on the lock's file
		Points:     []backends.Point{{Name: PointFree, Doc: "the client has seen that the lock is free, but does not own it yet"}},
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			return &locker{env: env, release: release}, nil
		},
	}
}

// leaseFile returns the name of a lock's file, in the folder that all clients share.
func leaseFile(lock string) string { return lock + ".lease" }

// locker gives one client access to the locks. Each client is a separate process.
type locker struct {
	env     backends.Env
	release func(fileLock, string) error
}

// Acquire repeats TryAcquire, because this lock cannot notify waiting clients when it becomes free.
func (l *locker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire tries once to acquire the lock.
func (l *locker) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	// env.Now reads CLOCK_MONOTONIC, which is the same for all clients on this host, so leases can
	// use this clock. Read the clock before you send the request: the lease starts at this time. If
	// the client is delayed between the two steps, it assumes too short a lease, never too long a lease.
	sent := l.env.Now()
	files := fileLock{path: filepath.Join(l.env.Dir, leaseFile(req.Lock)), now: l.env.Now}
	token, err := files.take(req.Owner, sent, req.TTL, func() { req.Hooks.Point(ctx, PointFree) })
	if errors.Is(err, errGuarded) {
		return nil, backends.ErrBusy // another client is changing the file: try again later
	}
	if err != nil {
		return nil, classify(err)
	}
	info := backends.Info{
		Owner: req.Owner, Lease: req.Owner,
		// Clients and store use the same clock, so the deadline allows for no drift.
		Sent: sent, TTL: req.TTL, Deadline: sent + req.TTL.Nanoseconds(),
		Token: token, HasToken: true,
	}
	return &backends.Granted{Of: info, Give: func(ctx context.Context) error { return l.giveBack(ctx, files, req.Owner) }}, nil
}

// Close does nothing: this lock keeps no connection.
func (*locker) Close() error { return nil }

// giveBack releases the lock. If another client is changing the file, giveBack waits, but only until
// the timeout, because the other client may be paused. After the timeout, the lease expires by itself.
func (l *locker) giveBack(ctx context.Context, files fileLock, owner string) error {
	ctx, cancel := context.WithTimeout(ctx, l.env.Timeout)
	defer cancel()
	for {
		err := l.release(files, owner)
		if !errors.Is(err, errGuarded) {
			return classify(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
		case <-time.After(l.env.Jitter(l.env.Retry)):
		}
	}
}

// classify marks the errors after which the operation certainly did not happen. It returns every
// other error unchanged: lockstorm then records the outcome as unknown, and the checks allow for both outcomes.
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
