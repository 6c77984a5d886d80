package sim

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/history"
)

// The workloads of clients. What is not named is the counter: every section reads its registers and adds one.
const (
	Counter = ""
	Try     = "try"   // every attempt is one try, whose answer has a bound
	Job     = "job"   // a job is done once in each period
	Stock   = "stock" // a value that comes back, and a ledger
	Cross   = "twolocks"
)

// Services beside those of [Services], which are drawn by [Config.vary].
const (
	Connections = "connections" // the end of the client's connection
	Optimistic  = "optimistic"  // it is no lock: a write is taken if what its client read still stands
)

// Variants are what a config may be beside a lock with a counter.
var Variants = []func(*Config, *rand.Rand){
	Connected, ConnectedElsewhere, Listening, Grazed, PausedBefore, PausedTwice, Stepped, WithoutLog, Conditional, Trying, Working,
	Selling, Crossing, Queueing,
}

// DrawVaried makes a config of a seed: one of [Draw], or two times of three a variant of it.
func DrawVaried(seed uint64) Config {
	c, r := Draw(seed), rand.New(rand.NewPCG(seed, 17))
	if r.IntN(3) > 0 {
		Variants[r.IntN(len(Variants))](&c, r)
	}
	c.Wires, c.Feigned = r.IntN(4) == 0, r.IntN(8) == 0
	return c
}

// plain takes tokens and fences away.
func (c *Config) plain() { c.Tokens, c.Fencing = false, history.FencingOff }

// Connected is a lock whose grants end with the connection; now and then the data is written by the same connection,
// which writes nothing once the grant is gone: the transaction is the fence.
func Connected(c *Config, r *rand.Rand) {
	c.Service, c.Renew, c.Forgetful = Connections, false, false
	c.Loss, c.Late = c.Loss/2, c.Late/2
	if r.IntN(3) == 0 {
		c.plain()
		c.Unlogged, c.OwnFence = true, true
	}
	if r.IntN(2) == 0 {
		c.Faults = append(c.Faults, []string{Cut, SrvKill, Kill}[r.IntN(3)])
	}
}

// ConnectedElsewhere is such a lock under faults that end no connection: what its clients send to the register is held back.
func ConnectedElsewhere(c *Config, r *rand.Rand) {
	Connected(c, r)
	c.Faults = []string{Delay, Delay, Pause}
}

// Grazed are hiccups of the host that faults touch.
func Grazed(c *Config, r *rand.Rand) {
	Listening(c, r)
	c.Grazed, c.Stalls, c.Overrun = true, 3, true
	c.Faults = append(c.Faults, Pause)
}

// PausedBefore is a library that is paused, renews, and is then cut off.
func PausedBefore(c *Config, r *rand.Rand) {
	Listening(c, r)
	c.Overrun, c.Brief, c.Stalls, c.Work = true, true, 0, 800*ms
	c.Faults = []string{Pause, Cut, Pause, Cut, Pause, Cut, Pause, Cut}
}

// PausedTwice are pauses of a client that overlap.
func PausedTwice(c *Config, r *rand.Rand) {
	Listening(c, r)
	c.Twice, c.Overrun, c.Faults = true, true, []string{Pause, Pause, Pause, Pause}
}

// Stepped is a wall clock that moves in the middle of the work.
func Stepped(c *Config, _ *rand.Rand) {
	c.Service, c.Steps, c.Work = Leases, true, 600*ms
}

// Listening is a library that renews by itself, and clients that go by its signals alone.
func Listening(c *Config, _ *rand.Rand) {
	c.Service, c.Renew, c.Discipline, c.Forgetful = Leases, true, history.Told, false
}

// WithoutLog is a resource that keeps no log, as a database.
func WithoutLog(c *Config, _ *rand.Rand) {
	c.plain()
	c.Unlogged = true
}

// Conditional is data that is written under its own condition, without a lock.
func Conditional(c *Config, _ *rand.Rand) {
	c.plain()
	c.Service, c.Model, c.Unlogged, c.OwnFence, c.Renew = Optimistic, history.ModelNone, true, true, false
}

// Trying bounds every attempt.
func Trying(c *Config, r *rand.Rand) {
	c.Workload, c.Try, c.Bound = Try, 100, 10*ms+r.Int64N(80)*ms
	if c.Service == Queues {
		c.Service = Sessions
	}
}

// Working does jobs.
func Working(c *Config, r *rand.Rand) {
	c.plain()
	c.Workload, c.Period, c.Registers = Job, 20*ms+r.Int64N(60)*ms, []string{}
	if c.Model == history.ModelReadWrite {
		c.Model = history.ModelExclusive
	}
}

// Selling keeps a stock and a ledger.
func Selling(c *Config, _ *rand.Rand) {
	c.plain()
	c.Workload, c.Registers = Stock, []string{Pieces, Ledger}
}

// Crossing takes a second lock inside the first one, in any order: clients wait for each other.
func Crossing(c *Config, _ *rand.Rand) {
	c.Workload, c.Locks = Cross, 2
	if c.Model == history.ModelReentrant {
		c.Model = history.ModelExclusive
		c.plain()
	}
}

// Queueing is a queue that promises an order, with waits that are long enough to say who was overtaken.
func Queueing(c *Config, r *rand.Rand) {
	c.Service, c.Fair, c.Model, c.Clients, c.Try = Queues, true, history.ModelExclusive, 4, 0
	c.TTL, c.Work, c.Stay = 1000*ms, 4000*ms, 300*ms
	c.Overrun, c.Forgetful, c.Locks = false, false, 1
	if r.IntN(2) == 0 {
		c.Faults, c.Loss, c.Late = nil, 0, 0
	}
	if r.IntN(3) > 0 {
		c.Stalls = 0
	}
}
