package cases

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Short names for the data of this package.
type (
	codes    = []int
	verdicts = map[string]checker.Verdict
	classes  = map[string]checker.Class
	figures  = map[string]suite.Bound
	rules    = map[string][]string
)

// Where failures were published.
const (
	kleppmann = "[Kleppmann 2016](https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html)"
	redlockDo = "[Redis docs, Redlock](https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/)"
	setDocs   = "[Redis docs, SET](https://redis.io/docs/latest/commands/set/)"
	setnxDocs = "[Redis docs, SETNX](https://redis.io/docs/latest/commands/setnx/)"
	kingsbury = "[Kingsbury 2013](https://aphyr.com/posts/283-jepsen-redis)"
	waitDocs  = "[Redis docs, WAIT](https://redis.io/docs/latest/commands/wait/)"
	eviction  = "[Redis docs, eviction](https://redis.io/docs/latest/develop/reference/eviction/)"
)

// Published are the failures, and cures, that somebody described: the rows of
// docs/track-record.md, in that order. They hold with every seed.
func Published() []suite.Case {
	return slices.Concat(publishedPauses(), publishedRedlock(), publishedFailovers(), publishedProtocols(), publishedStores(), publishedSessions())
}

// doubleHolder is a violation in which two clients hold the lock, all of one class.
func doubleHolder(class checker.Class) suite.Expectation {
	return violates(verdicts{checker.MutualExclusion: checker.Fail}, classes{checker.MutualExclusion: class})
}

// violates is a violation with the verdicts and the classes that checks must give.
func violates(v verdicts, c classes) suite.Expectation {
	return suite.Expectation{Exit: codes{harness.ExitViolation}, Verdicts: v, Classes: c}
}

// fails is a violation that a check must find.
func fails(check string) suite.Expectation { return violates(verdicts{check: checker.Fail}, nil) }

// passes is a run without a violation, of which nothing stayed unknown.
func passes() suite.Expectation { return suite.Expectation{Exit: codes{harness.ExitPass}} }

func publishedPauses() []suite.Case {
	return []suite.Case{
		{
			Name: "pause-before-write", Source: kleppmann,
			Text: "a client checks its lease, sleeps through it, and still writes",
			Run:  suite.MustLine("--backend redis-lua --nemesis client-pause:at=before-write --time 4s"),
			Expect: violates(verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Fail},
				classes{checker.DataPlain: checker.Inherent}),
		},
		{
			Name: "pause-before-write-fenced", Source: kleppmann,
			Text: "the fence refuses the write of such a client",
			Run:  suite.MustLine("--backend redis-fenced --nemesis client-pause:at=before-write --time 4s"),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitViolation},
				Verdicts: verdicts{checker.DataPlain: checker.Fail, checker.DataFenced: checker.Pass},
				Figures:  figures{"fence_refused": suite.AtLeast(1), "updates_lost_fenced": suite.AtMost(0)},
			},
		},
		{
			Name: "write-delayed", Source: kleppmann,
			Text:   "the network delays a write until the lease is over",
			Run:    suite.MustLine("--backend redis-lua --nemesis packet-delay --time 4s"),
			Expect: violates(verdicts{checker.DataPlain: checker.Fail}, classes{checker.DataPlain: checker.Inherent}),
		},
		{
			Name: "redlock-pause", Source: kleppmann,
			Text:   "Redlock: a client sleeps through its lease: two holders",
			Run:    suite.MustLine("--backend redlock --nemesis client-pause:at=before-write --time 4s"),
			Expect: doubleHolder(checker.Inherent),
		},
	}
}

// threeOfFive has c1 granted by three of five nodes: for so long it does not reach the
// other two.
func threeOfFive(long string) string {
	return "--clients 3 --nemesis partition-client:clients=c1,nodes=redis-4+redis-5,at=before-acquire,for=" + long + ",every=10s "
}

func publishedRedlock() []suite.Case {
	return []suite.Case{
		{
			Name: "redlock-clock-of-one-in-three", Source: kleppmann,
			Text:   "Redlock: three of five nodes grant; one's clock jumps: two holders",
			Run:    suite.MustLine("--backend redlock --time 5s " + threeOfFive("4s") + "--nemesis clock-jump:clients=c1,grant=3,nodes=1,every=10s"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "redlock-restart-of-one-in-three", Source: kleppmann,
			Text:   "Redlock: three of five nodes grant; one restarts without persistence: two holders",
			Run:    suite.MustLine("--backend redlock --time 5s " + threeOfFive("4s") + "--nemesis server-restart:clients=c1,grant=3,nodes=1,at=acquired,every=10s"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "redlock-delayed-restart", Source: redlockDo,
			Text: "Redlock that ignores a restarted node for one ttl: no second holder",
			Run:  suite.MustLine("--backend redlock-delayed --time 11s " + threeOfFive("6s") + "--nemesis server-restart:clients=c1,grant=3,nodes=1,at=acquired,every=7s"),
			Expect: suite.Expectation{
				Exit:     codes{harness.ExitPass},
				Verdicts: verdicts{checker.MutualExclusion: checker.Pass},
			},
		},
		{
			Name: "redlock-clocks-of-three-in-five", Source: redlockDo,
			Text:   "Redlock: the clocks of three of five nodes jump: two holders",
			Run:    suite.MustLine("--backend redlock --nemesis clock-jump:nodes=3,by=15s --time 3s"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "redlock-clocks-of-two-in-five", Source: redlockDo,
			Text:   "Redlock: all five nodes grant, two clocks jump: no second holder",
			Run:    suite.MustLine("--backend redlock --nemesis clock-jump:nodes=2,by=15s --time 4s"),
			Expect: passes(),
		},
		{
			Name: "redlock-minority-dies", Source: redlockDo,
			Text:   "Redlock: two of five nodes die and come back: no second holder",
			Run:    suite.MustLine("--backend redlock --topology redis-five-aof --nemesis server-kill:nodes=2 --time 5s"),
			Expect: passes(),
		},
	}
}

func publishedFailovers() []suite.Case {
	return []suite.Case{
		{
			Name: "failover-loses-the-lock", Source: redlockDo,
			Text:   "Sentinel: the master dies before its replica has the lock: two holders",
			Run:    suite.MustLine("--backend redis-sentinel --nemesis failover-kill"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "failover-with-wait", Source: waitDocs,
			Text:   "Sentinel with WAIT: the lock survives the master's death",
			Run:    suite.MustLine("--backend redis-sentinel-wait --nemesis failover-kill"),
			Expect: passes(),
		},
		{
			Name: "split-brain", Source: kingsbury,
			Text:   "Sentinel, split brain: clients of both masters hold the lock",
			Run:    suite.MustLine("--backend redis-sentinel --nemesis leader-isolate --time 9s"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "failover-repeats-tokens", Source: kleppmann,
			Text:   "Sentinel: after a fail-over a fencing token is issued again",
			Run:    suite.MustLine("--backend redis-fenced --topology redis-sentinel --nemesis failover-kill"),
			Expect: violates(verdicts{checker.FencingTokens: checker.Fail, checker.DataFenced: checker.Pass}, nil),
		},
		{
			Name: "repeated-tokens-pass-a-weak-fence", Source: kleppmann,
			Text:   "Sentinel: a fence that accepts equal tokens accepts both holders",
			Run:    suite.MustLine("--backend redis-fenced --topology redis-sentinel --nemesis failover-kill --workload counter:fence=at-least"),
			Expect: violates(verdicts{checker.FencingTokens: checker.Fail, checker.DataFenced: checker.Fail}, nil),
		},
	}
}

func publishedProtocols() []suite.Case {
	return []suite.Case{
		{
			Name: "late-del", Source: setDocs,
			Text:   "a late DEL deletes the next holder's lock",
			Run:    suite.MustLine("--backend redis-del --nemesis client-pause:at=before-release,every=2ttl --time 6s"),
			Expect: violates(verdicts{checker.Ownership: checker.Fail}, classes{checker.Ownership: checker.Defect}),
		},
		{
			Name: "get-compare-del", Source: setDocs,
			Text:   "GET, compare and DEL deletes the next holder's lock",
			Run:    suite.MustLine("--backend redis-get-del --nemesis client-pause:at=between-get-and-del,every=2ttl --time 6s"),
			Expect: fails(checker.Ownership),
		},
		{
			Name: "setnx-holder-dies", Source: setnxDocs,
			Text:   "SETNX without a time to live: a dead holder blocks everybody",
			Run:    suite.MustLine("--backend redis-setnx --nemesis client-kill --time 3s"),
			Expect: fails(checker.Liveness),
		},
		{
			Name: "setnx-then-expire", Source: setnxDocs,
			Text:   "SETNX, then EXPIRE: a client that dies in between blocks everybody",
			Run:    suite.MustLine("--backend redis-setnx-expire --nemesis client-kill --time 3s"),
			Expect: fails(checker.Liveness),
		},
	}
}

func publishedStores() []suite.Case {
	return []suite.Case{
		{
			Name: "restart-forgets-the-lock", Source: redlockDo,
			Text:   "Redis without persistence restarts and forgets the lock: two holders",
			Run:    suite.MustLine("--backend redis-lua --nemesis server-restart --ttl 3s --time 4s"),
			Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "lock-is-evicted", Source: eviction,
			Text:   "Redis runs short of memory and evicts the lock: two holders",
			Run:    suite.MustLine("--backend redis-lua --nemesis evict --time 3s"),
			Expect: doubleHolder(checker.Defect),
		},
	}
}
