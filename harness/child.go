package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness/internal/worker"
	"github.com/lockstorm/lockstorm/internal/cluster/external"
	"github.com/lockstorm/lockstorm/internal/companion"
)

// The environment by which a child of our own binary knows its part.
const (
	envChild    = "LOCKSTORM_CHILD"
	envTopology = "LOCKSTORM_TOPOLOGY"
	envNode     = "LOCKSTORM_NODE"
	envAddr     = "LOCKSTORM_ADDR"

	childWorker   = "worker"
	childEmbedded = "embedded"
)

// WorkerMain turns this process into a worker or an embedded server if it was started as one, and then never returns;
// else it returns at once. lockstorm.Main and lockstormtest.Main call it; a program without them calls it first, with the same
// catalogue that it passes to Run.
func WorkerMain(cat *Catalogue) {
	if os.Getenv(envChild) == "" {
		return
	}
	var err error
	switch os.Getenv(envChild) {
	case childWorker:
		err = worker.Main(worker.Parts{Backends: cat.Backends, Workloads: cat.Workloads, Registers: cat.Registers})
	case childEmbedded:
		err = embeddedMain(cat)
	default:
		err = fmt.Errorf("%s=%q: lockstorm sets this variable for its child processes: unset it", envChild, os.Getenv(envChild))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lockstorm:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// childCommand is our own binary in another part.
func childCommand(part string, env ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find lockstorm's own binary: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(external.Without(os.Environ()), envChild+"="+part), env...)
	return cmd, nil
}

// embeddedCommand is what serves a node: our own binary, or the one beside it.
func embeddedCommand(t cluster.Topology, r cluster.Recipe, addr string) (*exec.Cmd, error) {
	if r.Embedded != nil {
		return childCommand(childEmbedded, envTopology+"="+t.Name, envNode+"="+r.Name, envAddr+"="+addr)
	}
	cmd, err := companion.Command(r.Beside[0], r.Beside[1:]...)
	if err == nil {
		cmd.Env = external.Without(cmd.Env)
	}
	return cmd, err
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
