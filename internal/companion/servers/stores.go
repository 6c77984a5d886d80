package servers

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.etcd.io/etcd/server/v3/embed"
)

// etcd is a member, in the folder of its node, until ctx ends.
func etcd(ctx context.Context, config string) error {
	cfg, err := embed.ConfigFromFile(config)
	if err != nil {
		return err
	}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("embedded etcd: %w", err)
	}
	defer e.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.Err():
		return err
	}
}

// startTimeout is how long a server of NATS may take until it accepts connections.
const startTimeout = 10 * time.Second

// nats is a server, in the folder of its node, until ctx ends.
func nats(ctx context.Context, config string) error {
	opts, err := server.ProcessConfigFile(config)
	if err != nil {
		return err
	}
	opts.NoSigs = true
	s, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("cannot start the embedded NATS server at %s:%d: %w", opts.Host, opts.Port, err)
	}
	s.ConfigureLogger()
	go s.Start()
	if !s.ReadyForConnections(startTimeout) {
		return fmt.Errorf("the embedded NATS server at %s:%d did not accept connections within %v", opts.Host, opts.Port, startTimeout)
	}
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}
