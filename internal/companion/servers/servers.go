// Package servers is the program lockstorm-servers: see package companion, which starts it.
package servers

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
	"go.etcd.io/etcd/api/v3/version"

	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/companion/disk"
	"github.com/lockstorm/lockstorm/internal/docker"
)

// versions are those of the embedded servers.
var versions = companion.Etcd + " " + version.Version + "\n" + companion.NATS + " " + server.VERSION + "\n"

const about = companion.Program + " is started by lockstorm, for its embedded servers of etcd and NATS and for containers. " +
	"There is nothing to start by hand. It has:\n"

// Main is the program.
func Main() {
	part, err := companion.Part()
	if err == nil {
		err = be(part, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", companion.Program, err)
		os.Exit(1)
	}
}

// Child makes a test binary its own lockstorm-servers. Call it first in TestMain.
func Child() {
	if os.Getenv(companion.EnvPart) != "" {
		Main()
		os.Exit(0)
	}
	companion.BeOwn()
}

// be does what a part does, until that ends.
func be(part string, args []string) error {
	switch part {
	case "":
		fmt.Print(about + versions)
		return nil
	case companion.Versions:
		fmt.Print(versions)
		return nil
	case companion.Containers:
		return containers()
	case companion.Queue:
		return serveQueue()
	}
	if len(args) != 1 {
		return fmt.Errorf("part %s needs one argument", part)
	}
	switch part {
	case companion.Warden:
		return docker.Ward(context.Background(), os.Stdin, args[0])
	case companion.Etcd:
		return until(etcd, args[0])
	case companion.NATS:
		return until(nats, args[0])
	case companion.Disk:
		return disk.Serve(args[0])
	}
	return fmt.Errorf("it has no part %q", part)
}

// until serves until the process is told to end.
func until(serve func(ctx context.Context, config string) error, config string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return serve(ctx, config)
}
