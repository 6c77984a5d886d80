package cases

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
			Name: "zk-pause", Text: "a client is paused until its session has expired: two clients believe that they hold the lock, and an update is lost",
			Run: suite.MustLine("--backend zk-sequential --nemesis client-pause:at=before-write --time 5s --seed 1"), Expect: inherentLoss(),
		},
		{
			Name: "zk-expiry", Text: "a client that is cut off learns late that its session has expired: until then it uses the lock, although another client already holds the lock",
			Run:    suite.MustLine("--backend zk-sequential:lost-on=expiry --nemesis partition-client:at=acquired,for=3ttl,every=5ttl --workload counter:hold=3ttl --clients 3 --time 6s --seed 1"),
			Expect: suite.Expectation{Exit: codes{harness.ExitViolation}, Rules: rules{checker.MutualExclusion: {"late-notice"}}},
		},
		{
			Name: "zk-leader-kill", Text: "a ZooKeeper ensemble of three servers loses its leader: two clients never hold the lock at once",
			Run: suite.MustLine("--backend zk-sequential --topology zk-three --nemesis leader-kill --time 10s --seed 1"), Expect: passes(),
		},
		{
			Name: "etcd-embedded", Text: "embedded etcd: a client is paused until its lease is over, and no update is lost, because the create revision of the lock's key serves as the fencing token",
			Run: suite.MustLine("--backend etcd-mutex --provider embedded --fencing on --nemesis client-pause --time 5s --seed 1"), Expect: passes(),
		},
		{
			Name: "etcd-leader-isolate", Text: "the leader of three etcd servers is cut off with half of the clients: the cut-off leader grants no lock",
			Run: suite.MustLine("--backend etcd-lock-rpc --topology etcd-three --nemesis leader-isolate --time 10s --seed 1"), Expect: passes(),
		},
		{
			Name: "etcd-election-expired", Text: "clients are paused while they wait in an etcd election, and win the election although their session has expired",
			Run:    suite.MustLine("--backend etcd-election --nemesis client-pause:at=random,clients=half,for=2.5ttl --time 9s --seed 1"),
			Expect: fails(checker.LockLinearizability),
		},
		{
			Name: "etcd-txn-chaos", Text: "the fault `chaos` strikes clients, network links and servers: etcd loses no update, because each write is in one transaction with the check of the lock's key",
			Run:    suite.MustLine("--backend etcd-txn --fencing on --nemesis chaos --time 8s --seed 1"),
			Expect: suite.Expectation{Verdicts: verdicts{checker.DataFenced: checker.Pass}},
		},
	}
}
