// Package file holds locks that need no server: flock, exclusive creation, and no lock
// at all, the control that must fail.
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

// Topologies is the one without servers.
func Topologies() []cluster.Topology {
	return []cluster.Topology{{Name: Local, Doc: "no servers: clients share a directory"}}
}

// Specs are the file locks for the catalogue, and none.
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
	take func(path string, l *lease) error
}

var _ backends.Locker = (*locker)(nil)

func opener(take func(string, *lease) error) func(context.Context, backends.Env) (backends.Locker, error) {
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
	lease := &lease{info: backends.Info{Owner: req.Owner, Sent: l.env.Now()}}
	if err := l.take(filepath.Join(l.env.Dir, req.Lock+".lock"), lease); err != nil {
		return nil, err
	}
	return lease, nil
}

// Close has nothing to close: each lease has its own descriptor.
func (*locker) Close() error { return nil }

type lease struct {
	info    backends.Info
	release func() error
}

// Info is what was granted.
func (l *lease) Info() backends.Info { return l.info }

// Release gives the lock back.
func (l *lease) Release(context.Context) error { return l.release() }

func takeNothing(_ string, l *lease) error {
	l.release = func() error { return nil }
	return nil
}

func takeExcl(path string, l *lease) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return backends.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	l.release = func() error {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return backends.ErrNotHeld
		}
		return err
	}
	return f.Close()
}

func takeFlock(path string, l *lease) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		cerr := f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return backends.ErrBusy
		}
		return errors.Join(err, cerr)
	}
	l.release = f.Close // closing the last descriptor gives the lock back
	return nil
}
