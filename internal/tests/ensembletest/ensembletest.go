// Package ensembletest starts topologies of real servers in tests, with links between all of them,
// and asks the kernel who is connected to whom.
package ensembletest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

// Limit is for one test: what has not come by then does not come. An image may have to be built.
const Limit = 5 * time.Minute

// Bench is a topology that runs.
type Bench struct {
	testing.TB
	Ctx     context.Context //nolint:containedctx // of the test
	Net     *link.Network
	Cluster *cluster.Cluster
	Dir     string // with a folder for each server
}

// Start starts a topology with the processes of this host; it is stopped with the test. A test
// fails where a server is missing: `make test` gets them.
func Start(t *testing.T, top cluster.Topology) *Bench {
	t.Helper()
	return StartWith(t, top, cluster.ProcessName, func(s *proc.Starter) []cluster.Provider {
		return []cluster.Provider{cluster.ProcessProvider{Starter: s}}
	})
}

// StartWith starts a topology with one of other providers.
func StartWith(t testing.TB, top cluster.Topology, provider string, of func(*proc.Starter) []cluster.Provider) *Bench {
	t.Helper()
	return StartOn(t, top, provider, cluster.Options{}, of)
}

// StartOn is StartWith with options, but for the network.
func StartOn(t testing.TB, top cluster.Topology, provider string, o cluster.Options,
	of func(*proc.Starter) []cluster.Provider,
) *Bench {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "nodes") // it is removed when the servers have stopped, which write into it until then
	starter := proc.NewStarter()
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	b := &Bench{TB: t, Ctx: ctx, Net: link.New(), Dir: dir}
	o.Network = b.Net
	p, err := cluster.Choose(provider, top, of(starter))
	t.Cleanup(func() {
		cancel()
		if b.Cluster != nil {
			if err := b.Cluster.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if err := b.Net.Close(); err != nil {
			t.Error(err)
		}
		if c, ok := p.(io.Closer); ok {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		starter.Close()
	})
	if err != nil {
		t.Fatalf("%v\n(make test installs what the tests need)", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			logs(t, dir)
		}
	})
	b.Cluster, err = cluster.Start(ctx, top, p, dir, o)
	b.must(err)
	return b
}

// logs shows the end of what each server said.
func logs(t testing.TB, dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "server.log"))
	if err != nil {
		t.Error(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s:\n%s", path, text[max(0, len(text)-2000):])
	}
}

// Named is the topology of that name, which must be sound.
func Named(t *testing.T, all []cluster.Topology, name string) cluster.Topology {
	t.Helper()
	top, ok := lists.Find(all, func(top cluster.Topology) bool { return top.Name == name })
	if !ok {
		t.Fatalf("no topology %s", name)
	}
	if err := top.Valid(); err != nil {
		t.Fatal(err)
	}
	return top
}

// Keeps kills the one server and starts it again: it leads itself, and has what was written
// before.
func (b *Bench) Keeps(write func(addr string) error, there func(addr string) (bool, error)) {
	b.Helper()
	s := b.Cluster.Servers()[0]
	if role := s.Role(); !history.Leads(role) {
		b.Errorf("the server reports itself as %s", role)
	}
	b.must(write(s.Addr()))
	b.kill(s)()
	if ok, err := there(s.Addr()); err != nil || !ok {
		b.Errorf("after the restart, the value that was written before the kill is missing or cannot be read (found: %v, error: %v)",
			ok, err)
	}
}

// Await waits for a condition.
func (b *Bench) Await(what string, ok func() bool) {
	b.Helper()
	for !ok() {
		select {
		case <-b.Ctx.Done():
			b.Fatalf("never: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Leader waits for a leader that is not one of those.
func (b *Bench) Leader(but ...*cluster.Server) (leader *cluster.Server) {
	b.Helper()
	b.Await("a leader", func() bool {
		s, err := b.Cluster.Fleet().Master(b.Ctx)
		if err != nil || slices.Contains(but, s) || s.Role() != history.RoleLeader {
			return false
		}
		leader = s
		return true
	})
	return leader
}

// Whole waits until all serve together.
func (b *Bench) Whole() {
	b.Helper()
	addrs := map[string]string{}
	for _, s := range b.Cluster.Servers() {
		addrs[s.Name()] = s.Addr()
	}
	var err error
	defer func() {
		if b.Failed() {
			b.Logf("last: %v", err)
		}
	}()
	b.Await("all serve together", func() bool { err = b.Cluster.Topology.Ready(b.Ctx, addrs); return err == nil })
}

// Followers are all servers but one.
func (b *Bench) Followers(leader *cluster.Server) []*cluster.Server {
	return slices.DeleteFunc(b.Cluster.Servers(), func(s *cluster.Server) bool { return s == leader })
}

// NothingBeside fails where servers are connected with each other past all links.
func (b *Bench) NothingBeside(when string) {
	b.Helper()
	pids := map[string]int{}
	for _, s := range b.Cluster.Servers() {
		if !s.Down() {
			pids[s.Name()] = s.Pid()
		}
	}
	direct, err := sockets.Direct(pids)
	b.must(err)
	if len(direct) > 0 {
		b.Errorf("%s: servers have direct connections, which do not go through a link: %v", when, direct)
	}
}

// Isolate cuts, or swallows, every link between a server and the others, both ways; the function
// it returns heals.
func (b *Bench) Isolate(s *cluster.Server, swallow bool) (heal func()) {
	b.Helper()
	var mends []func() error
	for _, o := range b.Followers(s) {
		for _, l := range slices.Concat(b.Net.Links(s.Name(), o.Name()), b.Net.Links(o.Name(), s.Name())) {
			if swallow {
				a, err := l.BlackHole(link.Both)
				b.must(err)
				mends = append(mends, func() error { return a.Remove(b.Ctx) })
				continue
			}
			_, mend, err := l.Cut()
			b.must(err)
			mends = append(mends, mend)
		}
	}
	return func() {
		for _, m := range mends {
			if err := m(); err != nil {
				b.Error(err)
			}
		}
	}
}

// Elections changes the leader by each means, and looks each time for connections past the links:
// at the start, in each fault, and when all serve again.
func (b *Bench) Elections() {
	b.Helper()
	b.Whole()
	b.NothingBeside("at the start")
	for _, fault := range []struct {
		name string
		hurt func(leader *cluster.Server) (heal func())
	}{
		{"kill -9", b.kill},
		{"SIGSTOP", b.pause},
		{"links cut", func(s *cluster.Server) func() { return b.Isolate(s, false) }},
		{"links swallow", func(s *cluster.Server) func() { return b.Isolate(s, true) }},
	} {
		old := b.Leader()
		begun := time.Now()
		heal := fault.hurt(old)
		heir := b.Leader(old)
		b.Logf("fault %q on %s: %s became the leader after %v", fault.name, old.Name(), heir.Name(),
			time.Since(begun).Round(time.Millisecond))
		b.NothingBeside("in " + fault.name)
		heal()
		b.Whole()
		b.NothingBeside("after " + fault.name)
	}
}

func (b *Bench) kill(s *cluster.Server) func() {
	b.Helper()
	b.must(s.Kill(b.Ctx))
	return func() {
		_, err := s.Restart(b.Ctx)
		b.must(err)
	}
}

func (b *Bench) pause(s *cluster.Server) func() {
	b.Helper()
	_, err := s.Pause(b.Ctx)
	b.must(err)
	return func() {
		_, err := s.Resume(b.Ctx)
		b.must(err)
	}
}

// must ends the test with an error.
func (b *Bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
