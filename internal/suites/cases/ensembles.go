package cases

import (
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Ensembles are what the docs say of locks in sessions, on ZooKeeper and etcd: the rows of
// docs/ensembles.md, in that order. They hold with every seed.
func Ensembles() []suite.Case {
	cases := slices.Concat(ensembleControls(), sessionPauses(), sessionSignals(), flawedQueues(), readersAndWriters(), guardedData())
	for i := range cases {
		cases[i].Name = "sessions/" + cases[i].Name // pairs have the others
	}
	return cases
}

const (
	onSingle = "--time 8s "
	onThree  = "--time 14s "
)

// ensembleControls are right: no violation under any of these.
func ensembleControls() []suite.Case {
	var out []suite.Case
	for _, b := range []struct{ name, three string }{{"zk-sequential", "zk-three"}, {"etcd-lock-rpc", "etcd-three"}} {
		for _, fault := range []string{"none", "client-kill", "server-restart", "partition-client"} {
			out = append(out, suite.Case{
				Name: b.name + "/" + fault, Text: "a correct lock on one server: no violation", Expect: passes(),
				Run: suite.MustLine("--backend " + b.name + " --nemesis " + fault + " " + onSingle),
			})
		}
		for _, fault := range []string{"leader-kill", "leader-isolate", "leader-isolate:mode=loss", "quorum-loss", "partition-client"} {
			out = append(out, suite.Case{
				Name: b.name + "/" + strings.NewReplacer(":", "-", "=", "-").Replace(fault) + "/three", Text: "a correct lock on an ensemble of three servers: no violation", Expect: passes(),
				Run: suite.MustLine("--backend " + b.name + " --topology " + b.three + " --nemesis " + fault + " " + onThree),
			})
		}
	}
	return out
}

// inherentLoss is two holders and a lost update that any lease has.
func inherentLoss() suite.Expectation {
	return violates(verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Fail, checker.DataFenced: checker.Pass},
		classes{checker.MutualExclusion: checker.Inherent, checker.DataPlain: checker.Inherent})
}

func sessionPauses() []suite.Case {
	const pause = " --nemesis client-pause:at=before-write " + onSingle
	var out []suite.Case
	for _, b := range []string{"zk-sequential", "etcd-mutex"} {
		out = append(out,
			suite.Case{
				Name: b + "/pause", Text: "a client is paused until its session has expired: two clients believe that they hold the lock, and an update is lost",
				Run: suite.MustLine("--backend " + b + pause), Expect: inherentLoss(),
			},
			suite.Case{
				Name: b + "/pause-fenced", Text: "a client is paused until its session has expired: no update is lost, because the czxid (ZooKeeper) or the create revision (etcd) serves as the fencing token",
				Run: suite.MustLine("--backend " + b + " --fencing on" + pause), Expect: passes(),
			})
	}
	return append(out, suite.Case{
		Name: "zk-sequential/data-version", Text: "the data version of a ZooKeeper node serves as the fencing token, but a new node always has the data version 0: all grants have the same token",
		Run: suite.MustLine("--backend zk-sequential:token=version --nemesis none " + onSingle), Expect: fails(checker.FencingTokens),
	})
}

func sessionSignals() []suite.Case {
	const cut = " --nemesis partition-client:at=acquired,for=3ttl,every=5ttl --workload counter:hold=3ttl --clients 3 --time 10s"
	return []suite.Case{
		{
			Name: "lost-on-expiry", Text: "a client that is cut off from the servers uses the lock until a server reports that the client's session has expired: two clients believe that they hold the lock",
			Run: suite.MustLine("--backend zk-sequential:lost-on=expiry" + cut), Expect: suite.Expectation{
				Exit: codes{harness.ExitViolation}, Verdicts: verdicts{checker.MutualExclusion: checker.Fail},
				Rules: rules{checker.MutualExclusion: {"late-notice"}},
			},
		},
		{
			Name: "lost-on-disconnect", Text: "a client that is cut off from the servers stops using the lock when it loses its connection: two clients never hold the lock at once",
			Run: suite.MustLine("--backend zk-sequential:lost-on=disconnect" + cut), Expect: passes(),
		},
	}
}

func flawedQueues() []suite.Case {
	const kill = " --nemesis client-kill:at=waiting --workload counter:try=0,hold=1.5ttl --time 10s"
	return []suite.Case{
		{
			Name: "norecheck/queue", Text: "a waiting client dies, and the next client in the queue wrongly believes that it now holds the lock: two clients use the lock at once",
			Run: suite.MustLine("--backend zk-sequential-norecheck" + kill), Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "norecheck/herd", Text: "a release wakes all waiting clients, and each of these clients believes that it holds the lock",
			Run: suite.MustLine("--backend zk-exclusive-norecheck" + kill), Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "seed001/missed", Text: "a notice arrives after a client has called exists() and before the client calls wait(), so the client misses the notice and waits forever: no other client gets the lock while the client's session lives",
			Run:    suite.MustLine("--backend zk-seed001 --nemesis client-stall:at=between-exists-and-wait,for=1ttl " + onSingle),
			Expect: fails(checker.Liveness),
		},
	}
}

func readersAndWriters() []suite.Case {
	var out []suite.Case
	for _, fault := range []string{"none", "client-kill", "flap"} {
		out = append(out, suite.Case{
			Name: "zk-rwlock/" + fault, Text: "several readers hold the lock together, but a writer never shares the lock with another client", Expect: passes(),
			Run: suite.MustLine("--backend zk-rwlock --workload rwlock --nemesis " + fault + " " + onSingle),
		})
	}
	return out
}

// guardedData are writes that the store refuses to a client which has lost the lock, under every fault of the
// catalogue that can work on the store.
func guardedData() []suite.Case {
	var out []suite.Case
	kept := suite.Expectation{Verdicts: verdicts{checker.DataFenced: checker.Pass}}
	cat := harness.New(stores.All()...)
	for _, fault := range cat.Nemeses.All() {
		top, err := harness.Where(cat, "etcd-txn", fault.Name)
		if err != nil {
			continue
		}
		if top == "etcd-single" {
			out = append(out, suite.Case{
				Name: "etcd-txn/" + fault.Name, Text: "etcd: each write is in one transaction with a check that the client still owns the lock's key, so no update is lost",
				Run: suite.MustLine("--backend etcd-txn --fencing on --nemesis " + fault.Name + " " + onSingle), Expect: kept,
			})
		}
		if top != "etcd-single" || fault.Name == "chaos" {
			out = append(out, suite.Case{
				Name: "etcd-txn/" + fault.Name + "/three", Text: "etcd cluster of three servers: each write is in one transaction with a check that the client still owns the lock's key, so no update is lost",
				Run: suite.MustLine("--backend etcd-txn --topology etcd-three --fencing on --nemesis " + fault.Name + " " + onThree), Expect: kept,
			})
		}
	}
	return append(out, suite.Case{
		Name: "zk-sequential/register", Text: "ZooKeeper: each write is in one transaction with a check that the lock's node still exists, so no update is lost",
		Run: suite.MustLine("--backend zk-sequential --register zk --fencing on --nemesis client-pause:at=before-write " + onSingle), Expect: kept,
	})
}
