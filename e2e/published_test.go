//go:build fast || track

package e2e

import "github.com/lockstorm/lockstorm/checker"

// published is a failure that somebody described, and the command that shows it.
type published struct {
	what   string
	source string
	cell
}

const (
	kleppmann = "[Kleppmann 2016](https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html)"
	redlockDo = "[Redis docs, Redlock](https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/)"
	setDocs   = "[Redis docs, SET](https://redis.io/docs/latest/commands/set/)"
	setnxDocs = "[Redis docs, SETNX](https://redis.io/docs/latest/commands/setnx/)"
	kingsbury = "[Kingsbury 2013](https://aphyr.com/posts/283-jepsen-redis)"
	waitDocs  = "[Redis docs, WAIT](https://redis.io/docs/latest/commands/wait/)"
	// threeOfFive has c1 granted by three of five nodes: it does not reach the other two.
	threeOfFive = "--clients 3 --time 5s --nemesis partition-client:clients=c1,nodes=redis-4+redis-5,at=before-acquire,for=4s,every=10s "
)

type verdicts = map[string]checker.Verdict

var trackRecord = []published{
	{
		"a client is paused between its check and its write; its lease runs out, and it writes", kleppmann,
		cell{args: "--backend redis-lua --nemesis client-pause:at=before-write --time 4s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail, "data-plain": checker.Fail}, class: map[string]checker.Class{"data-plain": checker.Inherent}},
	},
	{
		"the same with fencing tokens: the resource refuses token 33 after it has seen 34", kleppmann,
		cell{args: "--backend redis-fenced --nemesis client-pause:at=before-write --time 4s", exit: 1, checks: verdicts{"data-plain": checker.Fail, "data-fenced": checker.Pass}, atLeast: map[string]int64{"fence_refused": 1}, atMost: map[string]int64{"updates_lost_fenced": 0}},
	},
	{
		"a write is delayed in the network until its lease is over", kleppmann,
		cell{args: "--backend redis-lua --nemesis packet-delay --time 4s", exit: 1, checks: verdicts{"data-plain": checker.Fail}, class: map[string]checker.Class{"data-plain": checker.Inherent}},
	},
	{
		"Redlock: a client is paused until the keys have expired", kleppmann,
		cell{args: "--backend redlock --nemesis client-pause:at=before-write --time 4s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Inherent}},
	},
	{
		"Redlock: the clock of one of its three nodes jumps", kleppmann,
		cell{args: "--backend redlock " + threeOfFive + "--nemesis clock-jump:clients=c1,grant=3,nodes=1,every=10s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	},
	{
		"Redlock: one of its three nodes restarts without persistence", kleppmann,
		cell{args: "--backend redlock " + threeOfFive + "--nemesis server-restart:clients=c1,grant=3,nodes=1,at=acquired,every=10s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	},
	{
		"the same with delayed restarts: safe", redlockDo,
		cell{args: "--backend redlock-delayed --clients 3 --time 11s --nemesis partition-client:clients=c1,nodes=redis-4+redis-5,at=before-acquire,for=6s,every=10s --nemesis server-restart:clients=c1,grant=3,nodes=1,at=acquired,every=7s", exit: 0, checks: verdicts{"mutual-exclusion": checker.Pass}},
	},
	{
		"Redlock: the clocks of three of five nodes jump by 15 s", redlockDo,
		cell{args: "--backend redlock --nemesis clock-jump:nodes=3,by=15s --time 3s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	},
	{
		"Redlock: the clocks of two of five nodes jump, under a grant by all five: safe", redlockDo,
		cell{args: "--backend redlock --nemesis clock-jump:nodes=2,by=15s --time 4s", exit: 0},
	},
	{
		"Redlock: a minority dies and comes back: safe", redlockDo,
		cell{args: "--backend redlock --topology redis-five-aof --nemesis server-kill:nodes=2 --time 5s", exit: 0},
	},
	{
		"the master dies before its replica has the lock", redlockDo,
		cell{args: "--backend redis-sentinel --nemesis failover-kill", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	},
	{
		"the same with WAIT: not granted without a replica", waitDocs,
		cell{args: "--backend redis-sentinel-wait --nemesis failover-kill", exit: 0},
	},
	{
		"split brain: the old master is isolated with some clients, a new one is promoted for the others", kingsbury,
		cell{args: "--backend redis-sentinel --nemesis isolate-master --time 9s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	},
	{
		"after a fail-over the same fencing token is issued again", kleppmann,
		cell{args: "--backend redis-fenced --topology redis-sentinel --nemesis failover-kill", exit: 1, checks: verdicts{"fencing-tokens": checker.Fail, "data-fenced": checker.Pass}},
	},
	{
		"a fence that only wants tokens that are not lower accepts it", kleppmann,
		cell{args: "--backend redis-fenced --topology redis-sentinel --nemesis failover-kill --workload counter:fence=at-least", exit: 1, checks: verdicts{"fencing-tokens": checker.Fail, "data-fenced": checker.Fail}},
	},
	{
		"a late DEL deletes the lock of the next holder", setDocs,
		cell{args: "--backend redis-del --nemesis client-pause:at=before-release,every=2ttl --time 6s", exit: 1, checks: verdicts{"ownership": checker.Fail}, class: map[string]checker.Class{"ownership": checker.Defect}},
	},
	{
		"GET, compare, DEL is not atomic", setDocs,
		cell{args: "--backend redis-get-del --nemesis client-pause:at=between-get-and-del,every=2ttl --time 6s", exit: 1, checks: verdicts{"ownership": checker.Fail}},
	},
	{
		"SETNX without a time to live: a dead holder blocks all", setnxDocs,
		cell{args: "--backend redis-setnx --nemesis client-kill --time 3s", exit: 1, checks: verdicts{"liveness": checker.Fail}},
	},
	{
		"SETNX and then EXPIRE: a death between the two blocks all", setnxDocs,
		cell{args: "--backend redis-setnx-expire --nemesis client-kill --time 3s", exit: 1, checks: verdicts{"liveness": checker.Fail}},
	},
	{
		"the server restarts without persistence and has forgotten the lock", redlockDo,
		cell{args: "--backend redis-lua --nemesis server-restart --ttl 3s --time 4s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	},
	{
		"memory runs short and the lock is evicted", "[Redis docs, eviction](https://redis.io/docs/latest/develop/reference/eviction/)",
		cell{args: "--backend redis-lua --nemesis evict --time 3s", exit: 1, checks: verdicts{"mutual-exclusion": checker.Fail}, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	},
}
