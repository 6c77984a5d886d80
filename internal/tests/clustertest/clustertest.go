// Package clustertest is a small store for tests of what runs on servers, hurts them or asks
// them: real processes that keep keys, replicate, can be promoted, and are watched by
// supervisors that replace a master that is silent. A test binary serves them itself, with
// [Main] first in its TestMain; [Single] and [Replicated] are topologies of them.
//
//	TestMain -> Main          the child: a store, a supervisor, or a process that idles
//	Single() -> cluster.Start the test: servers, their links, their capabilities ([Store])
//
// The protocol is one line of words for a request and one for its answer, which begins with
// + when it was done and with - when nothing was done.
package clustertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// What the first arguments of a child say.
const (
	childArg      = "clustertest"
	serveStore    = "store"
	serveWatch    = "supervisor"
	serveIdle     = "idle"
	flagPrimary   = "primary"
	flagFollowing = "following"
)

// RoleSupervisor is the role of a server that keeps nothing and replaces masters.
const RoleSupervisor = "supervisor"

// Main serves and ends the process when it was started as a child; else it returns at once.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != childArg {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := serveAs(ctx, os.Args[2], os.Args[3:])
	stop()
	code := 0
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	syscall.Exit(code) // not os.Exit: under the race detector that sleeps for a second
}

func serveAs(ctx context.Context, what string, args []string) error {
	switch what {
	case serveStore:
		return runStore(ctx, args)
	case serveWatch:
		return runSupervisor(ctx, args)
	case serveIdle:
		<-ctx.Done()
		return nil
	default:
		return fmt.Errorf("clustertest: unknown kind of child process: %s", what)
	}
}

// Idle is a child that does nothing until it is told to end: a client that can be hurt.
func Idle() *exec.Cmd { return exec.Command(Self(), childArg, serveIdle) }

// Self is the path of the running binary. It panics where nobody knows it.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		panic("clustertest: cannot find the path of this test binary: " + err.Error())
	}
	return path
}

// Recipe is one store that follows nobody.
func Recipe(name string) cluster.Recipe {
	return cluster.Recipe{
		Name: name, Role: history.RoleMaster, Data: true, Binary: Self(), Package: "none: the server is this test binary",
		Args:  []string{childArg, serveStore, "{{.Addr}}", "{{.Source}}", flagPrimary},
		Ready: Ready, Admin: func(addr func() string) any { return Store{asker{addr}} },
		Refusal: Refusal, Policies: []string{"oldest", "any"},
	}
}

// Refusal tells the answers of a store by which nothing was done.
func Refusal(answer []byte) bool { return len(answer) > 0 && answer[0] == '-' }

// Ready returns nil once the server at addr serves.
func Ready(ctx context.Context, addr string, pid int) error {
	got, err := Ask(ctx, addr, "PID")
	if err != nil {
		return err
	}
	if pid != 0 && got != strconv.Itoa(pid) {
		return fmt.Errorf("pid %s answers at %s, but pid %d was expected", got, addr, pid)
	}
	return nil
}

// Single is one store that keeps nothing on disk.
func Single() cluster.Topology { return Several(1) }

// Several is stores that know nothing of each other.
func Several(n int) cluster.Topology {
	t := cluster.Topology{Name: fmt.Sprintf("test-%d", n), Doc: "stores of a test", Recovery: time.Second}
	for i := range n {
		t.Nodes = append(t.Nodes, Recipe(storeName(i)))
	}
	return t
}

// Replicated is a master, its replicas, and supervisors that replace it; with none of them
// nobody does.
func Replicated(stores, supervisors int) cluster.Topology {
	t := cluster.Topology{Name: "test-replicated", Doc: "a master, its replicas and its supervisors (processes that watch the " +
		"master), for tests", Recovery: time.Second}
	for i := range stores {
		r := Recipe(storeName(i))
		r.Peering = cluster.Announced
		if i > 0 {
			r.Role, r.Stage = history.RoleReplica, 1
			r.Args = append(r.Args[:len(r.Args)-1], flagFollowing, announced(0))
		}
		t.Nodes = append(t.Nodes, r)
	}
	t.Ready = func(ctx context.Context, addrs map[string]string) error {
		return together(ctx, addrs, stores, supervisors)
	}
	if supervisors == 0 {
		return t
	}
	t.Fleet, t.FailOver = cluster.Supervised, time.Second
	for i := range supervisors {
		t.Nodes = append(t.Nodes, watcher(i, stores))
	}
	return t
}

// Pair is a store and one that follows it; who leads is for us to say.
func Pair() cluster.Topology {
	t := Replicated(2, 0)
	for i := range t.Nodes {
		r := &t.Nodes[i]
		r.Args = append(r.Args[:4:4], fmt.Sprintf("{{if .Follows}}%s{{else}}%s{{end}}", flagFollowing, flagPrimary), announced(1-i))
	}
	return t
}

func watcher(i, stores int) cluster.Recipe {
	r := cluster.Recipe{
		Name: fmt.Sprintf("supervisor-%d", i+1), Role: RoleSupervisor, Binary: Self(), Stage: 2, Ready: Ready,
		Peering: cluster.Announced,
		Args:    []string{childArg, serveWatch, "{{.Addr}}", "{{.Source}}"},
		Admin:   func(addr func() string) any { return Supervisor{asker{addr}} },
	}
	for s := range stores {
		r.Args = append(r.Args, announced(s))
	}
	return r
}

func storeName(i int) string { return fmt.Sprintf("store-%d", i+1) }

// announced is the address of a store for its peers, as a template.
func announced(i int) string { return fmt.Sprintf("127.0.0.1:{{.PortOf %q}}", storeName(i)) }

// together waits for the replicas to follow, and for the supervisors to name the master.
func together(ctx context.Context, addrs map[string]string, stores, supervisors int) error {
	first := addrs[storeName(0)]
	n, err := (Store{asker{func() string { return first }}}).Followers(ctx)
	if err != nil {
		return err
	}
	if n != stores-1 {
		return fmt.Errorf("%d replicas are connected to the master, expected %d", n, stores-1)
	}
	for i := range supervisors {
		if _, err := Ask(ctx, addrs[fmt.Sprintf("supervisor-%d", i+1)], "MASTER"); err != nil {
			return err
		}
	}
	return nil
}
