package nats

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/leaktest"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/nemesis/ensembletest"
)

// serveAt has this binary be a server, as lockstorm's own is one.
const serveAt = "LOCKSTORM_TEST_SERVE_AT"

func TestMain(m *testing.M) {
	if addr := os.Getenv(serveAt); addr != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		err := serve(ctx, addr)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	leaktest.Main(m)
}

// Every leader that is killed, stopped or cut off is replaced, and no traffic between the members
// passes beside the links.
func TestElections(t *testing.T) {
	ensembletest.StartWith(t, ensembletest.Named(t, Topologies(), Three), func(s *proc.Starter) cluster.Provider {
		return cluster.Embedded{Starter: s, Command: func(_, _, addr string) (*exec.Cmd, error) {
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), serveAt+"="+addr)
			return cmd, nil
		}}
	}).Elections()
}
