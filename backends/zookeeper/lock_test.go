package zookeeper

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// Every lock is granted under a session that is kept alive. When a server ends the session, the client is told, the release is
// refused or unknown, nothing guarded by the lock's znode is written any more, and the next client gets the lock.
func TestLocks(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), Single))
	a := newAdmin(b.Cluster.Servers()[0].Addr).(admin)
	for _, spec := range Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			b := &ensembletest.Bench{TB: t, Ctx: b.Ctx, Net: b.Net, Cluster: b.Cluster}
			env, heard := b.Env(2 * time.Second)
			env.Run, env.Values = spec.Name, spec.Defaults()
			req := backends.Request{Lock: "L", Owner: "me", TTL: env.TTL, Hooks: backends.Hooks{Lost: func(string, string) {}}}
			locker, err := spec.Open(b.Ctx, env)
			if err != nil {
				t.Fatal(err)
			}
			defer locker.Close() //nolint:errcheck // it only says nil
			data, err := Register().Open(b.Ctx, env)
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close() //nolint:errcheck // it only says nil
			lease, err := locker.Acquire(b.Ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			info := lease.Info()
			if !info.HasToken || info.TTL != env.TTL || info.Deadline <= info.Sent || info.Lease == "" {
				t.Errorf("granted is %+v", info)
			}
			b.Await("a renewal", func() bool { return heard.Renewed.Load() > 0 })
			at, err := data.Open(b.Ctx, "L", "grant", info)
			if err != nil {
				t.Fatal(err)
			}
			if err := at.Write(b.Ctx, "plain", 0, 7); err != nil {
				t.Errorf("write: %v", err)
			}
			if v, err := at.Read(b.Ctx, "plain"); v != 7 || err != nil {
				t.Errorf("read %d, %v", v, err)
			}
			if err := a.EndSession(b.Ctx, info.Lease); err != nil {
				t.Fatal(err)
			}
			b.Await("the loss is told", func() bool { return heard.Lost.Load() > 0 })
			want := backends.ErrStaleToken
			if info.Guard == "" { // there is nothing to ask for
				want = backends.ErrNotSent
			}
			if err := at.Write(b.Ctx, backends.Fenced, 0, 1); !errors.Is(err, want) {
				t.Errorf("guarded write after the loss: %v, want %v", err, want)
			}
			if err := lease.Release(context.Background()); err == nil {
				t.Error("what is lost was given back")
			}
			req.Owner = "next"
			next, err := locker.Acquire(b.Ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			if now := next.Info(); now.Lease == info.Lease || now.Token <= info.Token {
				t.Errorf("after %+v comes %+v", info, now)
			}
			if err := next.Release(b.Ctx); err != nil {
				t.Errorf("release: %v", err)
			}
		})
	}
	if err := a.EndSession(b.Ctx, "0x17"); err == nil {
		t.Error("a session that is not there was ended")
	}
}
