package harness

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/cluster"
)

// On a busy host a server may stand still while the set is still coming together. No Sentinel
// replaces the master for that, and one that has lost count of time (TILT, half a minute long)
// does not begin a run.
func TestSentinelsComeTogetherOnABusyHost(t *testing.T) {
	for name, stall := range map[string]time.Duration{"redis-1": 1500 * time.Millisecond, "sentinel-2": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startServers(t, stallsAtStart(t, "redis-sentinel", name, stall), "process")
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			leader, err := c.Fleet().Master(ctx)
			if err != nil || leader.Name() != "redis-1" {
				t.Errorf("the master is %v, %v", leader, err)
			}
			for _, s := range c.Servers() {
				if s.Recipe().Role == redis.RoleSentinel {
					watches(t, ctx, s.Addr())
				}
			}
		})
	}
}

// watches fails the test unless a Sentinel keeps time, and takes silence for death when it should.
func watches(t *testing.T, ctx context.Context, addr string) {
	t.Helper()
	c := goredis.NewSentinelClient(&goredis.Options{Addr: addr})
	defer c.Close() //nolint:errcheck // it was only asked
	info := goredis.NewStringCmd(ctx, "info", "sentinel")
	if err := c.Process(ctx, info); err != nil || !strings.Contains(info.Val(), "sentinel_tilt:0") {
		t.Errorf("%s: %q, %v", addr, info.Val(), err)
	}
	m, err := c.Master(ctx, "lockstorm").Result()
	if after, _ := strconv.Atoi(m["down-after-milliseconds"]); err != nil || after < 100 || after > 1000 {
		t.Errorf("%s waits %s ms, %v", addr, m["down-after-milliseconds"], err)
	}
}

// silent waits until a Sentinel has not heard of a server for a while.
func silent(t *testing.T, ctx context.Context, sentinel, node string, long time.Duration) {
	c := goredis.NewSentinelClient(&goredis.Options{Addr: sentinel})
	defer c.Close() //nolint:errcheck // it was only asked
	for {
		seen, err := []map[string]string(nil), error(nil)
		if node == "redis-1" {
			var m map[string]string
			m, err = c.Master(ctx, "lockstorm").Result()
			seen = append(seen, m)
		} else {
			seen, err = c.Sentinels(ctx, "lockstorm").Result()
		}
		if err != nil {
			t.Error(err)
			return
		}
		for _, s := range seen { // of the others it hears
			if ms, err := strconv.Atoi(s["last-ok-ping-reply"]); err == nil && time.Duration(ms)*time.Millisecond >= long {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Error(ctx.Err())
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stallsAtStart is a topology one of whose servers stands still for a while before the first look
// at whether all have found each other.
func stallsAtStart(t *testing.T, topology, node string, stall time.Duration) cluster.Topology {
	t.Helper()
	top, err := plainCatalogue().Topologies.Get(topology)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	for i := range top.Nodes {
		if r := &top.Nodes[i]; r.Name == node {
			ready := r.Ready
			r.Ready = func(ctx context.Context, addr string, id int) error { pid = id; return ready(ctx, addr, id) }
		}
	}
	ready, once := top.Ready, sync.Once{}
	top.Ready = func(ctx context.Context, addrs map[string]string) error {
		once.Do(func() {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
			silent(t, ctx, addrs["sentinel-1"], node, stall)
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		})
		return ready(ctx, addrs)
	}
	return top
}
