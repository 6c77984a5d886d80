package workloads_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/history"
)

// flaw is what is wrong with a ticket lock; none: it keeps what it promises.
type flaw string

const (
	none         flaw = ""
	newestFirst  flaw = "once everybody was served, who came last is served first"
	triesWait    flaw = "a try waits like any other"
	freesAtOnce  flaw = "the first release frees what was entered twice"
	forgetsOwner flaw = "a release frees it whoever holds it, and entering again takes it from anybody"
)

// ticketSpecs are a lock with a queue, in a file that all clients share, and the same with a flaw each.
func ticketSpecs() []backends.Spec {
	spec := func(name, kind string, f flaw) backends.Spec {
		return backends.Spec{
			Name: name, Doc: "a queue in a file; " + string(f), Topologies: []string{file.Local},
			Model: history.Model{Kind: kind}, Ends: history.EndsNever, Fair: true,
			Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
				return &tickets{env: env, flaw: f}, nil
			},
		}
	}
	return []backends.Spec{
		spec("tickets", "", none), spec("tickets-newest", "", newestFirst), spec("tickets-wait", "", triesWait),
		spec("tickets-reentrant", history.ModelReentrant, none), spec("tickets-once", history.ModelReentrant, freesAtOnce),
		spec("tickets-anybody", history.ModelReentrant, forgetsOwner),
	}
}

// desk is the state of the lock: who is served, how often he entered, and who waits.
type desk struct {
	Holder  string
	Entered int
	Waiting []string
	Met     []string // who was served before
}

// next is who may enter where nobody is inside.
func (d desk) next(f flaw) string {
	switch {
	case len(d.Waiting) == 0:
		return ""
	case f == newestFirst && !slices.ContainsFunc(d.Waiting, d.isNew):
		return d.Waiting[len(d.Waiting)-1]
	}
	return d.Waiting[0]
}

// isNew reports whether an owner's client was never served. Owners begin with the name of their client.
func (d desk) isNew(owner string) bool {
	client, _, _ := strings.Cut(owner, "-")
	return !slices.Contains(d.Met, client)
}

type tickets struct {
	env  backends.Env
	flaw flaw
}

// at changes the desk of a lock; nobody else is at it meanwhile.
func (l *tickets) at(lock string, change func(*desk) error) (err error) {
	f, err := os.OpenFile(filepath.Join(l.env.Dir, lock+".desk"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return errors.Join(backends.ErrNotSent, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return errors.Join(backends.ErrNotSent, err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	var d desk
	if len(b) > 0 {
		if err := json.Unmarshal(b, &d); err != nil {
			return err
		}
	}
	refused := change(&d)
	after, err := json.Marshal(d)
	if err != nil || bytes.Equal(after, b) {
		return errors.Join(err, refused)
	}
	// Never to a length of 0: some file systems take a file that was emptied to the disk when it is closed.
	if _, err := f.WriteAt(after, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(after))); err != nil {
		return err
	}
	return refused
}

// Acquire queues up, and goes away again where its caller waits no longer.
func (l *tickets) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	lease, err := backends.Poll(ctx, l.env, req, func(_ context.Context, req backends.Request) (backends.Lease, error) {
		return l.enter(req, func(d *desk) bool {
			if !slices.Contains(d.Waiting, req.Owner) {
				d.Waiting = append(d.Waiting, req.Owner)
			}
			return d.Holder == "" && d.next(l.flaw) == req.Owner
		})
	})
	if err != nil {
		gone := l.at(req.Lock, func(d *desk) error { d.leave(req.Owner); return nil })
		return nil, errors.Join(err, gone)
	}
	return lease, nil
}

// TryAcquire never waits: it has no ticket.
func (l *tickets) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	if l.flaw == triesWait {
		return l.Acquire(ctx, req)
	}
	return l.enter(req, func(d *desk) bool {
		again := d.Holder == req.Owner || (l.flaw == forgetsOwner && d.Entered > 0)
		return again || (d.Holder == "" && len(d.Waiting) == 0)
	})
}

func (l *tickets) enter(req backends.Request, may func(*desk) bool) (backends.Lease, error) {
	lease := &ticket{l: l, lock: req.Lock, info: backends.Info{Owner: req.Owner, Sent: l.env.Now()}}
	err := l.at(req.Lock, func(d *desk) error {
		if !may(d) {
			return backends.ErrBusy
		}
		d.leave(req.Owner)
		d.Holder, d.Entered = req.Owner, d.Entered+1
		if client, _, _ := strings.Cut(req.Owner, "-"); d.isNew(req.Owner) {
			d.Met = append(d.Met, client)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (d *desk) leave(owner string) {
	d.Waiting = slices.DeleteFunc(d.Waiting, func(o string) bool { return o == owner })
}

func (l *tickets) Close() error { return nil }

type ticket struct {
	l    *tickets
	lock string
	info backends.Info
}

func (t *ticket) Info() backends.Info { return t.info }

func (t *ticket) Release(context.Context) error {
	return t.l.at(t.lock, func(d *desk) error {
		if d.Holder != t.info.Owner && t.l.flaw == none {
			return backends.ErrNotHeld
		}
		d.Entered--
		if d.Entered <= 0 || t.l.flaw == freesAtOnce {
			d.Holder, d.Entered = "", 0
		}
		return nil
	})
}
