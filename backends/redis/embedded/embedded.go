// Package embedded lets you test what package redis has (add [Part] in place of its) with a server inside the program, for hosts
// without redis-server. That server keeps nothing, has no replicas, and is not Redis: a lock that passes on it may still fail on
// Redis.
package embedded

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis"
)

// Part returns the part of package redis; topologies of independent servers that keep nothing can also be embedded.
func Part() backends.Part {
	p := redis.Part()
	for _, t := range p.Topologies {
		if t.Name != redis.Single && t.Name != redis.Five {
			continue
		}
		for i := range t.Nodes {
			t.Nodes[i].Embedded, t.Nodes[i].EmbeddedVersion = Serve, "embedded in lockstorm (miniredis)"
		}
	}
	return p
}

// Serve serves the Redis protocol at addr until ctx ends. Keys expire by the real clock, checked at every access,
// never early. Nothing is kept.
func Serve(ctx context.Context, addr string) error {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.StartAddr(addr); err != nil {
		return fmt.Errorf("cannot start the embedded Redis server at %s: %w", addr, err)
	}
	defer m.Close()
	<-ctx.Done()
	return nil
}
