package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/suite"
)

// claimsOfQueues are those of ZooKeeper's nodes and watches, and of what waiting costs.
func claimsOfQueues() []Claim {
	const crowd = " --workload handoff --clients 50 --ttl 10s --time 10s"
	return []Claim{
		{
			Number: 8, Text: "a client that fails to take the lock should try again after a random time", Articles: "000",
			Note: "If a client does not get the lock, it waits for some time (a pause), and then tries again. With random pauses, the longest waits for the lock are shorter than with fixed pauses. But if the pauses are random, the clients in these runs send more requests, because random pauses are shorter on average. The length of the pause has no influence on safety.",
			Compares: []Comparison{
				{"the longest waits are shorter with random pauses than with fixed pauses", "wait_p99_ns", "fixed", "jitter", 1.1},
				{"a hand-off of the lock (from one holder to the next) needs fewer requests with random pauses than with fixed pauses", figRequests, "fixed", "jitter", 1.1},
			},
			Runs: []ClaimRun{
				as("jitter", "--backend redis-lua"+crowd, passes(), figRequests, "wait_p50_ns", "wait_p99_ns", figOvertaken),
				as("fixed", "--backend redis-lua:wait=fixed"+crowd, passes(), figRequests, "wait_p50_ns", "wait_p99_ns", figOvertaken),
			},
		},
		{
			Number: 18, Text: "if several clients create the same ephemeral node in ZooKeeper, only one client succeeds", Articles: "000, 001",
			Runs: []ClaimRun{
				as("none", "--backend zk-exclusive --time 4s", passes(), figGrants),
				as("kill", "--backend zk-exclusive --nemesis client-kill --time 7s", passes(), figRecovery),
			},
		},
		{
			Number: 19, Text: "if all clients wait for one ZooKeeper node, a release wakes all waiting clients (the herd effect); in a queue, a release wakes only one client", Articles: "000, 001",
			Note: "A notice is a watch event that the server sends to a client. The picture of claim 19 shows how many notices the server sends per hand-off of the lock (from one holder to the next). If all clients wait for one node, the number of notices grows with the number of clients. If the clients wait in a queue, the number of notices does not grow.",
			Runs: []ClaimRun{
				as("exclusive-10", "--backend zk-exclusive --workload handoff --clients 10 --ttl 10s --time 5s", within(figNotices, suite.AtLeast(500)), figNotices, figRequests),
				as("exclusive-25", "--backend zk-exclusive --workload handoff --clients 25 --ttl 10s --time 8s", within(figNotices, suite.AtLeast(1000)), figNotices, figRequests),
				as("exclusive-50", "--backend zk-exclusive --workload handoff --clients 50 --ttl 10s --time 20s", within(figNotices, suite.AtLeast(1500)), figNotices, figRequests),
				as("sequential-10", "--backend zk-sequential --workload handoff --clients 10 --ttl 10s --time 5s", within(figNotices, suite.AtMost(300)), figNotices, figRequests),
				as("sequential-50", "--backend zk-sequential"+crowd, within(figNotices, suite.AtMost(300)), figNotices, figRequests),
			},
		},
		{
			Number: 20, Text: "in a queue it is enough that each client watches only the client before it", Articles: "all",
			Runs: []ClaimRun{
				as("middle-dies", "--backend zk-sequential --nemesis client-kill:at=waiting,every=2ttl --time 7s", passes(), figRecovery),
				as("flap", "--backend zk-sequential --nemesis flap --time 7s", alone),
			},
		},
		{
			Number: 21, Text: "a waiting client that is woken must check again whether it is first in the queue", Articles: "001, 002, 003",
			Note: "Suppose that woken clients do not check again, and a waiting client in the middle of the queue dies. The next client in the queue is then woken, and takes the lock although another client holds it.",
			Runs: []ClaimRun{
				as("without", "--backend zk-sequential-norecheck --nemesis client-kill:at=waiting --workload counter:try=0,hold=1.5ttl --time 10s", fails(checker.MutualExclusion), "violations"),
				as("with", "--backend zk-sequential --nemesis client-kill:at=waiting --workload counter:try=0,hold=1.5ttl --time 10s", passes()),
			},
		},
		{
			Number: 22, Text: "locks are granted in the order of requests", Articles: "000",
			Note: "The claim is true for queues, including a database's lock queue. The claim is false if waiting clients poll the lock: then the client that polls first after the release gets the lock.",
			Runs: []ClaimRun{
				as("zk-sequential", "--backend zk-sequential"+crowd, within(figOvertaken, suite.AtMost(20)), figOvertaken, "overtaken_max", "wait_p99_ns"),
				as("etcd-mutex", "--backend etcd-mutex"+crowd, within(figOvertaken, suite.AtMost(20)), figOvertaken, "overtaken_max", "wait_p99_ns"),
				as("mariadb-get-lock", "--backend mariadb-get-lock"+crowd, within(figOvertaken, suite.AtMost(50)), figOvertaken, "overtaken_max", "wait_p99_ns"),
				as("postgres-advisory", "--backend postgres-advisory"+crowd, within(figOvertaken, suite.AtMost(50)), figOvertaken, "overtaken_max", "wait_p99_ns"),
				but("redis-lua", "--backend redis-lua"+crowd, within(figOvertaken, suite.AtLeast(100)), within(figOvertaken, suite.AtMost(20)), figOvertaken, "overtaken_max", "wait_p99_ns"),
			},
		},
		{
			Number: 23, Text: "shared and exclusive locks can be built from ZooKeeper nodes whose names begin with read (for a shared lock) or write (for an exclusive lock)", Articles: "000",
			Runs: []ClaimRun{
				as("none", "--backend zk-rwlock --workload rwlock --time 4s", passes(), figGrants),
				as("kill", "--backend zk-rwlock --workload rwlock --nemesis client-kill --time 7s", passes(), figRecovery),
				as("flap", "--backend zk-rwlock --workload rwlock --nemesis flap --time 7s", alone),
			},
		},
		{
			Number: 26, Text: "to wait for the deletion of the preceding node, a ZooKeeper client can call exists() and then wait()", Articles: "001",
			Note: "If the watch event arrives after exists() and before wait(), the client is not waiting yet, and the event has no effect. The client then waits forever.",
			Runs: []ClaimRun{
				but("pause", "--backend zk-seed001 --nemesis client-pause:at=between-exists-and-wait,for=0.5ttl --time 7s", blocksAll, comesBack),
			},
		},
		{
			Number: 27, Text: "a ZooKeeper lock is reentrant if the client remembers its current node", Articles: "001",
			Note: "The holder can acquire the lock a second time. But the release of this second grant deletes the node. So another client gets the lock although the holder has not released its first grant.",
			Runs: []ClaimRun{
				but("zk-seed001", "--backend zk-seed001 --workload reentrant --time 4s", fails(checker.MutualExclusion), alone, "reentries", "violations"),
			},
		},
		{
			Number: 28, Text: "waiting clients should watch the lock instead of polling it", Articles: "001, 002",
			Note: "Clients that watch the lock in a queue get the lock in the order of their requests. But in these runs the watching clients do not send fewer requests than the polling clients. In these runs, the polling clients wait at most 0.2 s between two tries. The time to live of the lock is 10 s. A hand-off of the lock also takes longer if the clients watch the lock than if they poll it.",
			Compares: []Comparison{
				{"the longest waits are longer if the clients poll Redis than if the clients watch etcd", "wait_p99_ns", "redis-polls", "etcd-watches-one", 1.1},
				{"a hand-off of the lock (from one holder to the next) needs fewer requests if the clients wait in a ZooKeeper queue than if the clients poll Redis", figRequests, "redis-polls", "zk-watches-one", 1},
				{"there are more hand-offs of the lock in the same time if the clients wait in a ZooKeeper queue than if the clients poll Redis", figGrants, "zk-watches-one", "redis-polls", 1},
			},
			Runs: []ClaimRun{
				as("redis-polls", "--backend redis-lua"+crowd, passes(), figRequests, figOvertaken, "wait_p50_ns", "wait_p99_ns", figGrants),
				as("zk-watches-one", "--backend zk-sequential"+crowd, passes(), figRequests, figOvertaken, "wait_p50_ns", "wait_p99_ns", figGrants),
				as("zk-watches-all", "--backend zk-exclusive"+crowd, passes(), figRequests, figOvertaken, "wait_p50_ns", "wait_p99_ns", figGrants),
				as("etcd-watches-one", "--backend etcd-mutex"+crowd, passes(), figRequests, figOvertaken, "wait_p50_ns", "wait_p99_ns", figGrants),
			},
		},
	}
}
