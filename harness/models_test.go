package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/file"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/workloads"
)

// The models of locks through the whole path: a backend says its model, a workload asks for
// modes and enters again, the record says it, the checks ask it. The locks are flock(2),
// which knows readers; an owner that enters again counts in its own process.
func modelSpecs() []backends.Spec {
	spec := func(name, kind string, how func(mode string) int) backends.Spec {
		return backends.Spec{
			Name: name, Doc: "flock as a lock that is " + kind, Topologies: []string{file.Local},
			Model: history.Model{Kind: kind}, Ends: history.EndsProcess,
			Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
				return &flocker{env: env, how: how, counts: map[string]*counted{}}, nil
			},
		}
	}
	shared := func(mode string) int {
		if mode == history.ModeShared {
			return syscall.LOCK_SH
		}
		return syscall.LOCK_EX
	}
	deaf := func(mode string) int {
		if mode == history.ModeShared {
			return 0 // the reader does not look
		}
		return syscall.LOCK_EX
	}
	return []backends.Spec{
		spec("flock-rw", history.ModelReadWrite, shared),
		spec("flock-rw-deaf", history.ModelReadWrite, deaf),
		spec("flock-reentrant", history.ModelReentrant, func(string) int { return syscall.LOCK_EX }),
		spec("flock-reentrant-once", history.ModelReentrant, func(string) int { return freesAtOnce }),
	}
}

// freesAtOnce stands for an exclusive lock whose first release frees it, however often it was
// entered.
const freesAtOnce = -1

type flocker struct {
	env    backends.Env
	how    func(mode string) int
	counts map[string]*counted // by owner
}

type counted struct {
	file *os.File
	n    int
}

func (l *flocker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, l.env, req, l.TryAcquire)
}

func (l *flocker) TryAcquire(_ context.Context, req backends.Request) (backends.Lease, error) {
	how := l.how(req.Mode)
	lease := &flockLease{l: l, info: backends.Info{Owner: req.Owner, Sent: l.env.Now()}, once: how == freesAtOnce}
	if c := l.counts[req.Owner]; c != nil {
		c.n++
		return lease, nil
	}
	f, err := os.OpenFile(filepath.Join(l.env.Dir, req.Lock+".flock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, errors.Join(backends.ErrNotSent, err)
	}
	if how == freesAtOnce {
		how = syscall.LOCK_EX
	}
	if how != 0 && syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB) != nil {
		return nil, errors.Join(backends.ErrBusy, f.Close())
	}
	l.counts[req.Owner] = &counted{file: f, n: 1}
	return lease, nil
}

func (l *flocker) Close() error { return nil }

type flockLease struct {
	l    *flocker
	info backends.Info
	once bool
}

func (l *flockLease) Info() backends.Info { return l.info }

func (l *flockLease) Release(context.Context) error {
	c := l.l.counts[l.info.Owner]
	if c == nil {
		return nil
	}
	c.n--
	if l.once {
		return c.file.Close() // the count stays: the outer hold goes on without its lock
	}
	if c.n > 0 {
		return nil
	}
	delete(l.l.counts, l.info.Owner)
	return c.file.Close()
}

// modelWorkloads are readers beside writers, and owners that enter twice.
func modelWorkloads() []workloads.Spec {
	return []workloads.Spec{
		{
			Name: "readers", Doc: "most acquires are those of readers", Params: workloads.Params(),
			Models: []string{history.ModelReadWrite},
			New:    func(s workloads.Settings) workloads.Workload { return &readers{s} },
		},
		{
			Name: "twice", Doc: "acquires what it holds, and releases both", Params: workloads.Params(),
			Models: []string{history.ModelReentrant},
			New:    func(s workloads.Settings) workloads.Workload { return &twice{s} },
		},
	}
}

type readers struct{ workloads.Settings }

func (w *readers) Section(ctx context.Context, c *workloads.Client, t workloads.Turn) (bool, error) {
	ask := workloads.Ask{Lock: w.Lock(t)}
	if w.Rand.IntN(3) > 0 {
		ask.Mode = history.ModeShared
	}
	h, err := c.Acquire(ctx, ask)
	if h == nil || err != nil {
		return false, err
	}
	w.Stay(ctx, t)
	if err := errors.Join(h.Work(ctx, nil, nil), h.Release(ctx)); err != nil {
		return true, err
	}
	w.Pause(ctx, t)
	return true, nil
}

type twice struct{ workloads.Settings }

func (w *twice) Section(ctx context.Context, c *workloads.Client, t workloads.Turn) (bool, error) {
	return w.Run(ctx, c, t, func(outer *workloads.Hold) error {
		inner, err := c.Acquire(ctx, workloads.Ask{Lock: outer.Lock, Within: outer})
		if inner == nil || err != nil {
			return err
		}
		if err := inner.Release(ctx); err != nil {
			return err
		}
		w.Stay(ctx, t)
		return outer.Work(ctx, nil, nil)
	})
}

// Readers together and an owner that is still inside are no findings; a reader beside a
// writer and a lock that is free after the inner release are found by both checks.
func TestModelsThroughTheWholePath(t *testing.T) {
	for name, bad := range map[string]bool{
		"flock-rw:readers": false, "flock-rw-deaf:readers": true, "flock-reentrant:twice": false, "flock-reentrant-once:twice": true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend, workload, _ := strings.Cut(name, ":")
			cfg := shortConfig(t, backend)
			cfg.Workload = workload + ":hold=20ms,think=5ms"
			out := mustRun(t, cfg)
			for _, check := range []string{checker.MutualExclusion, checker.LockLinearizability} {
				r := out.Results.Checks[check]
				if (r.Verdict == checker.Fail) != bad {
					t.Errorf("%s: %s %s", check, r.Verdict, r.Reason)
				}
				for _, f := range r.Findings {
					if f.Class != checker.Defect {
						t.Errorf("%s: %s is %s: %s", check, f.Rule, f.Class, f.Message)
					}
				}
			}
			if rec := out.Record; !bad && !overlapping(rec) {
				t.Error("nobody held the lock together: nothing was shown")
			}
		})
	}
}

// overlapping reports whether two grants were held at one time.
func overlapping(rec *history.Record) bool {
	for i, a := range rec.Grants {
		for _, b := range rec.Grants[i+1:] {
			if !rec.Believed(a).Overlap(rec.Believed(b)).Empty() {
				return true
			}
		}
	}
	return false
}

// A workload for one kind of lock refuses the others.
func TestAWorkloadOfAnotherModelIsRefused(t *testing.T) {
	cfg := shortConfig(t, "flock-reentrant")
	cfg.Workload = "readers"
	if _, err := Resolve(testCatalogue(), cfg); err == nil || err.Error() != "workload readers needs a lock of model read-write, "+
		"but the model of backend flock-reentrant is reentrant" {
		t.Errorf("error %v", err)
	}
}
