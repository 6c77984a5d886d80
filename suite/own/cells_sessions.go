package own

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// sessionCells are of locks in sessions: what many seeds show in docs/ensembles.md and
// docs/libraries.md, with one.
func sessionCells() []suite.Case {
	return []suite.Case{
		{
			Name: "zk-pause", Text: "a client is paused beyond its session: two holders, and an update is lost",
			Run: suite.MustLine("--backend zk-sequential --nemesis client-pause:at=before-write --time 5s --seed 1"), Expect: inherentLoss(),
		},
		{
			Name: "zk-expiry", Text: "a client that is cut off and goes on until it is told that its session has expired is not the only holder",
			Run:    suite.MustLine("--backend zk-sequential:lost-on=expiry --nemesis partition-client:at=acquired,for=3ttl,every=5ttl --workload counter:hold=3ttl --clients 3 --time 6s --seed 1"),
			Expect: suite.Expectation{Exit: codes{harness.ExitViolation}, Rules: rules{checker.MutualExclusion: {"late-notice"}}},
		},
		{
			Name: "zk-leader-kill", Text: "an ensemble of three loses its leader: two clients never hold the lock at once",
			Run: suite.MustLine("--backend zk-sequential --topology zk-three --nemesis leader-kill --time 10s --seed 1"), Expect: passes(),
		},
		{
			Name: "etcd-embedded", Text: "embedded etcd, a pause beyond its lease, and its create revision as the fence",
			Run: suite.MustLine("--backend etcd-mutex --provider embedded --fencing on --nemesis client-pause --time 5s --seed 1"), Expect: passes(),
		},
		{
			Name: "etcd-leader-isolate", Text: "the leader of three is cut off with half of the clients: the minority grants nothing",
			Run: suite.MustLine("--backend etcd-lock-rpc --topology etcd-three --nemesis leader-isolate --time 10s --seed 1"), Expect: passes(),
		},
		{
			Name: "etcd-election-expired", Text: "clients that are paused while they wait win an election with a session that has expired",
			Run:    suite.MustLine("--backend etcd-election --nemesis client-pause:at=random,clients=half,for=1.5ttl --time 6s --seed 1"),
			Expect: fails(checker.LockLinearizability),
		},
		{
			Name: "etcd-txn-chaos", Text: "data that is written in transactions which check the lock's key: no update is lost",
			Run:    suite.MustLine("--backend etcd-txn --fencing on --nemesis chaos --time 8s --seed 1"),
			Expect: suite.Expectation{Verdicts: verdicts{checker.DataFenced: checker.Pass}},
		},
	}
}
