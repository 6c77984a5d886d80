package cluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
)

// one is a topology of a single store whose recipe was changed.
func one(change func(r *cluster.Recipe)) cluster.Topology {
	t := clustertest.Single()
	change(&t.Nodes[0])
	return t
}

// script has a shell run a few words before the store takes its place.
func script(text string) cluster.Topology {
	return one(func(r *cluster.Recipe) {
		r.Args = append([]string{"-c", text + `; exec "$0" "$@"`, r.Binary}, r.Args...)
		r.Binary = "sh"
	})
}

// What a recipe prepares is there before the first start, and is not made again.
func TestPrepareRunsOnce(t *testing.T) {
	b := newBench(t)
	c := b.start(one(func(r *cluster.Recipe) {
		r.Prepare = [][]string{{"sh", "-c", "echo made >> {{.Dir}}/made"}, {"sh", "-c", "cat made > copy"}}
		r.Files = map[string]string{"conf": "dir {{.Dir}}\nport {{.Port}}\n"}
	}))
	s := c.Servers()[0]
	if err := s.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(b.path("store-1", "conf"))
	if err != nil || !strings.HasPrefix(string(conf), "dir "+b.path("store-1")+"\nport "+s.Addr()[len("127.0.0.1:"):]) {
		t.Errorf("conf is %q, %v", conf, err)
	}
	const own = "what the server made of it"
	if err := os.WriteFile(b.path("store-1", "conf"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restart(b.ctx); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"made": "made\n", "copy": "made\n", "conf": own} {
		if text, err := os.ReadFile(b.path("store-1", name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v; want %q", name, text, err, want)
		}
	}
}

// A command that fails is named, with what it printed; so is a template that cannot be filled in.
func TestPrepareFails(t *testing.T) {
	for want, prepare := range map[string][]string{
		"prepare store-1: sh: exit status 3: no room left":                {"sh", "-c", "echo no room left >&2; exit 3"},
		"prepare store-1: no-such-program":                                {"no-such-program"},
		`this server has no address for port "" of node store-9`:          {"echo", `{{.PortOf "store-9"}}`},
		`the server has no port with the name "peers"`:                    {"echo", `{{.PortNamed "peers"}}`},
		`cannot fill in the template in argument "{{.Nothing}}"`:          {"echo", "{{.Nothing}}"},
		`this server has no address for port "elections" of node store-1`: {"echo", `{{.PeerPort "store-1" "elections"}}`},
	} {
		mustSay(t, newBench(t).fails(one(func(r *cluster.Recipe) { r.Prepare = [][]string{prepare} })), want)
	}
}

// A server that ends before it serves may have lost the race for its port.
func TestAServerThatEndsIsTriedAgain(t *testing.T) {
	b := newBench(t)
	c := b.start(script(`test -e tried || { touch tried; echo {{.Port}} > lost; exit 1; }`))
	lost, err := os.ReadFile(b.path("store-1", "lost"))
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Servers()[0]; strings.HasSuffix(s.Addr(), ":"+strings.TrimSpace(string(lost))) {
		t.Errorf("it was tried again on the same port, %s", s.Addr())
	}
}

// One that always ends is given up, with the last that it said, what its recipe makes of that, and where to
// read on.
func TestAServerThatAlwaysEndsIsGivenUp(t *testing.T) {
	b := newBench(t)
	top := script(`echo x >> tries; echo it rains; echo bad luck; exit 1`)
	top.Nodes[0].Hint = func(said string) string {
		if strings.Contains(said, "it rains") {
			return "take an umbrella"
		}
		return ""
	}
	text := b.fails(top)
	mustSay(t, text, ": bad luck; take an umbrella")
	mustSay(t, text, "cannot start server store-1: the server ended before it was ready")
	mustSay(t, text, "bad luck")
	mustSay(t, text, b.path("store-1", "server.log"))
	tries, err := os.ReadFile(b.path("store-1", "tries"))
	if err != nil || strings.Count(string(tries), "x") != 5 {
		t.Errorf("tries %q, %v", tries, err)
	}
}

// One that lives and never serves is given up in the end, and killed; the error has the last lines of its log.
func TestAServerThatNeverServesIsGivenUp(t *testing.T) {
	b := newBench(t)
	top := script(`echo $$ > pid; for i in 1 2 3 4 5 6 7; do echo word $i; done; exec sleep 60`)
	deaf := errors.New("it does not listen")
	launched := make(chan int, 1)
	ctx, giveUp := context.WithCancel(b.ctx)
	defer giveUp()
	top.Nodes[0].Ready = func(_ context.Context, _ string, pid int) error {
		select {
		case launched <- pid:
		default:
		}
		if said, err := os.ReadFile(b.path("store-1", "server.log")); err == nil && strings.Contains(string(said), "word 7") {
			giveUp()
		}
		return deaf
	}
	_, err := cluster.Start(ctx, top, b.p, b.dir, b.options())
	if !errors.Is(err, deaf) {
		t.Fatalf("error %v", err)
	}
	mustSay(t, err.Error(), "store-1 was not ready at 127.0.0.1:")
	mustSay(t, err.Error(), "  word 3\n  word 4\n  word 5\n  word 6\n  word 7")
	if pid := <-launched; alive(pid) {
		t.Errorf("process %d lives", pid)
	}
}

// A server that does not serve again is down, and may be tried once more.
func TestARestartThatFails(t *testing.T) {
	b := newBench(t)
	s := b.start(script(`test -e deaf && exec sleep 60; touch deaf`)).Servers()[0]
	if err := s.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 100*time.Millisecond)
	defer cancel()
	_, err := s.Restart(ctx)
	if err == nil {
		t.Fatal("it serves")
	}
	mustSay(t, err.Error(), "store-1 was not ready at 127.0.0.1:")
	if !s.Down() {
		t.Error("it was left running")
	}
	if err := os.Remove(b.path("store-1", "deaf")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restart(b.ctx); err != nil {
		t.Error(err)
	}
}

// A topology whose servers do not come together is given up, and nothing of it is left.
func TestServersThatDoNotComeTogether(t *testing.T) {
	b := newBench(t)
	top := clustertest.Several(2)
	addrs := make(chan map[string]string, 1)
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	top.Ready = func(_ context.Context, all map[string]string) error {
		select {
		case addrs <- all:
		default:
		}
		cancel() // nobody waits any longer
		return errors.New("store-2 is alone")
	}
	_, err := cluster.Start(ctx, top, b.p, b.dir, b.options())
	if err == nil {
		t.Fatal("it was started")
	}
	mustSay(t, err.Error(), "the servers of topology test-2 did not connect to each other in time: store-2 is alone")
	for name, addr := range <-addrs {
		if _, err := clustertest.Ask(b.ctx, addr, "PID"); err == nil {
			t.Errorf("%s still serves", name)
		}
	}
}

// A server whose port was taken while it was down comes back on another, and says so.
func TestRestartMoves(t *testing.T) {
	b := newBench(t)
	c := b.start(clustertest.Single())
	s := c.Servers()[0]
	before, moved := s.Addr(), ""
	s.OnMove(func(addr string) { moved = addr })
	if err := s.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	if role := s.Role(); role != "down" || !s.Down() {
		t.Errorf("a dead server is %s", role)
	}
	b.says(before, "-somebody else")
	proof, err := s.Restart(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s.Addr() == before || moved != s.Addr() {
		t.Errorf("it moved from %s to %s, and %q was told", before, s.Addr(), moved)
	}
	mustSay(t, proof, "has restarted as pid")
	mustSay(t, proof, s.Addr())
	if proof, err = s.Restart(b.ctx); err != nil || proof != "store-1 is already running, because another fault started it again" {
		t.Errorf("a second restart: %q, %v", proof, err)
	}
}

// A server that stays where it was tells nobody; what it kept in memory is gone.
func TestRestartStays(t *testing.T) {
	b := newBench(t)
	s := b.start(clustertest.Single()).Servers()[0]
	s.OnMove(func(addr string) { t.Errorf("it moved to %s", addr) })
	if err := store(t, s).Set(b.ctx, "k", "me"); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restart(b.ctx); err != nil {
		t.Fatal(err)
	}
	if found, err := store(t, s).Has(b.ctx, []string{"k"}); err != nil || len(found) != 0 {
		t.Errorf("it has %v, %v", found, err)
	}
}

// A program that does not say its version is named, and not waited for; nor is a child that keeps its output open.
func TestAProgramThatSaysNoVersion(t *testing.T) {
	t.Parallel()
	r := one(func(r *cluster.Recipe) { r.Binary, r.Version = "sh", []string{"-c", "sleep 60 & sleep 60"} }).Nodes[0]
	began := time.Now()
	_, err := r.VersionLine(t.Context())
	if err == nil || !strings.Contains(err.Error(), "did not end within") || time.Since(began) > 40*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// Nobody waits for a version once the context has ended.
func TestAVersionIsInterrupted(t *testing.T) {
	t.Parallel()
	asked := filepath.Join(t.TempDir(), "asked")
	if err := syscall.Mkfifo(asked, 0o600); err != nil {
		t.Fatal(err)
	}
	r := one(func(r *cluster.Recipe) {
		r.Binary, r.Version = "sh", []string{"-c", "echo >" + asked + "; exec sleep 60"}
	}).Nodes[0]
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		os.ReadFile(asked) //nolint:errcheck // it waits until somebody writes
		cancel()
	}()
	if _, err := r.VersionLine(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}
