package zookeeper

import (
	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Mutants are queues of readers and writers with one thing wrong each.
func Mutants() []backends.Spec {
	var out []backends.Spec
	rw := backends.Spec{}
	for _, s := range Specs() {
		if s.Name == "zk-rwlock" {
			rw = s
		}
	}
	for name, f := range map[string]flaw{
		"zk-rwlock-reader": readersIgnoreWriters, "zk-rwlock-writer": writersIgnoreReaders, "zk-rwlock-downgrade": downgradeLetsIn,
	} {
		m := spec(name, "a mutant: "+string(f), rw.Params, func(s *session, v catalog.Values) backends.Locker {
			return &queue{session: s, token: v[paramToken], recheck: true, shared: true, flaw: f}
		})
		m.Model = rw.Model
		out = append(out, m)
	}
	return out
}
