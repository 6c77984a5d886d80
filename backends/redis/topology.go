package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/backends/cluster"
)

// Names of the topologies.
const (
	Single    = "redis-single"
	SingleAOF = "redis-single-aof"
)

// singleNode is the name of the only server of redis-single.
const singleNode = "redis-1"

// Topologies are the sets of Redis servers that the locks run on.
func Topologies() []cluster.Topology {
	return []cluster.Topology{
		{
			Name: Single, Doc: "one Redis server that keeps nothing on disk: a restart loses every lock",
			Nodes:    []cluster.Recipe{node(singleNode, persistNothing, ServeEmbedded)},
			Recovery: time.Second,
		},
		{
			Name: SingleAOF, Doc: "one Redis server that appends every write to disk before it answers (appendfsync always)",
			Nodes:    []cluster.Recipe{node(singleNode, persistAlways, nil)},
			Recovery: time.Second,
		},
	}
}

const (
	persistNothing = "save \"\"\nappendonly no\n"
	// No automatic rewrite: it would fork a child that does not die with the server.
	persistAlways = "save \"\"\nappendonly yes\nappendfsync always\nauto-aof-rewrite-percentage 0\n"
	// The server runs in its own folder: no path needs to be quoted.
	baseConfig = "bind {{.Host}}\nport {{.Port}}\ndir ./\ndaemonize no\nprotected-mode yes\n"
)

func node(name, persistence string, embedded func(context.Context, string) error) cluster.Recipe {
	return cluster.Recipe{
		Name: name, Role: "master", Binary: "redis-server", Package: "redis-server",
		Version: []string{"--version"},
		Args:    []string{"redis.conf"},
		Files:   map[string]string{"redis.conf": baseConfig + persistence},
		Ready:   ready, Embedded: embedded,
	}
}

// ready asks the server for its process id: an answer from another server that took
// the port does not count.
func ready(ctx context.Context, addr string, pid int) error {
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // a probe
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(conn, "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "+PONG") {
		return fmt.Errorf("answers %q to PING", strings.TrimSpace(line))
	}
	return sameProcess(r, pid)
}

func sameProcess(r *bufio.Reader, pid int) error {
	head, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(head, "$") {
		return nil // the embedded server has no INFO server: nothing to compare
	}
	size, err := strconv.Atoi(strings.TrimSpace(head[1:]))
	if err != nil {
		return err
	}
	for read := 0; read < size; {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		read += len(line)
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "process_id:"); ok && id != strconv.Itoa(pid) {
			return fmt.Errorf("process %s answers, not %d", id, pid)
		}
	}
	return nil
}

// ServeEmbedded serves the Redis protocol from inside our own binary until ctx ends.
// Keys expire by the real clock, checked at every access, never early. Nothing is kept.
func ServeEmbedded(ctx context.Context, addr string) error {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.StartAddr(addr); err != nil {
		return fmt.Errorf("embedded redis at %s: %w", addr, err)
	}
	defer m.Close()
	<-ctx.Done()
	return nil
}
