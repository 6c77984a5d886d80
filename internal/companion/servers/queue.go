package servers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockstorm/lockstorm/internal/campaign/queue"
)

// queueTime is how long the server of a queue may take: after a crash it reads its streams.
const queueTime = time.Minute

// serveQueue is the server of a campaign, as the first line of input says. It says in a line where it listens or why it does
// not, and goes on until its input ends.
func serveQueue() error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // lockstorm has to end first
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var c queue.Serving
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	var said queue.Served
	s, err := startQueue(&c)
	if err != nil {
		said.Error = err.Error()
	} else {
		said.URL = s.ClientURL()
	}
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil || s == nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	s.Shutdown()
	s.WaitForShutdown()
	return err
}

// startQueue starts the server. It writes to disk before it answers (SyncAlways), so that what it has acknowledged survives its
// death and that of its machine.
func startQueue(c *queue.Serving) (*server.Server, error) {
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
	if !s.ReadyForConnections(queueTime) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("--embed %s: the server did not accept connections within %v", c.Addr, queueTime)
	}
	return s, nil
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
