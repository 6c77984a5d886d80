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

// asked is what f finds out with a client of the server.
func asked[T any](a admin, f func(c *goredis.Client) (T, error)) (T, error) {
	c := goredis.NewClient(adminOptions(a.addr()))
	defer c.Close() //nolint:errcheck // it was only asked
	return f(c)
}

// info is a section of INFO.
func (a admin) info(ctx context.Context, section string) (string, error) {
	return asked(a, func(c *goredis.Client) (string, error) { return c.Info(ctx, section).Result() })
}

// Role is what the server says of itself.
func (a store) Role(ctx context.Context) (string, error) {
	info, err := a.info(ctx, "replication")
	switch {
	case err != nil:
		return "", err
	case infoField(info, "role") == "slave":
		return history.RoleReplica, nil
	}
	return history.RoleMaster, nil // also the embedded server, which has no other
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
func (a store) Clock(ctx context.Context) (time.Time, error) {
	return asked(a.admin, func(c *goredis.Client) (time.Time, error) { return c.Time(ctx).Result() })
}

// Followers counts the replicas that are online.
func (a store) Followers(ctx context.Context) (int, error) {
	info, err := a.info(ctx, "replication")
	return strings.Count(info, "state=online"), err
}

// warmKey is written to see how far replicas have come.
const warmKey = "lockstorm:warm"

// InSync writes a key and waits until the replicas have it: then they have all before it.
func (a store) InSync(ctx context.Context, replicas int) (bool, string, error) {
	have, err := asked(a.admin, func(c *goredis.Client) (int64, error) {
		var wait *goredis.Cmd
		if _, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error {
			p.Set(ctx, warmKey, 1, 0)
			wait = p.Do(ctx, "WAIT", replicas, (adminTimeout / 4).Milliseconds())
			return nil
		}); err != nil {
			return 0, err
		}
		return wait.Int64()
	})
	if err != nil {
		return false, "", err
	}
	info, err := a.info(ctx, "replication")
	return have >= int64(replicas) && strings.Count(info, "state=online") >= replicas,
		fmt.Sprintf("%d of %d replicas have received all of the master's writes up to offset %s", have, replicas,
			infoField(info, "master_repl_offset")), err
}

// Has says which of the keys exist.
func (a store) Has(ctx context.Context, keys []string) ([]string, error) {
	return asked(a.admin, func(c *goredis.Client) (found []string, err error) {
		for _, key := range keys {
			n, err := c.Exists(ctx, key).Result()
			if err != nil {
				return found, err
			}
			if n > 0 {
				found = append(found, key)
			}
		}
		return found, nil
	})
}

// Delete deletes keys.
func (a store) Delete(ctx context.Context, keys []string) (int64, error) {
	return asked(a.admin, func(c *goredis.Client) (int64, error) { return c.Del(ctx, keys...).Result() })
}

// Flush deletes everything.
func (a store) Flush(ctx context.Context) (int64, error) {
	return asked(a.admin, func(c *goredis.Client) (int64, error) {
		n, err := c.DBSize(ctx).Result()
		if err != nil {
			return 0, err
		}
		return n, c.FlushAll(ctx).Err()
	})
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
