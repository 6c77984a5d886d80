package suite

import (
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
)

// Ensembles are what the docs say of locks in sessions, on ZooKeeper and etcd: the rows of
// docs/ensembles.md, in that order. They hold with every seed.
func Ensembles() []Case {
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
func ensembleControls() []Case {
	var out []Case
	for _, b := range []struct{ name, three string }{{"zk-sequential", "zk-three"}, {"etcd-lock-rpc", "etcd-three"}} {
		for _, fault := range []string{"none", "client-kill", "server-restart", "partition-client"} {
			out = append(out, Case{
				Name: b.name + "/" + fault, Text: "a lock that is right, on one server", Expect: passes(),
				Run: MustLine("--backend " + b.name + " --nemesis " + fault + " " + onSingle),
			})
		}
		for _, fault := range []string{"leader-kill", "leader-isolate", "leader-isolate:mode=loss", "quorum-loss", "partition-client"} {
			out = append(out, Case{
				Name: b.name + "/" + strings.NewReplacer(":", "-", "=", "-").Replace(fault) + "/three", Text: "a lock that is right, on an ensemble of three", Expect: passes(),
				Run: MustLine("--backend " + b.name + " --topology " + b.three + " --nemesis " + fault + " " + onThree),
			})
		}
	}
	return out
}

// inherentLoss is two holders and a lost update that any lease has.
func inherentLoss() Expectation {
	return Expectation{
		Exit:     codes{harness.ExitViolation},
		Verdicts: verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Fail, checker.DataFenced: checker.Pass},
		Classes:  classes{checker.MutualExclusion: checker.Inherent, checker.DataPlain: checker.Inherent},
	}
}

func sessionPauses() []Case {
	const pause = " --nemesis client-pause:at=before-write " + onSingle
	var out []Case
	for _, b := range []string{"zk-sequential", "etcd-mutex"} {
		out = append(out,
			Case{
				Name: b + "/pause", Text: "a client is paused beyond its session: two holders, and an update is lost",
				Run: MustLine("--backend " + b + pause), Expect: inherentLoss(),
			},
			Case{
				Name: b + "/pause-fenced", Text: "the same with czxid or create revision as the token: the fence keeps the data",
				Run: MustLine("--backend " + b + " --fencing on" + pause), Expect: passes(),
			})
	}
	return append(out, Case{
		Name: "zk-sequential/data-version", Text: "the data version of a fresh node is always 0: it is no token",
		Run: MustLine("--backend zk-sequential:token=version --nemesis none " + onSingle), Expect: fails(checker.FencingTokens),
	})
}

func sessionSignals() []Case {
	const cut = " --nemesis partition-client:at=acquired,for=3ttl,every=5ttl --workload counter:hold=3ttl --clients 3 --time 10s"
	return []Case{
		{
			Name: "lost-on-expiry", Text: "a client that is cut off, and goes on until a server tells it that its session has expired: two holders",
			Run: MustLine("--backend zk-sequential:lost-on=expiry" + cut), Expect: Expectation{
				Exit: codes{harness.ExitViolation}, Verdicts: verdicts{checker.MutualExclusion: checker.Fail},
				Rules: rules{checker.MutualExclusion: {"late-notice"}},
			},
		},
		{
			Name: "lost-on-disconnect", Text: "the same client stops when its connection is lost: never two",
			Run: MustLine("--backend zk-sequential:lost-on=disconnect" + cut), Expect: passes(),
		},
	}
}

func flawedQueues() []Case {
	const kill = " --nemesis client-kill:at=waiting --workload counter:try=0,hold=1.5ttl --time 10s"
	return []Case{
		{
			Name: "norecheck/queue", Text: "a waiter dies, and the one behind it takes that for its turn",
			Run: MustLine("--backend zk-sequential-norecheck" + kill), Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "norecheck/herd", Text: "all are woken, and each takes the lock for its own",
			Run: MustLine("--backend zk-exclusive-norecheck" + kill), Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "seed001/missed", Text: "the notice comes between exists() and wait(): the lock is dead for as long as that session lives",
			Run:    MustLine("--backend zk-seed001 --nemesis client-stall:at=between-exists-and-wait,for=1ttl " + onSingle),
			Expect: fails(checker.Liveness),
		},
	}
}

func readersAndWriters() []Case {
	var out []Case
	for _, fault := range []string{"none", "client-kill", "flap"} {
		out = append(out, Case{
			Name: "zk-rwlock/" + fault, Text: "readers together, writers alone", Expect: passes(),
			Run: MustLine("--backend zk-rwlock --workload rwlock --nemesis " + fault + " " + onSingle),
		})
	}
	return out
}

// guardedData are writes that the store refuses to a client which has lost the lock, under every fault of the
// catalogue that can work on the store.
func guardedData() []Case {
	var out []Case
	kept := Expectation{Verdicts: verdicts{checker.DataFenced: checker.Pass}}
	cat := harness.Default()
	for _, fault := range cat.Nemeses.All() {
		top, err := harness.Where(cat, "etcd-txn", fault.Name)
		if err != nil {
			continue
		}
		if top == "etcd-single" {
			out = append(out, Case{
				Name: "etcd-txn/" + fault.Name, Text: "each write asks for the lock's key in its own transaction: no update is lost",
				Run: MustLine("--backend etcd-txn --fencing on --nemesis " + fault.Name + " " + onSingle), Expect: kept,
			})
		}
		if top != "etcd-single" || fault.Name == "chaos" {
			out = append(out, Case{
				Name: "etcd-txn/" + fault.Name + "/three", Text: "the same on a cluster of three",
				Run: MustLine("--backend etcd-txn --topology etcd-three --fencing on --nemesis " + fault.Name + " " + onThree), Expect: kept,
			})
		}
	}
	return append(out, Case{
		Name: "zk-sequential/register", Text: "data in ZooKeeper, written together with a check of the lock's node: no update is lost",
		Run: MustLine("--backend zk-sequential --register zk --fencing on --nemesis client-pause:at=before-write " + onSingle), Expect: kept,
	})
}
