package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	goredis "github.com/redis/go-redis/v9"
)

// Master is whom a Sentinel takes for the master.
func (s supervisor) Master(ctx context.Context) (master string, err error) {
	c := goredis.NewSentinelClient(adminOptions(s.addr()))
	defer c.Close() //nolint:errcheck // as above
	at, err := c.GetMasterAddrByName(ctx, MasterName).Result()
	if err != nil || len(at) != 2 {
		return "", errors.Join(err, errors.New("the Sentinel names no master"))
	}
	return at[0] + ":" + at[1], nil
}

// Promote tells a Sentinel to replace the master.
func (s supervisor) Promote(ctx context.Context) error {
	c := goredis.NewSentinelClient(adminOptions(s.addr()))
	defer c.Close() //nolint:errcheck // as above
	return c.Failover(ctx, MasterName).Err()
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
	return pace(ctx, addr)
}

// pace sets the periods of a Sentinel.
func pace(ctx context.Context, addr string) error {
	err := debug(ctx, addr, "PUBLISH-PERIOD", 500, "INFO-PERIOD", 1000, "PING-PERIOD", 300, "TILT-PERIOD", 30_000)
	var reply goredis.Error
	if errors.As(err, &reply) {
		return bePatient(ctx, addr)
	}
	return err
}

func debug(ctx context.Context, addr string, settings ...any) error {
	_, err := asked(at(addr), func(c *goredis.Client) (any, error) {
		return c.Do(ctx, append([]any{"SENTINEL", "DEBUG"}, settings...)...).Result()
	})
	return err
}

// patience is what a Sentinel that asks every second, or as often as it gives up, waits
// longer.
const patience = 1000

// bePatient has a Sentinel wait longer for an answer. It may be told again.
func bePatient(ctx context.Context, addr string) error {
	c := goredis.NewSentinelClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // it was only told
	m, err := c.Master(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	after, err := strconv.Atoi(m["down-after-milliseconds"])
	if err != nil || after > patience {
		return err
	}
	return c.Set(ctx, MasterName, "down-after-milliseconds", strconv.Itoa(after+patience)).Err()
}

// sentinelReady waits until the replicas follow, and every Sentinel sees them and the
// other Sentinels alive and knows the time. Then it lets them go.
func sentinelReady(ctx context.Context, addrs map[string]string) error {
	if err := replicasReady(3)(ctx, addrs); err != nil {
		return err
	}
	for i := range sentinels {
		if err := seesAll(ctx, sentinelName(i), addrs[sentinelName(i)]); err != nil {
			return err
		}
	}
	if err := allKeepTime(ctx, addrs); err != nil {
		return err
	}
	for i := range sentinels {
		if err := letGo(ctx, i, addrs[sentinelName(i)]); err != nil {
			return err
		}
	}
	return allKeepTime(ctx, addrs) // one may have stood still meanwhile
}

func allKeepTime(ctx context.Context, addrs map[string]string) error {
	for i := range sentinels {
		if err := keepsTime(ctx, sentinelName(i), addrs[sentinelName(i)]); err != nil {
			return err
		}
	}
	return nil
}

// keepsTime says whether a Sentinel watches. One that stood still for two seconds does not (TILT), for
// half a minute, which nobody has to wait for before a run begins; but Redis before version 7 has no setting for that.
func keepsTime(ctx context.Context, name, addr string) error {
	info, err := at(addr).info(ctx, "sentinel")
	if err != nil || infoField(info, "sentinel_tilt") == "0" {
		return err
	}
	var reply goredis.Error
	if err := debug(ctx, addr, "TILT-PERIOD", 1); err != nil && !errors.As(err, &reply) {
		return err
	}
	return fmt.Errorf("the Sentinel %s does not watch the master at the moment: it is in TILT mode, because its process had "+
		"stopped or its clock had jumped", name)
}

// letGo has a Sentinel replace a master that is down from now on.
func letGo(ctx context.Context, index int, addr string) error {
	c := goredis.NewSentinelClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // it was only told
	if err := c.Set(ctx, MasterName, "down-after-milliseconds", strconv.Itoa(downAfter(index))).Err(); err != nil {
		return err
	}
	return pace(ctx, addr)
}

func seesAll(ctx context.Context, name, addr string) error {
	c := goredis.NewSentinelClient(adminOptions(addr))
	defer c.Close() //nolint:errcheck // it was only asked
	m, err := c.Master(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	if m["flags"] != "master" || m["num-slaves"] != "2" || m["num-other-sentinels"] != strconv.Itoa(sentinels-1) {
		return fmt.Errorf("%s reports a master with the flags %s (expected: only the flag master), number of replicas: %s (expected: "+
			"2), number of other Sentinels: %s (expected: 2)", name, m["flags"], m["num-slaves"], m["num-other-sentinels"])
	}
	others, err := c.Sentinels(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	replicas, err := c.Replicas(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	for _, o := range others {
		if o["flags"] != "sentinel" {
			return fmt.Errorf("%s reports that another Sentinel has the flags %s (expected: only the flag sentinel)", name, o["flags"])
		}
	}
	for _, r := range replicas {
		if r["flags"] != "slave" || r["master-link-status"] != "ok" {
			return fmt.Errorf("%s reports that a replica has the flags %s and the link status %s (expected: only the flag slave, and "+
				"the link status ok)", name, r["flags"], r["master-link-status"])
		}
	}
	return nil
}
