// Package file lets you test locks that need no server (add [Part] to a catalogue): flock, exclusive creation, and no lock at
// all, the control that must fail.
package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// Local is the topology without servers.
const Local = "local"

// Topologies returns the one topology, which has no servers.
func Topologies() []cluster.Topology {
	return []cluster.Topology{{Name: Local, Doc: "no servers: clients share a directory"}}
}

// Specs returns the file locks, and the control that locks nothing.
func Specs() []backends.Spec {
	return []backends.Spec{
		{
			Name: "none", Doc: "no lock, as a control: every run must end with a violation",
			Topologies: []string{Local},
			Ends:       history.EndsNever, Open: opener(takeNothing),
		},
		{
			Name: "file-excl", Doc: "a file created with O_EXCL, removed to release; a dead holder blocks everyone for ever",
			Topologies: []string{Local}, Ends: history.EndsNever, Open: opener(takeExcl),
		},
		{
			Name: "file-flock", Doc: "flock(2) on a file, as a control: every run must pass",
			Topologies: []string{Local}, Ends: history.EndsProcess, Open: opener(takeFlock),
		},
	}
}

type locker struct {
	env  backends.Env
	take func(path string) (release func() error, err error)
}

func opener(take func(string) (func() error, error)) func(context.Context, backends.Env) (backends.Locker, error) {
	return func(_ context.Context, env backends.Env) (backends.Locker, error) {
		return &locker{env: env, take: take}, nil
	}
}

// Acquire polls: a waiting flock could not be cancelled.
func (l *locker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

// TryAcquire makes one try.
func (l *locker) TryAcquire(_ context.Context, req backends.Request) (backends.Lease, error) {
	info := backends.Info{Owner: req.Owner, Sent: l.env.Now()}
	release, err := l.take(filepath.Join(l.env.Dir, req.Lock+".lock"))
	if err != nil {
		return nil, err
	}
	return &backends.Granted{Of: info, Give: func(context.Context) error { return release() }}, nil
}

// Close has nothing to close: each lease has its own descriptor.
func (*locker) Close() error { return nil }

func takeNothing(string) (func() error, error) { return func() error { return nil }, nil }

func takeExcl(path string) (func() error, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, backends.ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	return func() error {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return backends.ErrNotHeld
		}
		return err
	}, f.Close()
}

func takeFlock(path string) (func() error, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		cerr := f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, backends.ErrBusy
		}
		return nil, errors.Join(err, cerr)
	}
	return f.Close, nil // closing the last descriptor gives the lock back
}
