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
)

// admin asks and tells a server past all links, as an operator would on its host. Every
// call has a connection of its own.
type admin struct{}

var (
	_ cluster.Store      = admin{}
	_ cluster.Supervisor = admin{}
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
func (a admin) with(addr string, f func(c *goredis.Client) error) error {
	c := goredis.NewClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // it was only asked
	return f(c)
}

// Role is what the server says of itself.
func (a admin) Role(ctx context.Context, addr string) (role string, err error) {
	err = a.with(addr, func(c *goredis.Client) error {
		info, err := c.Info(ctx, "replication").Result()
		switch {
		case err != nil:
			return err
		case infoField(info, "role") == "slave":
			role = cluster.RoleReplica
		default:
			role = cluster.RoleMaster // also the embedded server, which has no other
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
func (a admin) Clock(ctx context.Context, addr string) (t time.Time, err error) {
	err = a.with(addr, func(c *goredis.Client) error {
		t, err = c.Time(ctx).Result()
		return err
	})
	return t, err
}

// Followers counts the replicas that are online.
func (a admin) Followers(ctx context.Context, addr string) (n int, err error) {
	err = a.with(addr, func(c *goredis.Client) error {
		info, err := c.Info(ctx, "replication").Result()
		n = strings.Count(info, "state=online")
		return err
	})
	return n, err
}

// warmKey is written to see how far replicas have come.
const warmKey = "lockstorm:warm"

// InSync writes a key and waits until the replicas have it: then they have all before it.
func (a admin) InSync(ctx context.Context, addr string, replicas int) (ok bool, text string, err error) {
	err = a.with(addr, func(c *goredis.Client) error {
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
		text = fmt.Sprintf("%d of %d replicas have all up to offset %s", have, replicas, infoField(info, "master_repl_offset"))
		return err
	})
	return ok, text, err
}

// Has says which of the keys exist.
func (a admin) Has(ctx context.Context, addr string, keys []string) (found []string, err error) {
	err = a.with(addr, func(c *goredis.Client) error {
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
func (a admin) Delete(ctx context.Context, addr string, keys []string) (n int64, err error) {
	err = a.with(addr, func(c *goredis.Client) error {
		n, err = c.Del(ctx, keys...).Result()
		return err
	})
	return n, err
}

// Flush deletes everything.
func (a admin) Flush(ctx context.Context, addr string) (n int64, err error) {
	err = a.with(addr, func(c *goredis.Client) error {
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
		return 0, fmt.Errorf("the server does not say %s", name)
	}
	return n, nil
}

// Master is whom a Sentinel takes for the master.
func (admin) Master(ctx context.Context, addr string) (master string, err error) {
	c := goredis.NewSentinelClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // as above
	at, err := c.GetMasterAddrByName(ctx, masterName).Result()
	if err != nil || len(at) != 2 {
		return "", errors.Join(err, errors.New("the Sentinel names no master"))
	}
	return at[0] + ":" + at[1], nil
}

// FailOver tells a Sentinel to replace the master.
func (admin) FailOver(ctx context.Context, addr string) error {
	c := goredis.NewSentinelClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // as above
	return c.Failover(ctx, masterName).Err()
}

// replicasReady waits until the replicas of the first node follow it.
func replicasReady(nodes int) func(context.Context, map[string]string) error {
	return func(ctx context.Context, addrs map[string]string) error {
		ok, text, err := admin{}.InSync(ctx, addrs[nodeName(0)], nodes-1)
		if err == nil && !ok {
			err = errors.New(text)
		}
		return err
	}
}

// sentinelServes waits until a Sentinel answers, and makes its periods a quarter and less of
// what they are: a master that comes back is a replica after 2 s and not after 8 s. It also
// asks more often than it gives up: else the first PING to a master that was just promoted
// is due when the master is taken for down already, and is replaced at once by another. Not
// more often: five of these periods is how old the last INFO of a replica may be that is to
// be promoted, and INFO comes once a second then.
// Redis before version 7 has no such settings: there a Sentinel must be more patient.
func sentinelServes(ctx context.Context, addr string, pid int) error {
	if err := ready(ctx, addr, pid); err != nil {
		return err
	}
	return admin{}.with(addr, func(c *goredis.Client) error {
		err := c.Do(ctx, "SENTINEL", "DEBUG", "PUBLISH-PERIOD", 500, "INFO-PERIOD", 1000, "PING-PERIOD", 300).Err()
		var reply goredis.Error
		if errors.As(err, &reply) {
			return bePatient(ctx, addr)
		}
		return err
	})
}

// patience is what a Sentinel that asks every second, or as often as it gives up, waits
// longer.
const patience = 1000

// bePatient has a Sentinel wait longer for an answer. It may be told again.
func bePatient(ctx context.Context, addr string) error {
	c := goredis.NewSentinelClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // it was only told
	m, err := c.Master(ctx, masterName).Result()
	if err != nil {
		return err
	}
	after, err := strconv.Atoi(m["down-after-milliseconds"])
	if err != nil || after > patience {
		return err
	}
	return c.Set(ctx, masterName, "down-after-milliseconds", strconv.Itoa(after+patience)).Err()
}

// sentinelReady waits until the replicas follow, and every Sentinel sees them and the
// other Sentinels alive.
func sentinelReady(ctx context.Context, addrs map[string]string) error {
	if err := replicasReady(3)(ctx, addrs); err != nil {
		return err
	}
	for i := range sentinels {
		if err := seesAll(ctx, sentinelName(i), addrs[sentinelName(i)]); err != nil {
			return err
		}
	}
	return nil
}

func seesAll(ctx context.Context, name, addr string) error {
	c := goredis.NewSentinelClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // it was only asked
	m, err := c.Master(ctx, masterName).Result()
	if err != nil {
		return err
	}
	if m["flags"] != "master" || m["num-slaves"] != "2" || m["num-other-sentinels"] != strconv.Itoa(sentinels-1) {
		return fmt.Errorf("%s sees a master that is %s, %s replicas, %s other Sentinels", name, m["flags"], m["num-slaves"], m["num-other-sentinels"])
	}
	others, err := c.Sentinels(ctx, masterName).Result()
	if err != nil {
		return err
	}
	replicas, err := c.Replicas(ctx, masterName).Result()
	if err != nil {
		return err
	}
	for _, o := range others {
		if o["flags"] != "sentinel" {
			return fmt.Errorf("%s sees a Sentinel that is %s", name, o["flags"])
		}
	}
	for _, r := range replicas {
		if r["flags"] != "slave" || r["master-link-status"] != "ok" {
			return fmt.Errorf("%s sees a replica that is %s, its link %s", name, r["flags"], r["master-link-status"])
		}
	}
	return nil
}
