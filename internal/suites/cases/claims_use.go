package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/suite"
)

// claimsOfUse are those of what people do with locks.
func claimsOfUse() []Claim {
	reenters := suite.Expectation{Verdicts: verdicts{checker.MutualExclusion: checker.Pass}, Figures: figures{"reentries": suite.AtLeast(1)}}
	refuses := suite.Expectation{Verdicts: verdicts{checker.MutualExclusion: checker.Pass}, Figures: figures{"reentries": suite.AtMost(0), "reentries_refused": suite.AtLeast(1)}}
	const again = " --workload reentrant --time 3s"
	const try = " --workload try --nemesis partition-client:mode=blackhole,at=acquired --time 6s"
	return []Claim{
		{
			Number: 37, Text: "a lock should be reentrant", Articles: "003, 004",
			Note: "The locks of database sessions are reentrant. Most other locks refuse the holder's second acquire. With etcd's mutex, a holder can acquire the lock again in the same session. But the release of the second grant also ends the first grant.",
			Runs: []ClaimRun{
				as("postgres-advisory", "--backend postgres-advisory"+again, reenters, "reentries", "reentries_refused"),
				as("mariadb-get-lock", "--backend mariadb-get-lock"+again, reenters, "reentries", "reentries_refused"),
				as("sql-for-update", "--backend sql-for-update"+again, reenters, "reentries", "reentries_refused"),
				but("redis-lua", "--backend redis-lua"+again, refuses, reenters, "reentries", "reentries_refused"),
				but("redlock", "--backend redlock"+again, refuses, reenters, "reentries", "reentries_refused"),
				but("zk-sequential", "--backend zk-sequential"+again, refuses, reenters, "reentries", "reentries_refused"),
				but("etcd-mutex", "--backend etcd-mutex"+again, refuses, reenters, "reentries", "reentries_refused"),
				but("etcd-mutex-shared-session", "--backend etcd-mutex-shared-session"+again, fails(checker.MutualExclusion), reenters, "reentries", "violations"),
				but("file-flock", "--backend file-flock"+again, refuses, reenters, "reentries", "reentries_refused"),
			},
		},
		{
			Number: 38, Text: "a client must be able to try to take a lock without waiting", Articles: "003",
			Note: "With all tested locks a client can try to take the lock without waiting. But if the network drops all packets, even an attempt that should not wait ends only after the time-out of the client.",
			Runs: []ClaimRun{
				as("redis-lua", "--backend redis-lua"+try, gives(checker.Bounded, checker.Pass), "try_max_ns"),
				as("etcd-mutex", "--backend etcd-mutex"+try, gives(checker.Bounded, checker.Pass), "try_max_ns"),
				as("zk-exclusive", "--backend zk-exclusive"+try, gives(checker.Bounded, checker.Pass), "try_max_ns"),
				as("postgres-advisory", "--backend postgres-advisory"+try, gives(checker.Bounded, checker.Pass), "try_max_ns"),
			},
		},
		{
			Number: 39, Text: "if the senders use a lock, an hourly message is sent only once", Articles: "003",
			Note: "The lock prevents two clients from sending the message at the same time. The lock does not prevent two clients from sending the message one after the other. The clients send the message every hour by their own clocks. If the clock of one client is a little behind, this client sends the message a second time. The remedy is a record of the sent messages. If clients record each message before they send it, each message is sent at most once. If clients record each message after they have sent it, each message is sent at least once.",
			Runs: []ClaimRun{
				but("lock-alone", "--backend redis-lua --workload job --time 6s", fails(checker.Once), gives(checker.Once, checker.Pass), "periods", "jobs_twice", "jobs_missed"),
				but("written-after-kill", "--backend redis-lua --workload job:mark=after,period=4ttl,offset=3ttl --ttl 500ms --nemesis client-kill:at=job-done,every=2s --time 9s", fails(checker.Once), gives(checker.Once, checker.Pass), "periods", "jobs_twice", "jobs_missed"),
				as("written-before", "--backend redis-lua --workload job:mark=before --time 6s", gives(checker.Once, checker.Pass), "periods", "jobs_twice", "jobs_missed"),
			},
		},
	}
}
