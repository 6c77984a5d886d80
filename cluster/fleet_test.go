package cluster_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/clockshim"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
)

// A supervised fleet knows its master by majority, and has it replaced.
func TestSupervisedFleet(t *testing.T) {
	b := newBench(t)
	c := b.start(clustertest.Replicated(2, 3))
	fleet := c.Fleet()
	if m, err := fleet.Master(b.ctx); err != nil || m.Name() != "store-1" {
		t.Fatalf("the master is %v, %v", m, err)
	}
	if err := fleet.Promote(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.await("promotion", func() bool {
		m, err := fleet.Master(b.ctx)
		return err == nil && m.Name() == "store-2" && m.Role() == "master"
	})
	b.await("demotion", func() bool { return c.Servers()[0].Role() == "replica" })
	// Two of three do for a majority, one does not.
	supervisors := c.Servers()[2:]
	if err := supervisors[0].Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.await("two supervisors of one mind", func() bool { // the third learns of the promotion last
		m, err := fleet.Master(b.ctx)
		return err == nil && m.Name() == "store-2"
	})
	if err := supervisors[1].Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	_, err := fleet.Master(b.ctx)
	if err == nil {
		t.Fatal("one of three supervisors is a majority")
	}
	mustSay(t, err.Error(), "no majority of the supervisors agrees on a master")
	mustSay(t, err.Error(), "supervisor-1:")
	if err := supervisors[2].Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	if err := fleet.Promote(b.ctx); err == nil {
		t.Error("nobody was asked to promote, and there is no error")
	}
}

// Without supervisors nobody replaces masters.
func TestNoFleet(t *testing.T) {
	if f := newBench(t).start(clustertest.Single()).Fleet(); f != nil {
		t.Errorf("fleet %v", f)
	}
}

// What a server can do is what its recipe provides.
func TestCapabilities(t *testing.T) {
	b := newBench(t)
	c := b.start(clustertest.Replicated(1, 1))
	s, v := c.Servers()[0], c.Servers()[1]
	if _, ok := cluster.As[cluster.Keeper](s); !ok {
		t.Error("a store keeps no keys")
	}
	if _, ok := cluster.As[cluster.Keeper](v); ok {
		t.Error("a supervisor keeps keys")
	}
	if _, ok := cluster.As[cluster.Mover](s); ok {
		t.Error("a store hands over")
	}
	if s.Role() != "master" || v.Role() != clustertest.RoleSupervisor || !s.Data() || v.Data() {
		t.Errorf("roles %s and %s", s.Role(), v.Role())
	}
	if s.Refusal() == nil || v.Refusal() != nil {
		t.Error("refusals are known of the wrong server")
	}
}

// A server without any capability has its role by its recipe, also when it is down.
func TestNoCapabilities(t *testing.T) {
	b := newBench(t)
	s := b.start(one(func(r *cluster.Recipe) { r.Admin = nil })).Servers()[0]
	if _, ok := cluster.As[cluster.Roler](s); ok || s.Admin() != nil || s.Role() != "master" {
		t.Errorf("role %s, admin %v", s.Role(), s.Admin())
	}
}

// A paused server shows its state, and does not answer for its role.
func TestPause(t *testing.T) {
	b := newBench(t)
	s := b.start(clustertest.Single()).Servers()[0]
	proof, err := s.Pause(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	mustSay(t, proof, "threads stopped")
	if role := s.Role(); role != "down" {
		t.Errorf("a server that does not answer is %s", role)
	}
	if _, err := s.Resume(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.await("answer", func() bool { return s.Role() == "master" })
}

// The clock of one server jumps, seen by itself; that of another does not.
func TestJump(t *testing.T) {
	b := newBench(t)
	shim, err := clockshim.Build(b.ctx)
	if err != nil {
		t.Fatalf("%v\n(make test installs what the tests need)", err)
	}
	o := b.options()
	o.Shim = shim
	c, err := cluster.Start(b.ctx, clustertest.Several(2), b.p, b.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(b.ctx) //nolint:errcheck // a test
	jumps, stays := c.Servers()[0], c.Servers()[1]
	proof, err := jumps.Jump(b.ctx, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	mustSay(t, proof, "the clock of store-1 jumped by 1h0m0s; it now differs from the host's clock by ")
	if now, err := store(t, jumps).Clock(b.ctx); err != nil || time.Until(now) < 59*time.Minute {
		t.Errorf("it shows %v, %v", now, err)
	}
	if now, err := store(t, stays).Clock(b.ctx); err != nil || time.Until(now).Abs() > time.Minute {
		t.Errorf("the other shows %v, %v", now, err)
	}
	if proof, err = jumps.Jump(b.ctx, -time.Hour); err != nil {
		t.Fatal(err)
	}
	mustSay(t, proof, "jumped by -1h0m0s; it now differs ")
}

// A clock cannot jump where there is no shim, or where nobody can read it back.
func TestJumpIsRefused(t *testing.T) {
	b := newBench(t)
	s := b.start(clustertest.Single()).Servers()[0]
	if _, err := s.Jump(b.ctx, time.Hour); err == nil || err.Error() != "lockstorm cannot change the clock of store-1, because "+
		"the server has no clock of its own or does not report its time" {
		t.Errorf("without a shim: %v", err)
	}
	shim, err := clockshim.Build(b.ctx)
	if err != nil {
		t.Fatalf("%v\n(make test installs what the tests need)", err)
	}
	o := b.options()
	o.Shim = shim
	c, err := cluster.Start(b.ctx, one(func(r *cluster.Recipe) { r.Name, r.Admin = "mute", nil }), b.p, b.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(b.ctx) //nolint:errcheck // a test
	if _, err := c.Servers()[0].Jump(b.ctx, time.Hour); err == nil || err.Error() != "lockstorm cannot change the clock of mute, "+
		"because the server has no clock of its own or does not report its time" {
		t.Errorf("without a Timer: %v", err)
	}
}
