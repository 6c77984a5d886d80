package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/suite"
)

// Where failures of locks in sessions were published.
const (
	curatorTN = "[Curator, Tech Note 10](https://curator.apache.org/docs/tech-note-10)"
	zkRecipes = "[ZooKeeper recipes](https://zookeeper.apache.org/doc/current/recipes.html)"
	jepsen343 = "[Jepsen, etcd 3.4.3](https://jepsen.io/analyses/etcd-3.4.3)"
)

// publishedSessions are those of ZooKeeper and etcd.
func publishedSessions() []suite.Case {
	const (
		pause  = " --nemesis client-pause:at=before-write --time 8s"
		longer = " --nemesis client-pause:at=before-write,for=3s,every=4s --time 9s --ttl "
		crowd  = " --workload handoff --clients 10 --ttl 10s --time 5s"
		dies   = " --nemesis client-kill:at=waiting --workload counter:try=0,hold=1.5ttl --time 10s"
	)
	herd, queue, fenced, guarded := passes(), passes(), passes(), passes()
	fenced.Figures = figures{"fence_refused": suite.AtLeast(1), "updates_lost_fenced": suite.AtMost(0)}
	guarded.Figures = figures{"updates_acked": suite.AtLeast(1), "updates_lost_fenced": suite.AtMost(0)}
	herd.Figures, queue.Figures = figures{figNotices: suite.AtLeast(200)}, figures{figNotices: suite.AtMost(150)}
	return []suite.Case{
		{
			Name: "zk-pause-beyond-session", Source: curatorTN,
			Text: "ZooKeeper: a client sleeps through its session: two holders, an update is lost",
			Run:  suite.MustLine("--backend zk-sequential" + pause), Expect: inherentLoss(),
		},
		{
			Name: "zk-pause-fenced", Source: kleppmann,
			Text: "ZooKeeper: with the zxid as fencing token the late write is refused",
			Run:  suite.MustLine("--backend zk-sequential --fencing on" + pause), Expect: fenced,
		},
		{
			Name: "zk-herd", Source: zkRecipes,
			Text: "ZooKeeper: all clients watch one node: each release wakes all of them",
			Run:  suite.MustLine("--backend zk-exclusive" + crowd), Expect: herd,
		},
		{
			Name: "zk-no-herd", Source: zkRecipes,
			Text: "ZooKeeper: each client watches the one before it: a release wakes one",
			Run:  suite.MustLine("--backend zk-sequential" + crowd), Expect: queue,
		},
		{
			Name: "zk-waiter-dies", Source: zkRecipes,
			Text: "ZooKeeper: a waiter dies, and the next takes the lock unchecked: two holders",
			Run:  suite.MustLine("--backend zk-sequential-norecheck" + dies), Expect: doubleHolder(checker.Defect),
		},
		{
			Name: "etcd-pause-beyond-lease", Source: jepsen343,
			Text: "etcd: a client with a lease of 1 s sleeps for 3 s: an update is lost",
			Run:  suite.MustLine("--backend etcd-mutex" + longer + "1s"), Expect: inherentLoss(),
		},
		{
			Name: "etcd-pause-within-lease", Source: jepsen343,
			Text: "etcd: a client with a lease of 8 s sleeps for 3 s: nothing is lost",
			Run:  suite.MustLine("--backend etcd-mutex" + longer + "8s"), Expect: passes(),
		},
		{
			Name: "etcd-guarded", Source: jepsen343,
			Text: "etcd: writes in a transaction that checks the lock's key: nothing is lost",
			Run:  suite.MustLine("--backend etcd-txn --fencing on" + longer + "1s"), Expect: guarded,
		},
	}
}
