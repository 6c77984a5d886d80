package etcd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// Every lock is granted under a lease that is kept alive, and under a key that the admin finds. When the lease is revoked, the
// client is told, the release is refused or unknown, and nothing guarded by the key is written any more.
func TestLocks(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), Single))
	a := newAdmin(b.Cluster.Servers()[0].Addr).(admin)
	if v, err := a.Version(b.Ctx); err != nil || !strings.HasPrefix(v, "etcd 3.") {
		t.Errorf("version %q, %v", v, err)
	}
	for _, spec := range Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			b := &ensembletest.Bench{TB: t, Ctx: b.Ctx, Net: b.Net, Cluster: b.Cluster}
			env, heard := b.Env(2 * time.Second)
			env.Run = spec.Name
			locker, err := spec.Open(b.Ctx, env)
			if err != nil {
				t.Fatal(err)
			}
			defer locker.Close() //nolint:errcheck // its session has ended
			data, err := Register().Open(b.Ctx, env)
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close() //nolint:errcheck // a test
			lease, err := locker.Acquire(b.Ctx, backends.Request{Lock: "L", Owner: "me", TTL: env.TTL})
			if err != nil {
				t.Fatal(err)
			}
			info := lease.Info()
			lock := prefix(env.Run, "L")
			if info.Token <= 0 || info.TTL != env.TTL || info.Deadline <= info.Sent || !strings.HasPrefix(info.Guard, lock) {
				t.Errorf("granted is %+v", info)
			}
			keys, err := a.Of(b.Ctx, env.Run)
			if err != nil || !slices.Contains(keys, info.Guard) {
				t.Errorf("keys of the run: %v, %v; want %s", keys, err, info.Guard)
			}
			b.Await("a renewal", func() bool { return heard.Renewed.Load() > 0 })
			at, err := data.Open(b.Ctx, "L", "grant", info)
			if err != nil {
				t.Fatal(err)
			}
			if err := at.Write(b.Ctx, backends.Fenced, 0, 1); err != nil {
				t.Errorf("write under the lock: %v", err)
			}
			if err := a.EndSession(b.Ctx, info.Lease); err != nil {
				t.Fatal(err)
			}
			b.Await("the loss is told", func() bool { return heard.Lost.Load() > 0 })
			if err := at.Write(b.Ctx, backends.Fenced, 1, 2); !errors.Is(err, backends.ErrStaleToken) {
				t.Errorf("write after the loss: %v", err)
			}
			if v, err := at.Read(b.Ctx, "plain"); v != 0 || err != nil {
				t.Errorf("what nothing guards: %d, %v", v, err)
			}
			if err := lease.Release(context.Background()); err == nil || errors.Is(err, backends.ErrBusy) {
				t.Errorf("release after the loss: %v", err)
			}
			if left, err := a.Has(b.Ctx, []string{lock}); err != nil || len(left) > 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
	if err := a.EndSession(b.Ctx, "nothing"); err == nil {
		t.Error("a lease without a number was revoked")
	}
}

// A store is cleared of one run, and of no other; a lock that is cleared away is not its holder's any more.
func TestClear(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), Single))
	a := newAdmin(b.Cluster.Servers()[0].Addr).(admin)
	held := map[string]backends.Lease{}
	for _, run := range []string{"one", "other"} {
		env, _ := b.Env(5 * time.Second)
		env.Run = run
		locker, err := Specs()[0].Open(b.Ctx, env)
		if err != nil {
			t.Fatal(err)
		}
		defer locker.Close() //nolint:errcheck // a test
		if held[run], err = locker.TryAcquire(b.Ctx, backends.Request{Lock: "L", Owner: run, TTL: env.TTL}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := a.Clear(b.Ctx, "one"); n != 1 || err != nil {
		t.Errorf("cleared %d, %v", n, err)
	}
	if err := held["one"].Release(b.Ctx); !errors.Is(err, backends.ErrNotHeld) {
		t.Errorf("release of what was cleared away: %v", err)
	}
	if err := held["other"].Release(b.Ctx); err != nil {
		t.Errorf("release of the other run's: %v", err)
	}
}
