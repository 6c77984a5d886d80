package cases

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/suite"
)

// claimsOfRedis are those of keys with a time to live.
func claimsOfRedis() []Claim {
	return []Claim{
		{
			Number: 5, Text: "an acquire by SETNX and then EXPIRE is not atomic", Articles: "002, 004",
			Runs: []ClaimRun{as("dies-between", "--backend redis-setnx-expire --nemesis client-kill:at=between-setnx-and-expire --time 4s", blocksAll)},
		},
		{
			Number: 6, Text: "an acquire by SET NX PX is atomic", Articles: "000, 003, 004",
			Runs: []ClaimRun{
				as("redis-del", "--backend redis-del --nemesis client-kill --time 5s", comesBack, figRecovery),
				as("redis-lua", "--backend redis-lua --nemesis client-kill --time 5s", passes(), figRecovery),
			},
		},
		{
			Number: 7, Text: "the value of the lock's key must be random", Articles: "000",
			Note: "If all clients use the same value, a compare-and-delete cannot distinguish the clients. The compare-and-delete can then delete the key of another client, like a DEL without a check.",
			Runs: []ClaimRun{
				as("equal", "--backend redis-lua --workload counter:token=equal --nemesis client-pause:at=before-release,every=2ttl --time 5s", fails(checker.Ownership), "violations"),
				as("unique", "--backend redis-lua --nemesis client-pause:at=before-release,every=2ttl --time 5s", owned),
			},
		},
		{
			Number: 9, Text: "a holder is paused until its lease has ended, another client gets the lock, and the first holder then continues and overwrites data", Articles: "000, 003, 004",
			Runs: []ClaimRun{as("redis-lua", "--backend redis-lua --nemesis client-pause:at=before-write --time 4s", suite.Expectation{
				Verdicts: verdicts{checker.MutualExclusion: checker.Fail, checker.DataPlain: checker.Fail}, Classes: classes{checker.MutualExclusion: checker.Inherent},
			}, "violations", "updates_lost_plain", "first_violation_ns")},
		},
		{
			Number: 10, Text: "a holder is paused until its lease has ended, and a second client gets the lock; the first holder then deletes the second holder's key, so a third client gets the lock, too", Articles: "004",
			Runs: []ClaimRun{as("redis-del", "--backend redis-del --nemesis client-pause:at=before-release,every=2ttl --time 5s", suite.Expectation{
				Verdicts: verdicts{checker.Ownership: checker.Fail}, Classes: classes{checker.Ownership: checker.Defect},
			}, "violations")},
		},
		{
			Number: 11, Text: "a release by GET and then DEL is not atomic, but a release by a script is atomic", Articles: "ours",
			Runs: []ClaimRun{
				as("get-del", "--backend redis-get-del --nemesis client-pause:at=between-get-and-del,every=2ttl --time 6s", fails(checker.Ownership)),
				as("script", "--backend redis-lua --nemesis client-pause:at=before-release,every=2ttl --time 5s", owned),
			},
		},
		{
			Number: 29, Text: "a watchdog that renews the lease solves the problem that a lock's time-out can end before the work is done", Articles: "002, 004",
			Note: "The claim is true if only the critical section hangs, because the watchdog still renews the lease. But then no other client gets the lock while the critical section hangs. The claim is false if the whole process of the client is stopped, because then the watchdog is stopped, too.",
			Runs: []ClaimRun{
				as("stall", "--backend redis-watchdog --nemesis client-stall --time 5s", passes(), "wait_p100_ns"),
				but("pause", "--backend redis-watchdog --nemesis client-pause --time 5s", doubleHolder(checker.Inherent), alone, "violations"),
				but("hangs", "--backend redis-watchdog --nemesis client-stall:for=5ttl,every=20s --time 8s", within("wait_p100_ns", suite.AtLeast(4e9)), within("wait_p100_ns", suite.AtMost(2e9)), "wait_p100_ns"),
			},
		},
		{
			Number: 30, Text: "if the time to live is too short, two clients hold the lock at once; if the time to live is too long, a dead holder blocks the lock for a long time", Articles: "003, 004",
			Note: "In these runs, clients hold the lock for 300 to 600 ms without checking their lease, and some holders are killed. The runs differ in the time to live. Each run measures two figures: the number of lost updates, and the time from the death of a holder to the next grant.",
			Runs: ttlSweep(),
		},
		{
			Number: 31, Text: "with asynchronous replication the lock is lost when the master fails", Articles: "003, 004",
			Note: "The claim is true for Redis and for a database. The remedy is to grant a lock only after a replica has a copy of the lock. In the runs that waited for a replica, no lock was lost.",
			Runs: []ClaimRun{
				as("redis-sentinel", "--backend redis-sentinel --nemesis failover-kill --time 10s", doubleHolder(checker.Defect), "violations"),
				as("postgres-replica", "--backend sql-lease-row --topology postgres-replica --nemesis promote-replica --time 14s", fails(checker.MutualExclusion), "violations"),
				as("postgres-synchronous", "--backend sql-lease-row --topology postgres-replica-sync --nemesis promote-replica --time 10s", passes()),
				as("redis-sentinel-wait", "--backend redis-sentinel-wait --nemesis failover-kill --time 10s", passes()),
			},
		},
		{
			Number: 32, Text: "Redlock, on a majority of independent nodes, solves the problem of a failing master", Articles: "004",
			Note: "Redlock is safe if a minority of the nodes dies. Redlock is not safe if a client is paused, if clocks jump, or if a node restarts without its data.",
			Runs: []ClaimRun{
				as("minority", "--backend redlock --topology redis-five-aof --nemesis server-kill:nodes=2 --time 5s", passes(), figRecovery),
				but("pause", "--backend redlock --nemesis client-pause:at=before-write --time 5s", doubleHolder(checker.Inherent), alone, "violations"),
				but("clocks", "--backend redlock --nemesis clock-jump:nodes=3,by=15s --time 3s", doubleHolder(checker.Defect), alone, "violations"),
				but("restart", "--backend redlock --time 5s "+threeOfFive("4s")+"--nemesis server-restart:clients=c1,grant=3,nodes=1,at=acquired,every=10s", doubleHolder(checker.Defect), alone, "violations"),
			},
		},
		{
			Number: 40, Text: "a release can fail to delete the lock's node", Articles: "003",
			Note: "If a release fails, the lock becomes free only when its lease or session ends. If a client ignores the failed release and keeps its session alive, the lock stays held. If the release of a lock without a lease (`redis-setnx`) fails, the lock blocks all clients forever.",
			Runs: []ClaimRun{
				as("redis-lua", "--backend redis-lua:retries=0 --nemesis lost-reply:at=releasing --time 5s", comesBack, "orphan_max_ns", figRecovery),
				as("zk-exclusive", "--backend zk-exclusive --nemesis partition-client:at=releasing,for=0.5ttl --time 6s", alone, "orphan_max_ns", figRecovery),
				as("redis-setnx", "--backend redis-setnx:retries=0 --nemesis partition-client:at=releasing,mode=blackhole,for=1.2ttl --time 5s", blocksAll, "orphan_max_ns"),
			},
		},
	}
}

// ttlSweep is one run a time to live, short to long.
func ttlSweep() []ClaimRun {
	var out []ClaimRun
	for _, one := range []struct {
		ttl  string
		must suite.Expectation
	}{
		{"200ms", losesData}, {"400ms", losesData}, {"800ms", keepsData}, {"1600ms", keepsData}, {"3200ms", keepsData},
	} {
		name := "ttl-" + one.ttl
		out = append(out, as(name, fmt.Sprintf("--backend redis-lua --discipline trusting --workload counter:hold=600ms,think=0s --nemesis client-kill:at=acquired,every=4s --ttl %s --time 8s", one.ttl),
			one.must, "updates_lost_plain", "updates_acked", figRecovery))
	}
	return out
}
