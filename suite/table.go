package suite

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
)

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
	"none": {all(Safe), these(Defect, "none")},

	"client-pause": {all(Inherent), group(Defect, blind), group(Safe, unleased), these(Any, "redis-get-del"), these(Defect, "none")},
	"client-stall": {all(Inherent), group(Defect, blind), group(Safe, unleased, renewed), these(Any, "redis-get-del"), these(Defect, "none")},
	"client-kill":  {all(Safe), these(Blocks, "file-excl", "redis-setnx", "redis-setnx-expire"), these(Defect, "none")},

	"partition-client":      {all(Safe), group(Any, fragile), these(Blocks, "redis-setnx")},
	"flap":                  {all(Safe), group(Any, fragile)},
	"lost-reply":            {all(Safe), group(Any, fragile), these(Blocks, "redis-setnx", "redis-setnx-expire")},
	"packet-delay":          {all(Inherent), group(Defect, blind), these(Any, "redis-get-del"), these(Defect, "none")},
	"partition-replication": {all(Safe)},

	"server-pause":   {all(Safe), group(Any, fragile, sentinel)},
	"slow-server":    {all(Safe), group(Any, fragile, sentinel)},
	"server-restart": {all(Defect), group(Any, sentinel, majority), these(Any, "rueidislock"), these(Safe, "redlock-delayed", "nats-kv")},
	"server-kill":    {all(Safe), group(Any, fragile, sentinel), these(Defect, "redis-setnx", "redis-fenced")},

	"failover-kill":    {these(Defect, "redis-sentinel"), these(Safe, "redis-sentinel-wait")},
	"failover-pause":   {group(Any, sentinel)},
	"failover-planned": {group(Any, sentinel)},
	"isolate-master":   {these(Defect, "redis-sentinel"), these(Safe, "redis-sentinel-wait")},

	"clock-jump": {all(Defect), group(Safe, majority), these(Any, "redsync"), group(Any, sentinel), these(Safe, "redis-setnx")},

	"evict":      {all(Defect), group(Any, majority), these(Any, "redis-setnx")},
	"flush":      {all(Defect), group(Any, majority)},
	"delete-key": {all(Defect), group(Any, majority)},

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
