package sim

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/history"
)

// The services, by what ends a grant without its release.
const (
	Leases    = "leases"    // a lease of its own, which may be renewed
	Sessions  = "sessions"  // a session's lease, shared by all grants of a client
	Queues    = "queues"    // sessions, and who waits is granted in turn, without asking again
	Processes = "processes" // the death of its holder
	Nothing   = "never"     // nothing
)

// Services and Models are all there are.
var (
	Services = []string{Leases, Sessions, Queues, Processes, Nothing}
	Models   = []string{history.ModelExclusive, history.ModelReadWrite, history.ModelReentrant}
)

// Config is all that a simulation turns on. Times are in ns.
type Config struct {
	Seed       uint64
	Service    string // one of Services
	Model      string // kind of history.Model
	Discipline string
	Fencing    string
	Tokens     bool
	Clients    int
	Locks      int
	TTL        int64
	Tolerance  int64
	Drift      int64 // what clients take off their deadlines
	Slack      bool  // leases run out up to the tolerance early
	Renew      bool  // clients renew leases of their own
	Overrun    bool  // clients may stay inside for longer than their lease
	Forgetful  bool  // a client that lost its lease moves on without releasing
	Reused     bool  // owners are of clients, not of attempts
	Work       int64 // how long faults strike
	Loss, Late int   // requests or replies of a thousand that are lost or come late
	Try        int   // acquires of a hundred that try once
	Stalls     int   // hiccups of the host
	Faults     []string
	Bug        Bug
	Nth        int // the bug strikes at its nth occasion, from 0

	Workload  string   // one of the workloads
	Registers []string // nil: by Fencing
	Unlogged  bool     // the resource keeps no log
	OwnFence  bool     // the lock decides what is written
	Fair      bool     // the queue promises an order
	Wires     bool     // requests and answers are counted
	Bound     int64    // of a try
	Period    int64    // of jobs
	Stay      int64    // how long sections last at most; 0: 20 ms
	Grazed    bool     // a fault touches each hiccup of the host: it lasts for a millisecond, or fails
	Twice     bool     // a client that is paused may be paused again
	Brief     bool     // pauses are shorter than a lease
	Steps     bool     // the wall clock moves in the middle of the work
	Feigned   bool     // a client says of a time in which it went on that the host held it up
}

// Draw makes a config of a seed.
func Draw(seed uint64) Config {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	odds := func(one int) bool { return r.IntN(one) == 0 }
	c := Config{
		Seed: seed, Service: pick(Services...), Model: pick(Models...), Clients: 2 + r.IntN(5)/2, Locks: 1 + r.IntN(4)/3,
		Discipline: pick(history.Obey, history.Obey, history.Trusting), Fencing: pick(history.FencingBoth, history.FencingBoth,
			history.FencingOn, history.FencingOff),
		TTL: 100 * ms, Tolerance: 2 * ms, Work: (60 + r.Int64N(200)) * ms, Try: 10 * r.IntN(4), Nth: r.IntN(4),
		Slack: odds(2), Renew: odds(2), Overrun: odds(4), Forgetful: odds(6), Reused: odds(4),
	}
	c.Tokens = c.Model == history.ModelExclusive && !odds(3)
	if odds(4) {
		c.Drift = 3 * ms
	}
	if odds(2) {
		c.Loss, c.Late = r.IntN(25), r.IntN(25)
	}
	if c.Service == Nothing && !odds(4) {
		c.Loss = 0 // one lost reply, and it never comes back
	}
	if odds(4) {
		c.Stalls = 1 + r.IntN(3)
	}
	for range r.IntN(4) {
		c.Faults = append(c.Faults, pick(FaultNames...))
	}
	if !c.Tokens {
		c.Fencing = history.FencingOff
	}
	return c
}

// Ends is how grants of the service end without a release, in the words of the record.
func (c *Config) Ends() string {
	return map[string]string{
		Leases: history.EndsLease, Sessions: history.EndsSession, Queues: history.EndsSession,
		Processes: history.EndsProcess, Nothing: history.EndsNever, Connections: history.EndsConnection, Optimistic: history.EndsNever,
	}[c.Service]
}

// Session reports whether grants share their client's session.
func (c *Config) Session() bool { return c.Service == Sessions || c.Service == Queues }

// Leased reports whether grants run out.
func (c *Config) Leased() bool { return c.Service == Leases || c.Session() }

// registers are those that sections use, in order.
func (c *Config) registers() []string {
	if c.Registers != nil {
		return c.Registers
	}
	switch c.Fencing {
	case history.FencingOn:
		return []string{Fenced}
	case history.FencingOff:
		return []string{Plain}
	}
	return []string{Plain, Fenced}
}

// Registers of the resource.
const (
	Plain  = "plain"
	Fenced = "fenced"
	Pieces = "stock"
	Ledger = "ledger"
)
