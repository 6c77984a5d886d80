package own

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// libraryCells are findings in libraries that docs/libraries.md explains, and what is inherent to them.
func libraryCells() []suite.Case {
	const away = " --nemesis server-kill:for=2ttl --workload counter:try=0,hold=0.5ttl --time 4s --seed 1"
	inherent := ofClass(checker.Inherent)
	late := suite.Expectation{
		Exit: codes{harness.ExitViolation}, Verdicts: verdicts{checker.MutualExclusion: checker.Fail},
		Rules: map[string][]string{checker.MutualExclusion: {"late-notice"}},
	}
	return []suite.Case{
		{
			Name: "retried-ghost", Text: "the answer to a SET NX is lost, and the repeated SET NX finds the key of the first SET NX: lockstorm records an unknown outcome, and no client can get the lock until this key expires (after one TTL)",
			Run:    suite.MustLine("--backend redis-lua --nemesis lost-reply:at=before-acquire --time 9s --seed 3"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass}, Rules: map[string][]string{checker.Liveness: {"orphan"}}},
		},
		{
			Name: "rueidislock-late", Text: "the network swallows all packets of the holder (mode=blackhole): rueidislock reports the loss of the lock too late, about 0.5 ttl after the lease has expired",
			Run:    suite.MustLine("--backend rueidislock --nemesis partition-client:mode=blackhole,at=acquired,for=3ttl --workload counter:hold=2.5ttl --time 8s --seed 3"),
			Expect: late,
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
		{
			Name: "rueidislock-stall", Text: "rueidislock extends the lease while a critical section hangs: no violation",
			Run: suite.MustLine("--backend rueidislock --nemesis client-stall --time 4s --seed 3"), Expect: passes(),
		},
		{
			Name: "rueidislock-pause", Text: "rueidislock: a holder is paused until its lease is over, and two clients believe that they hold the lock (every lock with a lease allows this)",
			Run: suite.MustLine("--backend rueidislock --nemesis client-pause --time 4s --seed 3"), Expect: inherent,
		},
		{
			Name: "rueidislock-asleep", Text: "rueidislock: a server is down for 2 ttl, and all waiting clients sleep forever after the restart",
			Run: suite.MustLine("--backend rueidislock" + away), Expect: fails(checker.Liveness),
		},
		{
			Name: "rueidislock-no-cache", Text: "rueidislock without client-side caching: a server is down for 2 ttl, and the waiting clients ask for the lock again after the restart",
			Run: suite.MustLine("--backend rueidislock:disable-cache=yes" + away), Expect: passes(),
		},
	}
}
