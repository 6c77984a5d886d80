package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/lockstorm/lockstorm/harness/internal/worker"
	"github.com/lockstorm/lockstorm/internal/cluster/external"
)

// The environment by which a child of our own binary knows its part.
const (
	envChild    = "LOCKSTORM_CHILD"
	envProc     = "HOST_PROC" // of a library that testcontainers uses: see childCommand
	envTopology = "LOCKSTORM_TOPOLOGY"
	envNode     = "LOCKSTORM_NODE"
	envAddr     = "LOCKSTORM_ADDR"
	envRun      = "LOCKSTORM_RUN"

	childWorker   = "worker"
	childEmbedded = "embedded"
	childWarden   = "warden"
)

// WorkerMain turns this process into a worker, an embedded server or a warden if it was started as one, and then
// never returns; else it returns at once. Call it first in main or TestMain, with the same catalogue that you pass to
// Run.
func WorkerMain(cat *Catalogue) {
	if os.Getenv(envChild) == "" {
		return
	}
	if os.Getenv(envProc) == noProc {
		os.Unsetenv(envProc) //nolint:errcheck // it was set
	}
	var err error
	switch os.Getenv(envChild) {
	case childWorker:
		err = worker.Main(worker.Parts{Backends: cat.Backends, Workloads: cat.Workloads, Registers: cat.Registers})
	case childEmbedded:
		err = embeddedMain(cat)
	case childWarden:
		err = wardenMain(cat)
	default:
		err = fmt.Errorf("%s=%q: lockstorm sets this variable for its child processes: unset it", envChild, os.Getenv(envChild))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lockstorm:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// noProc is no directory.
const noProc = "/nonexistent"

// childCommand is our own binary in another part. When testcontainers is loaded, it looks at every process of the host for its
// parent: with 200 processes that takes two fifths of a client's start. A child needs no containers, and finds no processes until
// its own code begins.
func childCommand(part string, env ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find lockstorm's own binary: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(external.Without(os.Environ()), envChild+"="+part), env...)
	if os.Getenv(envProc) == "" {
		cmd.Env = append(cmd.Env, envProc+"="+noProc)
	}
	return cmd, nil
}

func embeddedCommand(topology, node, addr string) (*exec.Cmd, error) {
	return childCommand(childEmbedded, envTopology+"="+topology, envNode+"="+node, envAddr+"="+addr)
}

// embeddedMain serves one node of a topology until it is told to end.
func embeddedMain(cat *Catalogue) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	t, err := cat.Topologies.Get(os.Getenv(envTopology))
	if err != nil {
		return err
	}
	r, ok := t.Node(os.Getenv(envNode))
	if !ok || r.Embedded == nil {
		return fmt.Errorf("topology %s has no server %q that can run embedded in lockstorm", t.Name, os.Getenv(envNode))
	}
	return r.Embedded(ctx, os.Getenv(envAddr))
}
