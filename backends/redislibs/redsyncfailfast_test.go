package redislibs

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	pools "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis "github.com/redis/go-redis/v9"
)

// slowNet is a network on which two of five nodes are far away for a moment: what left for them is on its way. Others
// are not asked before. In the next try the nodes that refuse it are asked first.
type slowNet struct {
	scripts atomic.Bool    // those that run a script, from now on
	onWay   sync.WaitGroup // until both requests have left
	deliver chan struct{}  // closed: what is on its way arrives
	again   atomic.Bool    // the next try
	refused sync.WaitGroup // until two nodes have answered it
}

// dial connects to a node that is far away, or that refuses the next try, or to any other.
func (n *slowNet) dial(far, refuses bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &slowConn{Conn: c, n: n, far: far, refuses: refuses}, err
	}
}

type slowConn struct {
	net.Conn
	n            *slowNet
	far, refuses bool
	asked        bool // what comes is the refusal
}

func (c *slowConn) Write(b []byte) (int, error) {
	command := bytes.ToLower(b)
	switch {
	case c.n.again.Load() && bytes.Contains(command, []byte("\r\nnx\r\n")):
		if c.asked = c.refuses; !c.refuses {
			c.n.refused.Wait()
		}
		return c.Conn.Write(b)
	case !c.n.scripts.Load() || !bytes.Contains(command, []byte("evalsha")):
		return c.Conn.Write(b)
	case !c.far:
		c.n.onWay.Wait()
		return c.Conn.Write(b)
	}
	late := bytes.Clone(b)
	go func() {
		<-c.n.deliver
		_, _ = c.Conn.Write(late) // its sender may have gone
	}()
	c.n.onWay.Done()
	return len(b), nil
}

func (c *slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.asked {
		c.asked = false
		c.n.refused.Done()
	}
	return n, err
}

// With WithFailFast a try that failed does not wait until its deletions have arrived, and the next try uses
// the same value: a deletion that is late deletes what the next try was granted. Two hold the lock, and
// no server has failed: docs/libraries.md tells of it. Without the option it is right.
func TestRedsyncFailFastDeletesWhatALaterTryTook(t *testing.T) {
	for _, failFast := range []bool{true, false} {
		t.Run(fmt.Sprint(failFast), func(t *testing.T) {
			const name, ttl = "lock", 20 * time.Second
			slow := &slowNet{deliver: make(chan struct{})}
			slow.onWay.Add(2)
			slow.refused.Add(2)
			servers, ours, others := fiveServers(t, slow)
			mutex := func(p []redsyncredis.Pool, o ...redsync.Option) *redsync.Mutex {
				return redsync.New(p...).NewMutex(name, append(o, redsync.WithExpiry(ttl))...)
			}
			must := func(_ bool, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			before := mutex(others) // after it the servers know the scripts
			must(true, before.Lock())
			must(before.Unlock())
			holder := mutex(others)
			must(true, holder.Lock())
			slow.scripts.Store(true)
			if !failFast {
				close(slow.deliver) // every node is waited for
			}
			// The nodes have half of the ttl: a busy host is no reason to give one up.
			mine := mutex(ours, redsync.WithFailFast(failFast), redsync.WithTimeoutFactor(0.5), redsync.WithTries(2),
				redsync.WithRetryDelayFunc(func(int) time.Duration {
					slow.onWay.Wait() // both deletions of the first try
					slow.scripts.Store(false)
					must(holder.Unlock())
					for _, s := range servers[1:3] { // another one has just asked these two, and will give up
						must(true, s.Set(name, "another"))
					}
					slow.again.Store(true)
					return time.Millisecond
				}))
			must(true, mine.Lock())
			for _, s := range servers[1:3] {
				s.Del(name)
			}
			if failFast {
				close(slow.deliver)
				for servers[3].Exists(name) || servers[4].Exists(name) {
					if <-time.After(time.Millisecond); time.Now().After(mine.Until()) {
						t.Fatal("the deletions never arrived")
					}
				}
			}
			err := mutex(others).TryLock()
			if two := err == nil && time.Now().Before(mine.Until()); two != failFast {
				t.Errorf("two hold the lock: %v, want %v (%v)", two, failFast, err)
			}
		})
	}
}

// fiveServers are five nodes, and connections to them: by our network, on which two of them are far away, and by others'.
func fiveServers(t *testing.T, slow *slowNet) (servers []*miniredis.Miniredis, ours, others []redsyncredis.Pool) {
	for i := range 5 {
		s := miniredis.RunT(t)
		servers = append(servers, s)
		pool := func(o goredis.Options) redsyncredis.Pool {
			o.Addr, o.ReadTimeout = s.Addr(), -1 // none
			c := goredis.NewClient(&o)
			t.Cleanup(func() { _ = c.Close() })
			if err := c.Ping(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			return pools.NewPool(c)
		}
		others = append(others, pool(goredis.Options{}))
		ours = append(ours, pool(goredis.Options{Dialer: slow.dial(i >= 3, i == 1 || i == 2)}))
	}
	return servers, ours, others
}
