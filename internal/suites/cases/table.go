package cases

import (
	"slices"

	"github.com/lockstorm/lockstorm/suite"
)

// others stands for every backend that a row does not name.
const others = ""

// Groups of backends that share a fate.
var (
	// blind deletes or looks at the key in a step of its own: a late release can hit others.
	blind = []string{"redis-setnx-expire", "redis-del"}
	// unleased locks end with their holder's release, or with its death, and never else.
	unleased = []string{"file-excl", "file-flock", "redis-setnx"}
	// renewed leases outlive a section that hangs.
	renewed = []string{"redis-watchdog", "redlock-watchdog"}
	// sentinel locks follow the master: a fault of one server may or may not hit it.
	sentinel = []string{"redis-sentinel", "redis-sentinel-wait"}
	// majority locks survive the loss of one node, unless their grant was by the least
	// majority.
	majority = []string{"redlock", "redlock-watchdog", "redlock-delayed", "redsync"}
	// fragile protocols depend on the moment in which a request is late or lost.
	fragile = []string{"redis-setnx", "redis-setnx-expire", "redis-get-del", "redis-del"}
	// inSession locks live and end with a session that their client keeps alive, in a store that
	// keeps what it has acknowledged.
	inSession = []string{
		"zk-exclusive", "zk-exclusive-norecheck", "zk-sequential", "zk-sequential-norecheck", "zk-rwlock", "zk-seed001", "zk-library",
		"etcd-mutex", "etcd-mutex-shared-session", "etcd-lock-rpc", "etcd-election", "etcd-txn",
	}
	onZooKeeper = []string{"zk-exclusive", "zk-sequential", "zk-rwlock"}
	// careless ones take the lock for their own when somebody before them goes.
	careless = []string{"zk-exclusive-norecheck", "zk-sequential-norecheck"}
	// ofConnection locks are those of a session of a database: they end with the connection.
	ofConnection = []string{"postgres-advisory", "mariadb-get-lock"}
	// fencedBySelf write their data in the lock's own transaction, or under a condition that holds.
	fencedBySelf = []string{"sql-for-update", "sql-optimistic", "sql-optimistic-noid", "sql-value-cas"}
	// leaky ones write it under a condition that does not hold, or in a transaction that locks nothing.
	leaky = []string{"sql-for-update-missing-row", "sql-timestamp"}
	// shipped ones do not look for what they left behind after an error, or at what they have after a wait.
	shipped = []string{"zk-library", "zk-seed001", "etcd-election", "etcd-mutex-shared-session"}
)

// safeInSession is a row in which locks in sessions are safe, and those that are careless fail in
// any way.
var safeInSession = row{group(suite.Safe, inSession), group(suite.Any, careless, shipped)}

// late is a lock whose nodes all have one name: among several servers, a deletion that waited for a connection is sent
// under the client's next session, and deletes another one's node (docs/libraries.md).
var late = these(suite.Any, "zk-exclusive")

// row is what backends do under one fault; later entries win.
type row []entry

type entry struct {
	backends []string
	want     suite.Outcome
}

func all(w suite.Outcome) entry                         { return entry{[]string{others}, w} }
func these(w suite.Outcome, backends ...string) entry   { return entry{backends, w} }
func group(w suite.Outcome, backends ...[]string) entry { return entry{flat(backends), w} }

func flat(lists [][]string) (out []string) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// onNATS is a key that a majority of three servers keeps.
var onNATS = these(suite.Safe, "nats-kv")

// table has, for each fault, what each backend does.
var table = expand(map[string]row{
	"none": {all(suite.Safe), these(suite.Defect, "none", "zk-exclusive-norecheck"), these(suite.Any, "zk-sequential-norecheck"), these(suite.Defect, "sql-timestamp"), these(suite.Any, "sql-for-update-missing-row")},

	"client-pause": {all(suite.Inherent), group(suite.Defect, blind), group(suite.Safe, unleased), these(suite.Defect, "redis-get-del"), these(suite.Defect, "none"), group(suite.Any, careless, shipped), group(suite.Safe, fencedBySelf), group(suite.Any, leaky), group(suite.Safe, ofConnection), these(suite.Safe, "sql-insert-unique")},
	"client-stall": {all(suite.Inherent), group(suite.Defect, blind), group(suite.Safe, unleased, renewed, inSession), these(suite.Defect, "redis-get-del"), these(suite.Defect, "none"), group(suite.Any, careless), group(suite.Safe, fencedBySelf), group(suite.Any, leaky), group(suite.Safe, ofConnection), these(suite.Safe, "sql-insert-unique"), these(suite.Safe, "sql-lease-row"), these(suite.Blocks, "zk-seed001")},
	"client-kill":  {all(suite.Safe), these(suite.Blocks, "file-excl", "redis-setnx", "redis-setnx-expire"), these(suite.Defect, "none"), group(suite.Any, careless), group(suite.Any, leaky), these(suite.Blocks, "sql-insert-unique")},

	"partition-client":      {all(suite.Safe), group(suite.Any, fragile), these(suite.Blocks, "redis-setnx"), group(suite.Any, careless, shipped), group(suite.Any, leaky, ofConnection), these(suite.Any, "sql-insert-unique", "etcd-txn")},
	"flap":                  {all(suite.Safe), group(suite.Any, fragile, careless, shipped), group(suite.Any, leaky, ofConnection), these(suite.Any, "sql-insert-unique", "etcd-txn")},
	"watch-delay":           {all(suite.Safe), group(suite.Any, fragile, careless, shipped), group(suite.Any, leaky, ofConnection), these(suite.Any, "sql-insert-unique")},
	"lost-reply":            {all(suite.Safe), group(suite.Any, fragile), these(suite.Blocks, "redis-setnx", "redis-setnx-expire"), group(suite.Any, careless, shipped), group(suite.Any, leaky, ofConnection), these(suite.Any, "sql-insert-unique")},
	"packet-delay":          {all(suite.Inherent), group(suite.Defect, blind), these(suite.Any, "redis-get-del"), these(suite.Defect, "none"), group(suite.Any, inSession), these(suite.Any, "sql-lease-row")},
	"partition-replication": {all(suite.Safe), group(suite.Any, leaky)},

	"server-pause":   {all(suite.Safe), group(suite.Any, fragile, sentinel, careless, shipped), group(suite.Any, leaky, ofConnection), these(suite.Any, "sql-insert-unique")},
	"slow-server":    {all(suite.Safe), group(suite.Any, fragile, sentinel, careless, shipped), group(suite.Any, leaky, ofConnection), these(suite.Any, "sql-insert-unique")},
	"server-restart": {all(suite.Defect), group(suite.Any, sentinel, majority), these(suite.Safe, "redlock-delayed", "nats-kv"), group(suite.Safe, inSession), group(suite.Any, careless, shipped), group(suite.Safe, fencedBySelf), group(suite.Any, leaky), group(suite.Inherent, ofConnection), these(suite.Any, "sql-insert-unique"), these(suite.Safe, "sql-lease-row")},
	"server-kill":    {all(suite.Safe), group(suite.Any, fragile, sentinel, careless, shipped), these(suite.Defect, "redis-fenced"), group(suite.Any, leaky, ofConnection), these(suite.Any, "redis-setnx", "sql-insert-unique")},

	"failover-kill": {these(suite.Defect, "redis-sentinel"), these(suite.Safe, "redis-sentinel-wait")},
	"leader-kill":   slices.Concat(row{group(suite.Any, sentinel), onNATS}, safeInSession, row{late}),
	// A leader of ZooKeeper that was stopped serves sessions that have ended elsewhere until it notices.
	"leader-pause":   slices.Concat(row{group(suite.Any, sentinel), onNATS}, safeInSession, row{group(suite.Any, onZooKeeper)}),
	"leader-move":    slices.Concat(row{group(suite.Any, sentinel), onNATS}, safeInSession),
	"leader-isolate": slices.Concat(row{these(suite.Defect, "redis-sentinel"), these(suite.Safe, "redis-sentinel-wait"), onNATS}, safeInSession, row{late}),
	"quorum-loss":    slices.Concat(row{onNATS}, safeInSession, row{late}),

	"clock-jump": {all(suite.Defect), group(suite.Safe, majority), these(suite.Any, "redsync"), group(suite.Any, sentinel), these(suite.Safe, "redis-setnx"), group(suite.Safe, fencedBySelf), group(suite.Any, leaky), group(suite.Safe, ofConnection), these(suite.Safe, "sql-insert-unique")},

	"evict":      {all(suite.Defect), group(suite.Any, majority), these(suite.Any, "redis-setnx")},
	"flush":      {all(suite.Defect), group(suite.Any, majority), group(suite.Safe, fencedBySelf), group(suite.Any, leaky), group(suite.Safe, ofConnection)},
	"delete-key": {all(suite.Defect), group(suite.Any, majority)},
	// What the server ends is no promise that it broke: a lock that has a lease outlives its connection.
	"kill-connection": {all(suite.Safe), group(suite.Any, leaky), group(suite.Inherent, ofConnection), these(suite.Any, "sql-insert-unique")},
	"promote-replica": {all(suite.Safe), group(suite.Any, leaky, ofConnection), these(suite.Defect, "sql-lease-row"), these(suite.Any, "sql-insert-unique", "sql-optimistic")},
	// A session that ends before its time is a promise that the store broke.
	"session-expire": {all(suite.Defect), group(suite.Any, careless)},

	"chaos": {all(suite.Any), these(suite.Mostly, "file-flock")},
})

func expand(rows map[string]row) map[string]map[string]suite.Outcome {
	out := map[string]map[string]suite.Outcome{}
	for fault, r := range rows {
		out[fault] = map[string]suite.Outcome{}
		for _, e := range r {
			for _, b := range e.backends {
				out[fault][b] = e.want
			}
		}
	}
	return out
}
