package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// libraryCells are findings in libraries that docs/libraries.md explains, and what is inherent to them.
func libraryCells() []suite.Case {
	inherent := ofClass(checker.Inherent)
	return []suite.Case{
		{
			Name: "retried-ghost", Text: "the answer to a SET NX is lost, and the repeated SET NX finds the key of the first SET NX: lockstorm records an unknown outcome, and no client can get the lock until this key expires (after one TTL)",
			Run:    suite.MustLine("--backend redis-lua --nemesis lost-reply:at=before-acquire --time 9s --seed 3"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass}, Rules: map[string][]string{checker.Liveness: {"orphan"}}},
		},
		{
			Name: "redislock-prefix", Text: "redislock lets a client take over a held lock if the holder's token begins with the client's own token",
			Run:    suite.MustLine("--backend redislock --workload counter:token=prefix --time 3s --seed 3"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "redsync-pause", Text: "redsync: a holder is paused until its lease is over, and two clients believe that they hold the lock (every lock with a lease allows this)",
			Run: suite.MustLine("--backend redsync --nemesis client-pause --time 4s --seed 3"), Expect: inherent,
		},
		{
			Name: "redislock-pause", Text: "redislock: a holder is paused until its lease is over, and two clients believe that they hold the lock (every lock with a lease allows this)",
			Run: suite.MustLine("--backend redislock --nemesis client-pause --time 4s --seed 3"), Expect: inherent,
		},
	}
}
