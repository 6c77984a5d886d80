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
			Name: "retried-ghost", Text: "a SET NX that is sent again finds its own key: the client is told that it was refused, on record its outcome is unknown, and the key is an orphan for one ttl",
			Run:    suite.MustLine("--backend redis-lua --nemesis lost-reply:at=before-acquire --time 9s --seed 3"),
			Expect: suite.Expectation{Exit: codes{harness.ExitPass}, Rules: map[string][]string{checker.Liveness: {"orphan"}}},
		},
		{
			Name: "rueidislock-late", Text: "rueidislock under a black hole tells its user half a ttl late",
			Run:    suite.MustLine("--backend rueidislock --nemesis partition-client:mode=blackhole,at=acquired,for=3ttl --workload counter:hold=2.5ttl --time 8s --seed 3"),
			Expect: late,
		},
		{
			Name: "redislock-prefix", Text: "redislock takes over a lock whose token begins with its own",
			Run:    suite.MustLine("--backend redislock --workload counter:token=prefix --time 3s --seed 3"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "redsync-pause", Text: "redsync under a pause: inherent to leases",
			Run: suite.MustLine("--backend redsync --nemesis client-pause --time 4s --seed 3"), Expect: inherent,
		},
		{
			Name: "redislock-pause", Text: "redislock under a pause: inherent to leases",
			Run: suite.MustLine("--backend redislock --nemesis client-pause --time 4s --seed 3"), Expect: inherent,
		},
		{
			Name: "rueidislock-stall", Text: "rueidislock extends while the section hangs",
			Run: suite.MustLine("--backend rueidislock --nemesis client-stall --time 4s --seed 3"), Expect: passes(),
		},
		{
			Name: "rueidislock-pause", Text: "rueidislock under a pause: inherent to leases",
			Run: suite.MustLine("--backend rueidislock --nemesis client-pause --time 4s --seed 3"), Expect: inherent,
		},
		{
			Name: "rueidislock-asleep", Text: "rueidislock: after a server was away for two times to live, all waiting clients sleep forever",
			Run: suite.MustLine("--backend rueidislock" + away), Expect: fails(checker.Liveness),
		},
		{
			Name: "rueidislock-no-cache", Text: "the same without client-side caching: waiting clients ask again",
			Run: suite.MustLine("--backend rueidislock:disable-cache=yes" + away), Expect: passes(),
		},
	}
}
