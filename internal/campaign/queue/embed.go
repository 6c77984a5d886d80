package queue

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Embedded is the server inside our binary.
type Embedded struct {
	s       *server.Server
	secured bool
}

// Serving is how the embedded server is started.
type Serving struct {
	Addr      string // to listen on
	Dir       string // of its data
	Token     string // that clients must show; empty: none
	Cert, Key string // of TLS; empty: none
	Room      int64  // bytes on disk, at most
}

// startTime is how long the server may take: after a crash it reads its streams.
const startTime = time.Minute

// Serve starts the server. It writes to disk before it answers (SyncAlways), so that what it has acknowledged survives its death
// and that of its machine.
func Serve(c Serving) (*Embedded, error) {
	host, text, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return nil, fmt.Errorf("--embed %s: write HOST:PORT, such as 127.0.0.1:4222", c.Addr)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("--embed %s: %q is not a port number", c.Addr, text)
	}
	l, err := net.Listen("tcp", c.Addr) // the server itself would say nothing, and wait
	if err != nil {
		return nil, fmt.Errorf("--embed %s: %w", c.Addr, err)
	}
	if err := l.Close(); err != nil {
		return nil, err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if c.Token == "" && !loopback(host) {
		return nil, fmt.Errorf("--embed %s: programs on other machines can reach this address, and could change the results. Set the "+
			"environment variable LOCKSTORM_QUEUE_TOKEN to the same secret here and for all workers", c.Addr)
	}
	opts := &server.Options{
		ServerName: "lockstorm-campaign", Host: host, Port: port, JetStream: true, StoreDir: c.Dir, NoSigs: true, NoLog: true,
		SyncAlways:         true,
		JetStreamMaxMemory: maxMemory, JetStreamMaxStore: c.Room, Authorization: c.Token,
	}
	if c.Cert != "" {
		if opts.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: c.Cert, KeyFile: c.Key}); err != nil {
			return nil, fmt.Errorf("--embed-cert: %w", err)
		}
		opts.TLS = true
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("--embed %s: %w", c.Addr, err)
	}
	s.Start()
	if !s.ReadyForConnections(startTime) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("--embed %s: the server did not accept connections within %v", c.Addr, startTime)
	}
	return &Embedded{s, c.Cert != ""}, nil
}

const maxMemory = 64 << 20

// loopback reports whether only this machine can reach an address.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// URL is where it listens.
func (e *Embedded) URL() string { return e.s.ClientURL() }

// Open connects to it from inside this process.
func (e *Embedded) Open(ctx context.Context, token string) (*Queue, error) {
	opts := []nats.Option{nats.InProcessServer(e.s)}
	if e.secured { // nothing of this connection leaves the process, so that there is nobody to be told apart
		opts = append(opts, nats.Secure(&tls.Config{InsecureSkipVerify: true})) //nolint:gosec // see above
	}
	return connect(ctx, Access{URL: e.URL(), Token: token}, opts...)
}

// Stop ends it, and waits until it has written everything.
func (e *Embedded) Stop() {
	e.s.Shutdown()
	e.s.WaitForShutdown()
}
