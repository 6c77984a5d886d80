package harness

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter"
)

// Config is a run as the user asks for it; Defaults fills in the rest. As JSON it is part of trial.json.
type Config struct {
	Backend    string        `json:"backend"`
	Arguments  []string      `json:"arguments,omitempty"` // of the backend, behind --
	Topology   string        `json:"topology,omitempty"`  // empty: the backend's default
	Provider   string        `json:"provider,omitempty"`
	Images     []string      `json:"images,omitempty"`   // NAME=REF, in place of those of package compose
	Network    string        `json:"network,omitempty"`  // of containers; empty: the host's
	Servers    []string      `json:"servers,omitempty"`  // NODE=HOST:PORT, of somebody else
	Nemesis    []string      `json:"nemesis,omitempty"`  // name[:key=value,...]
	Workload   string        `json:"workload,omitempty"` // name[:key=value,...]
	Fencing    string        `json:"fencing,omitempty"`
	Discipline string        `json:"discipline,omitempty"` // empty: the backend's
	TTL        time.Duration `json:"ttl_ns,omitempty"`
	Clients    int           `json:"clients,omitempty"`
	Locks      int           `json:"locks,omitempty"`
	Time       time.Duration `json:"time_ns,omitempty"`
	Seed       uint64        `json:"seed,omitempty"` // 0: drawn
	Require    []string      `json:"require,omitempty"`
	FailOn     string        `json:"fail_on,omitempty"`  // empty: all
	Register   string        `json:"register,omitempty"` // in a store; empty: the backend's, or ours
	Out        string        `json:"-"`                  // directory to create; it must be empty or absent
	Command    string        `json:"command,omitempty"`  // command that repeats it, for the record
	Version    string        `json:"-"`                  // of lockstorm, for the record
	// Enough, if not nil, is asked about twice a second what the record shows so far; once it returns true, the clients
	// stop working, and the run goes on with its recovery test.
	Enough func(*checker.Results) bool `json:"-"`
}

// Defaults returns the run for which only the backend is given. A TTL of 0 is that of the topology, else a second; an
// empty discipline is `told` for a library that tells its users of a loss, else `obey`.
func Defaults() Config {
	return Config{
		Provider: cluster.Auto, Nemesis: []string{"none"}, Workload: "counter", Fencing: history.FencingBoth,
		Clients: 5, FailOn: failOnAll, Locks: 1, Time: 10 * time.Second,
	}
}

// ExecName is the backend that runs a program of another language.
const ExecName = adapter.Name

// ExecBackend returns the backend that runs a program of another language.
func ExecBackend(file string) string { return ExecName + ":cmd=" + file }

// failOnAll is the --fail-on under which whatever is wrong fails the run.
const failOnAll = "all"

const (
	defaultTTL = time.Second
	minTTL     = 100 * time.Millisecond
	maxTTL     = 10 * time.Minute
	maxTime    = 24 * time.Hour
	maxBound   = 30 * time.Minute // of the wait for the last sections
	maxClients = 200
	maxLocks   = 1000
	tolerance  = 5 * time.Millisecond
	slack      = 2 * time.Second // of the liveness bound

	easyClients = 10 // for each processor: more of them tick and ask less often
	bornClients = 20 // for each processor: more of them hold each other up

	clientNice = 5 // by how much clients are nicer than the controller: many of them must not keep it from its work

	lastSection = 10 * time.Millisecond // what a section without holding takes, generously
)

// limits are what a run may take after its time and the limit of its recovery test.
type limits struct {
	cut  time.Duration // then it is cut
	undo time.Duration // then its faults are undone
	kill time.Duration // then its clients are killed
}

// endLimits leave 6 of 30 s for servers and links, which have limits of their own.
var endLimits = limits{cut: 15 * time.Second, undo: 4 * time.Second, kill: 5 * time.Second}

// retryLimit is the longest pause of a waiting acquire between two tries.
func retryLimit(ttl time.Duration) time.Duration { return ttl / 50 }

// requestTimeout is how long a client waits for one answer: as long as its lease lives,
// for an answer that comes later is of no use.
func requestTimeout(ttl time.Duration) time.Duration { return max(ttl, 500*time.Millisecond) }
