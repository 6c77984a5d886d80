package redis

import (
	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// RedlockMutants are Redlocks with one thing wrong each.
func RedlockMutants() []backends.Spec {
	blind := goredis.NewScript("return redis.call('DEL', KEYS[1])")
	mutants := map[string]redlockOption{
		"redlock-minority":       func(r *redlock) { r.quorum = 2 },
		"redlock-blind-release":  func(r *redlock) { r.release = blind },
		"redlock-first-node":     func(r *redlock) { r.nodes, r.quorum = r.nodes[:1], 1 },
		"redlock-hasty-delayed":  func(r *redlock) { r.quarantine, r.env.TTL = false, 0 },
		"redlock-different-five": func(r *redlock) { r.nodes = append(r.nodes[len(r.nodes)-2:], r.nodes[0]); r.quorum = 1 },
	}
	var out []backends.Spec
	for name, m := range mutants {
		out = append(out, backends.Spec{
			Name: name, Doc: "a mutant", Topologies: []string{Five}, Ends: history.EndsLease, Keys: Keys, Open: openRedlock(m),
		})
	}
	return out
}
