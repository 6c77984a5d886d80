package suite

import "slices"

// others stands for every backend that a row does not name.
const others = ""

// Groups of backends that share a fate.
var (
	// blind deletes or looks at the key in a step of its own: a late release can hit others.
	blind = []string{"redis-setnx-expire", "redis-del"}
	// unleased locks end with their holder's release, or with its death, and never else.
	unleased = []string{"file-excl", "file-flock", "redis-setnx"}
	// renewed leases outlive a section that hangs.
	renewed = []string{"redis-watchdog", "redlock-watchdog", "rueidislock"}
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
var safeInSession = row{group(Safe, inSession), group(Any, careless, shipped)}

// late is a lock whose nodes all have one name: among several servers, a deletion that waited for a connection is sent
// under the client's next session, and deletes another one's node (docs/libraries.md).
var late = these(Any, "zk-exclusive")

// row is what backends do under one fault; later entries win.
type row []entry

type entry struct {
	backends []string
	want     Word
}

func all(w Word) entry                         { return entry{[]string{others}, w} }
func these(w Word, backends ...string) entry   { return entry{backends, w} }
func group(w Word, backends ...[]string) entry { return entry{flat(backends), w} }

func flat(lists [][]string) (out []string) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// table has, for each fault, what each backend does.
var table = expand(map[string]row{
	"none": {all(Safe), these(Defect, "none", "zk-exclusive-norecheck"), these(Any, "zk-sequential-norecheck"), these(Defect, "sql-timestamp"), these(Any, "sql-for-update-missing-row")},

	"client-pause": {all(Inherent), group(Defect, blind), group(Safe, unleased), these(Any, "redis-get-del"), these(Defect, "none"), group(Any, careless, shipped), group(Safe, fencedBySelf), group(Any, leaky), group(Safe, ofConnection), these(Safe, "sql-insert-unique")},
	"client-stall": {all(Inherent), group(Defect, blind), group(Safe, unleased, renewed, inSession), these(Any, "redis-get-del"), these(Defect, "none"), group(Any, careless), group(Safe, fencedBySelf), group(Any, leaky), group(Safe, ofConnection), these(Safe, "sql-insert-unique"), these(Safe, "sql-lease-row")},
	"client-kill":  {all(Safe), these(Blocks, "file-excl", "redis-setnx", "redis-setnx-expire"), these(Defect, "none"), group(Any, careless), group(Any, leaky), these(Blocks, "sql-insert-unique")},

	"partition-client":      {all(Safe), group(Any, fragile), these(Blocks, "redis-setnx"), group(Any, careless, shipped), group(Any, leaky, ofConnection), these(Any, "sql-insert-unique", "etcd-txn")},
	"flap":                  {all(Safe), group(Any, fragile, careless, shipped), group(Any, leaky, ofConnection), these(Any, "sql-insert-unique", "etcd-txn")},
	"watch-delay":           {all(Safe), group(Any, fragile, careless, shipped), group(Any, leaky, ofConnection), these(Any, "sql-insert-unique")},
	"lost-reply":            {all(Safe), group(Any, fragile), these(Blocks, "redis-setnx", "redis-setnx-expire"), group(Any, careless, shipped), group(Any, leaky, ofConnection), these(Any, "sql-insert-unique")},
	"packet-delay":          {all(Inherent), group(Defect, blind), these(Any, "redis-get-del"), these(Defect, "none"), group(Any, inSession), these(Any, "sql-lease-row")},
	"partition-replication": {all(Safe), group(Any, leaky)},

	"server-pause":   {all(Safe), group(Any, fragile, sentinel, careless, shipped), group(Any, leaky, ofConnection), these(Any, "sql-insert-unique")},
	"slow-server":    {all(Safe), group(Any, fragile, sentinel, careless, shipped), group(Any, leaky, ofConnection), these(Any, "sql-insert-unique")},
	"server-restart": {all(Defect), group(Any, sentinel, majority), these(Any, "rueidislock"), these(Safe, "redlock-delayed", "nats-kv"), group(Safe, inSession), group(Any, careless, shipped), group(Safe, fencedBySelf), group(Any, leaky), group(Inherent, ofConnection), these(Any, "sql-insert-unique"), these(Safe, "sql-lease-row")},
	"server-kill":    {all(Safe), group(Any, fragile, sentinel, careless, shipped), these(Defect, "redis-fenced"), group(Any, leaky, ofConnection), these(Any, "redis-setnx", "sql-insert-unique", "rueidislock")},

	"failover-kill": {these(Defect, "redis-sentinel"), these(Safe, "redis-sentinel-wait")},
	"leader-kill":   slices.Concat(row{group(Any, sentinel)}, safeInSession, row{late}),
	// A leader of ZooKeeper that was stopped serves sessions that have ended elsewhere until it notices.
	"leader-pause":   slices.Concat(row{group(Any, sentinel)}, safeInSession, row{group(Any, onZooKeeper)}),
	"leader-move":    slices.Concat(row{group(Any, sentinel)}, safeInSession),
	"leader-isolate": slices.Concat(row{these(Defect, "redis-sentinel"), these(Safe, "redis-sentinel-wait")}, safeInSession, row{late}),
	"quorum-loss":    slices.Concat(safeInSession, row{late}),

	"clock-jump": {all(Defect), group(Safe, majority), these(Any, "redsync"), group(Any, sentinel), these(Safe, "redis-setnx"), group(Safe, fencedBySelf), group(Any, leaky), group(Safe, ofConnection), these(Safe, "sql-insert-unique")},

	"evict":      {all(Defect), group(Any, majority), these(Any, "redis-setnx")},
	"flush":      {all(Defect), group(Any, majority), group(Safe, fencedBySelf), group(Any, leaky), group(Safe, ofConnection)},
	"delete-key": {all(Defect), group(Any, majority)},
	// What the server ends is no promise that it broke: a lock that has a lease outlives its connection.
	"kill-connection": {all(Safe), group(Any, leaky), group(Inherent, ofConnection), these(Any, "sql-insert-unique")},
	"promote-replica": {all(Safe), group(Any, leaky, ofConnection), these(Defect, "sql-lease-row"), these(Any, "sql-insert-unique", "sql-optimistic")},
	// A session that ends before its time is a promise that the store broke.
	"session-expire": {all(Defect), group(Any, careless)},

	"chaos": {all(Any), these(Mostly, "file-flock")},
})

func expand(rows map[string]row) map[string]map[string]Word {
	out := map[string]map[string]Word{}
	for fault, r := range rows {
		out[fault] = map[string]Word{}
		for _, e := range r {
			for _, b := range e.backends {
				out[fault][b] = e.want
			}
		}
	}
	return out
}
