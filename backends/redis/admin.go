package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// admin asks and tells a server past all links, as an operator would on its host. Every
// call has a connection of its own.
type admin struct{ addr func() string }

// storeAdmin is what a server with data can do, sentinelAdmin what a Sentinel can.
func storeAdmin(addr func() string) any    { return store{admin{addr}} }
func sentinelAdmin(addr func() string) any { return supervisor{admin{addr}} }

type (
	store      struct{ admin }
	supervisor struct{ admin }
)

var (
	_ cluster.Roler      = store{}
	_ cluster.Timer      = store{}
	_ cluster.Leader     = store{}
	_ cluster.Keeper     = store{}
	_ cluster.Tenant     = store{}
	_ cluster.Forgetter  = store{}
	_ cluster.Evictor    = store{}
	_ cluster.Supervisor = supervisor{}
)

const adminTimeout = time.Second // for one answer

func adminOptions(addr string) *goredis.Options {
	return &goredis.Options{
		Addr: addr, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true, PoolSize: 1,
		DialTimeout: adminTimeout, ReadTimeout: adminTimeout, WriteTimeout: adminTimeout, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// with calls f with a client of the server.
func (a admin) with(f func(c *goredis.Client) error) error {
	c := goredis.NewClient(adminOptions(a.addr()))
	defer c.Close() //nolint:errcheck // it was only asked
	return f(c)
}

// Role is what the server says of itself.
func (a store) Role(ctx context.Context) (role string, err error) {
	err = a.with(func(c *goredis.Client) error {
		info, err := c.Info(ctx, "replication").Result()
		switch {
		case err != nil:
			return err
		case infoField(info, "role") == "slave":
			role = history.RoleReplica
		default:
			role = history.RoleMaster // also the embedded server, which has no other
		}
		return nil
	})
	return role, err
}

// infoField is one line of INFO.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return v
		}
	}
	return ""
}

// Clock is the server's wall clock.
func (a store) Clock(ctx context.Context) (t time.Time, err error) {
	err = a.with(func(c *goredis.Client) error {
		t, err = c.Time(ctx).Result()
		return err
	})
	return t, err
}

// Followers counts the replicas that are online.
func (a store) Followers(ctx context.Context) (n int, err error) {
	err = a.with(func(c *goredis.Client) error {
		info, err := c.Info(ctx, "replication").Result()
		n = strings.Count(info, "state=online")
		return err
	})
	return n, err
}

// warmKey is written to see how far replicas have come.
const warmKey = "lockstorm:warm"

// InSync writes a key and waits until the replicas have it: then they have all before it.
func (a store) InSync(ctx context.Context, replicas int) (ok bool, text string, err error) {
	err = a.with(func(c *goredis.Client) error {
		var wait *goredis.Cmd
		if _, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error {
			p.Set(ctx, warmKey, 1, 0)
			wait = p.Do(ctx, "WAIT", replicas, (adminTimeout / 4).Milliseconds())
			return nil
		}); err != nil {
			return err
		}
		have, err := wait.Int64()
		if err != nil {
			return err
		}
		info, err := c.Info(ctx, "replication").Result()
		ok = have >= int64(replicas) && strings.Count(info, "state=online") >= replicas
		text = fmt.Sprintf("%d of %d replicas have received all of the master's writes up to offset %s", have, replicas,
			infoField(info, "master_repl_offset"))
		return err
	})
	return ok, text, err
}

// Has says which of the keys exist.
func (a store) Has(ctx context.Context, keys []string) (found []string, err error) {
	err = a.with(func(c *goredis.Client) error {
		for _, key := range keys {
			n, err := c.Exists(ctx, key).Result()
			if err != nil {
				return err
			}
			if n > 0 {
				found = append(found, key)
			}
		}
		return nil
	})
	return found, err
}

// Delete deletes keys.
func (a store) Delete(ctx context.Context, keys []string) (n int64, err error) {
	err = a.with(func(c *goredis.Client) error {
		n, err = c.Del(ctx, keys...).Result()
		return err
	})
	return n, err
}

// Flush deletes everything.
func (a store) Flush(ctx context.Context) (n int64, err error) {
	err = a.with(func(c *goredis.Client) error {
		if n, err = c.DBSize(ctx).Result(); err != nil {
			return err
		}
		return c.FlushAll(ctx).Err()
	})
	return n, err
}

// infoNumber is a number of INFO.
func infoNumber(ctx context.Context, c *goredis.Client, section, name string) (int64, error) {
	info, err := c.Info(ctx, section).Result()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(infoField(info, name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the server's answer to INFO contains no number in the field %s", name)
	}
	return n, nil
}

// replicasReady waits until the replicas of the first node follow it.
func replicasReady(nodes int) func(context.Context, map[string]string) error {
	return func(ctx context.Context, addrs map[string]string) error {
		ok, text, err := store{at(addrs[nodeName(0)])}.InSync(ctx, nodes-1)
		if err == nil && !ok {
			err = errors.New(text)
		}
		return err
	}
}

// at is the admin of a server that is at an address now.
func at(addr string) admin { return admin{func() string { return addr }} }
