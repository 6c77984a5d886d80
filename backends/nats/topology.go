package nats

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/cluster"
)

// Single is one server.
const Single = "nats-single"

// Topologies are the sets of NATS servers that the locks run on. The server is a Go library: in
// a child of our own binary it is the real one.
func Topologies() []cluster.Topology {
	return []cluster.Topology{{
		Name: Single, Doc: "one NATS server with JetStream, embedded in lockstorm; its data is on disk and survives a restart",
		Recovery: 2 * time.Second,
		Nodes: []cluster.Recipe{{
			Name: "nats-1", Data: true, Ready: ready, Embedded: serve, EmbeddedVersion: "nats-server " + server.VERSION + ", embedded",
		}},
	}}
}

// startTimeout is how long the embedded server may take until it accepts connections.
const startTimeout = 10 * time.Second

// serve runs the server in the folder of its node until ctx ends.
func serve(ctx context.Context, addr string) error {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "nats-1", Host: host, Port: port, JetStream: true, StoreDir: "jetstream", NoSigs: true,
		JetStreamMaxMemory: maxStore, JetStreamMaxStore: maxStore,
	})
	if err != nil {
		return fmt.Errorf("embedded nats at %s: %w", addr, err)
	}
	s.ConfigureLogger()
	go s.Start()
	if !s.ReadyForConnections(startTimeout) {
		return fmt.Errorf("embedded nats at %s did not accept connections within %v", addr, startTimeout)
	}
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// maxStore bounds what a server holds, in memory and on disk.
const maxStore = 64 << 20

// ready asks whether JetStream answers.
func ready(ctx context.Context, addr string, _ int) error {
	nc, err := natsgo.Connect("nats://"+addr, natsgo.NoReconnect(), natsgo.Timeout(time.Second))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = js.AccountInfo(ctx)
	return err
}
