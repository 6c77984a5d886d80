package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/cluster"
)

const (
	fillRoom = 512 << 10 // how far above its present use the server may fill up
	fillSize = 8 << 10   // of a key that fills
	fillMax  = 4000      // keys: 32 MB at most

	toldWithin = 200 * time.Millisecond // of an eviction
)

// policies are those by which a lock can be evicted.
var policies = []string{
	"volatile-ttl", "volatile-lru", "volatile-lfu", "volatile-random", "allkeys-lru", "allkeys-lfu",
	"allkeys-random",
}

// Evict sets a limit just above the memory in use and writes until the keys are gone.
func (a store) Evict(ctx context.Context, policy string, keys []string) (string, error) {
	policy = cmp.Or(policy, policies[0])
	return asked(a.admin, func(c *goredis.Client) (string, error) {
		used, err := infoNumber(ctx, c, "memory", "used_memory")
		if err != nil {
			return "", err
		}
		evictions, err := listen(ctx, c)
		if err != nil {
			return "", err
		}
		defer evictions.Close() //nolint:errcheck // it only listened
		limit := used + fillRoom
		for _, set := range [][2]string{{"maxmemory-policy", policy}, {"maxmemory", strconv.FormatInt(limit, 10)}} {
			if err := c.ConfigSet(ctx, set[0], set[1]).Err(); err != nil {
				return "", fmt.Errorf("cannot set %s to %s: %w", set[0], set[1], err)
			}
		}
		written, err := fill(ctx, c, keys)
		if err != nil {
			return "", fmt.Errorf("%s: %w", policy, err)
		}
		return fmt.Sprintf("the policy %s evicted %s after lockstorm had written %d other keys of %d kB each (maxmemory %d kB)", policy,
			strings.Join(keys, ", "), written, fillSize>>10, limit>>10), sawAll(ctx, evictions, keys)
	})
}

// listen subscribes to what the server evicts: a key that is gone may also have been given
// back.
func listen(ctx context.Context, c *goredis.Client) (*goredis.PubSub, error) {
	if err := c.ConfigSet(ctx, "notify-keyspace-events", "Ee").Err(); err != nil {
		return nil, fmt.Errorf("cannot enable notices of evictions: %w", err)
	}
	sub := c.Subscribe(ctx, "__keyevent@0__:evicted")
	if _, err := sub.Receive(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot subscribe to notices of evictions: %w", err), sub.Close())
	}
	return sub, nil
}

// sawAll reads notices until all keys were evicted; it returns cluster.ErrNotEvicted if one went for another reason.
func sawAll(ctx context.Context, sub *goredis.PubSub, keys []string) error {
	left := slices.Clone(keys)
	for len(left) > 0 {
		told, err := sub.ReceiveTimeout(ctx, toldWithin)
		if err != nil && ctx.Err() == nil && errors.Is(err, os.ErrDeadlineExceeded) {
			return cluster.ErrNotEvicted
		}
		if err != nil {
			return fmt.Errorf("cannot receive notices of evictions: %w", err)
		}
		if m, ok := told.(*goredis.Message); ok {
			left = slices.DeleteFunc(left, func(key string) bool { return key == m.Payload })
		}
	}
	return nil
}

func fillKey(i int) string { return fmt.Sprintf("lockstorm:fill:%d", i) }

// fill writes until the keys are gone, and says how many keys that took.
func fill(ctx context.Context, c *goredis.Client, keys []string) (int, error) {
	body := strings.Repeat("x", fillSize)
	for i := range fillMax {
		if err := c.Set(ctx, fillKey(i), body, 0).Err(); err != nil && !strings.HasPrefix(err.Error(), "OOM") {
			return i, err
		}
		n, err := c.Exists(ctx, keys...).Result()
		if err != nil {
			return i, err
		}
		if n == 0 {
			return i + 1, nil
		}
	}
	return fillMax, fmt.Errorf("the server did not evict %s, although lockstorm had written %d other keys of %d kB each",
		strings.Join(keys, ", "), fillMax, fillSize>>10)
}

// MakeRoom takes the limit and the filling away.
func (a store) MakeRoom(ctx context.Context) error {
	keys := make([]string, fillMax)
	for i := range keys {
		keys[i] = fillKey(i)
	}
	_, err := asked(a.admin, func(c *goredis.Client) (any, error) {
		return nil, errors.Join(c.ConfigSet(ctx, "maxmemory", "0").Err(), c.Del(ctx, keys...).Err())
	})
	return err
}
