package cases

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/suite"
)

var (
	alone       = gives(checker.MutualExclusion, checker.Pass) // nobody else is inside
	owned       = gives(checker.Ownership, checker.Pass)
	comesBack   = gives(checker.Liveness, checker.Pass)
	blocksAll   = gives(checker.Liveness, checker.Fail)
	keepsData   = gives(checker.DataPlain, checker.Pass)
	losesData   = gives(checker.DataPlain, checker.Fail)
	fencedHolds = gives(checker.DataFenced, checker.Pass)
)

// claimsOfLocks are those of every lock: who is inside, who may unlock, what a dead holder does.
func claimsOfLocks() []Claim {
	return []Claim{
		{
			Number: 1, Text: "at any time only one client holds the lock", Articles: "000, 003, 004",
			Note: "The claim is true for all tested locks as long as no fault occurs. The backend `none` is not a lock: its run only shows that such runs can find a violation. If a holder is stopped for longer than its lease or session, the next client gets the lock. The stopped client still believes that it holds the lock.",
			Runs: []ClaimRun{
				as("redis-lua", "--backend redis-lua --time 3s", passes(), figGrants),
				as("redlock", "--backend redlock --time 3s", passes(), figGrants),
				as("zk-sequential", "--backend zk-sequential --time 3s", passes(), figGrants),
				as("etcd-mutex", "--backend etcd-mutex --time 3s", passes(), figGrants),
				as("postgres-advisory", "--backend postgres-advisory --time 3s", passes(), figGrants),
				as("mariadb-get-lock", "--backend mariadb-get-lock --time 3s", passes(), figGrants),
				as("file-flock", "--backend file-flock --time 3s", passes(), figGrants),
				as("postgres-advisory-pause", "--backend postgres-advisory --nemesis client-pause --time 5s", passes(), figGrants),
				but("redis-lua-pause", "--backend redis-lua --nemesis client-pause --time 5s", doubleHolder(checker.Inherent), alone, "violations", "overlap_max_ns"),
				but("zk-sequential-pause", "--backend zk-sequential --nemesis client-pause:for=3ttl --time 8s", doubleHolder(checker.Inherent), alone, "violations", "overlap_max_ns"),
				but("none", "--backend none --time 3s", fails(checker.MutualExclusion), alone, "violations"),
			},
		},
		{
			Number: 2, Text: "only the client that took a lock may release the lock", Articles: "000",
			Note: "A release by DEL deletes the key even if it belongs to another client. A release by an atomic compare-and-delete deletes only the client's own key.",
			Runs: []ClaimRun{
				as("redis-lua", "--backend redis-lua --nemesis client-pause:at=before-release,every=2ttl --time 5s", owned),
				but("redis-del", "--backend redis-del --nemesis client-pause:at=before-release,every=2ttl --time 5s", fails(checker.Ownership), owned, "violations"),
			},
		},
		{
			Number: 3, Text: "if a lock has no time-out, a dead holder blocks all other clients", Articles: "000, 002, 003, 004",
			Note: "The claim is true if the lock is a key in a store, as with SETNX. The claim is false for a lock that ends when the connection or the process of its holder ends: such a lock needs no time-out.",
			Runs: []ClaimRun{
				as("redis-setnx", "--backend redis-setnx --nemesis client-kill --time 4s", blocksAll),
				but("postgres-advisory", "--backend postgres-advisory --nemesis client-kill --time 4s", passes(), blocksAll, figRecovery),
				but("file-flock", "--backend file-flock --nemesis client-kill --time 4s", passes(), blocksAll, figRecovery),
			},
		},
		{
			Number: 4, Text: "a lock on several nodes works as long as a majority of the nodes lives", Articles: "000, 003",
			Note: "If a minority of the nodes dies, clients wait at most until another node has taken over. If a majority of the nodes dies, no client gets the lock until a majority is back. Whether a minority or a majority dies, two clients never hold the lock at once.",
			Runs: []ClaimRun{
				as("redlock-minority", "--backend redlock --topology redis-five-aof --nemesis server-kill:nodes=2 --time 5s", passes(), figRecovery),
				as("etcd-leader", "--backend etcd-mutex --topology etcd-three --nemesis leader-kill --time 9s", alone, figRecovery),
				as("zk-leader", "--backend zk-sequential --topology zk-three --nemesis leader-kill --time 11s", alone, figRecovery),
				as("redlock-majority", "--backend redlock --topology redis-five-aof --nemesis server-kill:nodes=3 --time 5s", alone, figRecovery),
				as("etcd-quorum-loss", "--backend etcd-mutex --topology etcd-three --nemesis quorum-loss --time 11s", alone, figRecovery),
			},
		},
		{
			Number: 24, Text: "the lock of a dead client is freed when the client's session ends", Articles: "000, 002, 003",
			Note: "The claim is true, but the lock is freed only after the time-out of the session, not at once.",
			Runs: []ClaimRun{
				as("zk-kill", "--backend zk-sequential --ttl 2s --nemesis client-kill:at=before-write,every=5s --time 8s", suite.Expectation{Exit: codes{0}, Figures: figures{figRecovery: suite.AtLeast(1e9)}}, figRecovery),
				as("zk-cut", "--backend zk-exclusive --nemesis partition-client:at=acquired,for=3ttl --time 7s", alone, figRecovery),
			},
		},
		{
			Number: 25, Text: "with ZooKeeper a lock needs no time-out", Articles: "000, 002",
			Note: "The time-out of the session is the time-out of the lock. If a holder is stopped for longer than this time-out, the next client gets the lock. The stopped client still believes that it holds the lock.",
			Runs: []ClaimRun{
				but("zk-pause", "--backend zk-sequential --nemesis client-pause:for=3ttl --time 8s", doubleHolder(checker.Inherent), alone, "violations", "overlap_max_ns"),
				but("zk-pause-exclusive", "--backend zk-exclusive --nemesis client-pause:for=3ttl --time 8s", doubleHolder(checker.Inherent), alone, "violations", "overlap_max_ns"),
			},
		},
		{
			Number: 41, Text: "a client can take a lock by creating a file", Articles: "002",
			Note: "A lock file keeps other clients out. But if its holder dies, the file stays, and blocks all other clients. With flock(2) the kernel frees the lock of a dead holder.",
			Runs: []ClaimRun{
				as("excl", "--backend file-excl --time 3s", passes(), figGrants),
				but("excl-kill", "--backend file-excl --nemesis client-kill --time 4s", fails(checker.Liveness), comesBack),
				as("flock-kill", "--backend file-flock --nemesis client-kill --time 4s", passes(), figRecovery),
			},
		},
		{
			Number: 42, Text: "etcd can be used for locks, and there are ready-made libraries for locks", Articles: "000, 001, 003, 004",
			Note: "The locks of etcd and of the tested libraries keep other clients out. If a holder is paused until its lease has expired, another client gets the lock, as with every lock with a lease.",
			Runs: []ClaimRun{
				as("etcd-mutex", "--backend etcd-mutex --time 3s", passes(), figGrants),
				as("etcd-mutex-kill", "--backend etcd-mutex --nemesis client-kill --time 6s", passes(), figRecovery),
				as("zk-library", "--backend zk-library --time 3s", passes(), figGrants),
				as("redsync", "--backend redsync --time 3s", passes(), figGrants),
				but("etcd-mutex-pause", "--backend etcd-mutex --nemesis client-pause:for=3ttl --time 8s", doubleHolder(checker.Inherent), alone, "violations", "overlap_max_ns"),
			},
		},
	}
}

// claimsOfTokens are those of versions that a resource looks at.
func claimsOfTokens() []Claim {
	const pause = " --nemesis client-pause:at=before-write --time 5s"
	return []Claim{
		{
			Number: 12, Text: "a version number that only grows (a fencing token) stops the writes of a client that continues after its lease has ended", Articles: "000",
			Note: "No update is lost if clients send their token with each read and each write, and a fence (a check at the protected data) refuses outdated tokens. In these runs, data without a fence loses updates.",
			Runs: []ClaimRun{
				as("redis-fenced", "--backend redis-fenced"+pause, fencedHolds, "fence_refused", "updates_lost_plain", "updates_lost_fenced"),
				as("zk-sequential", "--backend zk-sequential --nemesis client-pause:at=before-write,for=3ttl --time 8s", fencedHolds, "fence_refused", "updates_lost_plain", "updates_lost_fenced"),
				as("etcd-txn", "--backend etcd-txn --fencing on --nemesis client-pause:at=before-write,for=3ttl --time 8s", fencedHolds, "updates_lost_fenced"),
				as("sql-lease-row", "--backend sql-lease-row --register postgres"+pause, fencedHolds, "updates_lost_plain", "updates_lost_fenced"),
			},
		},
		{
			Number: 13, Text: "the zxid (transaction number) or the data version of a ZooKeeper node can serve as a fencing token", Articles: "000",
			Note: "The zxid of the node's creation (czxid) can serve as a fencing token. The data version of the node cannot serve as a fencing token: each grant creates a new node, and the data version of a new node is always 0.",
			Runs: []ClaimRun{
				as("czxid", "--backend zk-sequential:token=czxid --time 3s", gives(checker.FencingTokens, checker.Pass)),
				but("version", "--backend zk-sequential:token=version --time 3s", fails(checker.FencingTokens), gives(checker.FencingTokens, checker.Pass)),
			},
		},
		{
			Number: 14, Text: "if each row has a version number, no lock is needed", Articles: "000",
			Note: "No update is lost, even when clients are paused or the server restarts. If the row has changed since a client read it, the database refuses the client's update, and the client tries again with the new version.",
			Runs: []ClaimRun{
				as("postgres", "--backend sql-optimistic --time 3s", passes(), figGrants, "updates_acked"),
				as("mariadb", "--backend sql-optimistic --topology mariadb --time 3s", passes(), figGrants, "updates_acked"),
				as("pause", "--backend sql-optimistic --nemesis client-pause --time 5s", passes(), figGrants, "updates_acked"),
				as("restart", "--backend sql-optimistic --nemesis server-restart --time 5s", passes(), figGrants, "updates_acked"),
				as("crowd", "--backend sql-optimistic --clients 30 --workload counter:think=0s --time 3s", passes(), figGrants, "updates_acked"),
			},
		},
		{
			Number: 15, Text: "an UPDATE whose condition names the version of the row, but not the row's id, is enough to update a row safely", Articles: "000",
			Note: "If the condition names no row id, the statement also updates all other rows that have the same version.",
			Runs: []ClaimRun{
				but("two-rows", "--backend sql-optimistic-noid --locks 2 --time 3s", fails(checker.DataPlain), keepsData, "updates_lost_plain"),
				but("two-rows-mariadb", "--backend sql-optimistic-noid --topology mariadb --locks 2 --time 3s", fails(checker.DataPlain), keepsData, "updates_lost_plain"),
			},
		},
		{
			Number: 16, Text: "a time stamp in the row can take the place of the version number", Articles: "000",
			Note: "In MariaDB, time stamp columns store whole seconds by default. If a row is updated twice within one second, the second update does not change the time stamp. A client that read the row between the two updates does not see the second update, and overwrites it. With time stamps in microseconds no update was lost.",
			Runs: []ClaimRun{
				but("seconds", "--backend sql-timestamp --time 3s", fails(checker.DataPlain), keepsData, "updates_lost_plain", "updates_acked"),
				but("milliseconds-crowd", "--backend sql-timestamp:resolution=100ms --clients 30 --workload counter:hold=2ms,think=0s --time 3s", fails(checker.DataPlain), keepsData, "updates_lost_plain", "updates_acked"),
				as("microseconds", "--backend sql-timestamp:resolution=1us --time 3s", passes(), "updates_lost_plain", "updates_acked"),
			},
		},
		{
			Number: 17, Text: "the old value of the row can take the place of the version number", Articles: "000",
			Note: "No update of the row itself is lost. But the database does not notice if other clients changed the value and then changed it back. For example, if goods were sold and the stock was then refilled, the row looks unchanged. Other data that a client computed from the old row (such as a count of the sales) can then be wrong.",
			Runs: []ClaimRun{
				as("counter", "--backend sql-value-cas --time 3s", passes(), "updates_lost_plain"),
				but("restock", "--backend sql-value-cas --workload stock --time 3s", fails(checker.Stock), gives(checker.Stock, checker.Pass), "ledger_lost"),
				as("restock-version", "--backend sql-optimistic --workload stock --time 3s", gives(checker.Stock, checker.Pass), "ledger_lost"),
			},
		},
		{
			Number: 35, Text: "an optimistic update (UPDATE with the old version in its condition) has succeeded if it changes one row, and has failed if it changes no row", Articles: "004",
			Note: "The claim is true even if the answer to the update is lost. But then the client does not know whether its update has succeeded. (If the client simply repeats the statement, the update may be applied twice. docs/libraries.md shows a driver that repeats statements.)",
			Runs: []ClaimRun{
				as("lost-reply", "--backend sql-optimistic --nemesis lost-reply:every=1ttl --time 5s", passes(), "updates_acked"),
				as("lost-reply-mariadb", "--backend sql-optimistic --topology mariadb --nemesis lost-reply:every=1ttl --time 5s", passes(), "updates_acked"),
			},
		},
	}
}
