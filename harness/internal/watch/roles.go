package watch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// roleTick is how late a change may be seen.
const roleTick = 100 * time.Millisecond

// Roles records what the servers that tell their role say of themselves, whenever that
// changes: who is master, and who does not answer. It asks past all links.
func Roles(rec *history.Recorder, servers []*cluster.Server) func() error {
	last := map[string]string{}
	return every(roleTick, func() error {
		roles := rolesOf(servers)
		for _, name := range slices.Sorted(maps.Keys(roles)) {
			role := roles[name]
			if last[name] == role {
				continue
			}
			last[name] = role
			if err := rec.Notice(history.Line{F: history.FRole, Node: name, Value: history.ValueOf(role)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// rolesOf asks all servers that tell it at once: one that is stopped answers nobody.
func rolesOf(servers []*cluster.Server) map[string]string {
	var mu sync.Mutex
	out := map[string]string{}
	var wg sync.WaitGroup
	for _, s := range servers {
		if _, ok := cluster.As[cluster.Roler](s); !ok {
			continue
		}
		wg.Go(func() {
			role := s.Role()
			mu.Lock()
			defer mu.Unlock()
			out[s.Name()] = role
		})
	}
	wg.Wait()
	return out
}
