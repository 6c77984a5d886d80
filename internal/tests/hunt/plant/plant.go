// Package plant knows what can be wrong with a lock, a register or a record: each [Plant] puts
// one thing of one kind at one place of a simulation that would be right without it. What the
// service or a register does wrong happens while the run is simulated; what is wrong with the
// record is done to it afterwards.
package plant

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// Plant is one kind of wrong.
type Plant struct {
	Name string
	Bug  sim.Bug
	// Prepare makes room for the bug.
	Prepare func(*sim.Config)
	// Edit damages a record, and reports whether there was something to damage. It is nil for
	// bugs of the service and of registers.
	Edit func(r *rand.Rand, h *history.History) bool
	// Torn records are not unsound: they have no end, and must not pass.
	Torn bool
}

// Services are the bugs of lock services and of registers.
func Services() []Plant {
	return []Plant{
		{Name: "double-grant", Bug: sim.DoubleGrant, Prepare: long},
		{Name: "early-expiry", Bug: sim.EarlyExpiry, Prepare: func(c *sim.Config) { leases(c); long(c); c.Renew = false }},
		{
			Name: "early-expiry of a session", Bug: sim.EarlyExpiry,
			Prepare: func(c *sim.Config) { c.Service = sim.Sessions; c.Overrun = true; long(c) },
		},
		{Name: "foreign-release", Bug: sim.ForeignRelease, Prepare: func(c *sim.Config) { leases(c); late(c); c.Forgetful = false }},
		{Name: "revived-lease", Bug: sim.RevivedLease, Prepare: func(c *sim.Config) {
			leases(c)
			late(c)
			c.Renew, c.Discipline = true,
				history.Trusting
		}},
		{Name: "lies-not-held", Bug: sim.LiesNotHeld},
		{Name: "release-ignored", Bug: sim.ReleaseIgnored, Prepare: func(c *sim.Config) { c.Service = sim.Nothing }},
		{Name: "never-freed", Bug: sim.NeverFreed, Prepare: func(c *sim.Config) {
			c.Service, c.Nth = sim.Processes, 0
			c.Faults = []string{sim.Kill, sim.Kill, sim.Kill}
		}},
		{Name: "token-twice", Bug: sim.TokenTwice, Prepare: fenced},
		{Name: "token-back", Bug: sim.TokenBack, Prepare: fenced},
		{Name: "equal-token", Bug: sim.EqualToken, Prepare: func(c *sim.Config) { fenced(c); strictFence(c) }},
		{Name: "open-fence", Bug: sim.OpenFence, Prepare: func(c *sim.Config) {
			fenced(c)
			strictFence(c)
			leases(c)
			late(c)
			c.Discipline = history.Trusting
			c.Nth = 0
		}},
		{Name: "no-token", Bug: sim.NoToken, Prepare: func(c *sim.Config) { fenced(c); strictFence(c) }},
		{Name: "refuses-valid", Bug: sim.RefusesValid, Prepare: func(c *sim.Config) { fenced(c); strictFence(c) }},
		{Name: "refuses-valid in a queue", Bug: sim.RefusesValid, Prepare: func(c *sim.Config) {
			fenced(c)
			strictFence(c)
			c.Service, c.Try = sim.Queues, 0
		}},
		{Name: "drops-write", Bug: sim.DropsWrite},
		{Name: "lies-ack", Bug: sim.LiesAck},
		{Name: "frees-all", Bug: sim.FreesAll, Prepare: func(c *sim.Config) {
			c.Model, c.Tokens, c.Fencing = history.ModelReentrant, false, history.FencingOff
			long(c)
		}},
		{Name: "release-of-none", Bug: sim.ReleaseOfNone, Prepare: func(c *sim.Config) { c.Try = 50; long(c) }},
		{Name: "queue-jump", Bug: sim.QueueJump, Prepare: variant(sim.Queueing, func(c *sim.Config) {
			c.Stalls, c.Faults, c.Loss,
				c.Late = 0, nil, 0, 0
		})},
		{Name: "late-signal", Bug: sim.LateSignal, Prepare: variant(sim.Listening, func(c *sim.Config) {
			c.Overrun, c.Faults = true,
				append(c.Faults, sim.Cut, sim.Cut, sim.Cut)
		})},
		{Name: "late-signal after a pause", Bug: sim.LateSignal, Prepare: variant(sim.PausedBefore, nil)},
		{Name: "double-grant before the clock moved", Bug: sim.DoubleGrant, Prepare: variant(sim.Stepped, long)},
		{Name: "takes-over", Bug: sim.TakesOver, Prepare: func(c *sim.Config) {
			c.Service, c.Model, c.Nth, c.Try = sim.Processes, history.ModelExclusive, 0, 0
			c.Faults = []string{sim.Kill, sim.Kill, sim.Kill, sim.Pause}
			long(c)
		}},
		{Name: "hangs-up elsewhere", Bug: sim.Hangs, Prepare: variant(sim.ConnectedElsewhere, long)},
		{Name: "no-condition", Bug: sim.NoCondition, Prepare: variant(sim.Conditional, nil)},
		{Name: "slow-try", Bug: sim.SlowTry, Prepare: variant(sim.Trying, func(c *sim.Config) { c.Bound = c.TTL / 5 })},
		{Name: "hangs-up", Bug: sim.Hangs, Prepare: variant(sim.Connected, long)},
		{Name: "double-grant of a job", Bug: sim.DoubleGrant, Prepare: variant(sim.Working, long)},
		{Name: "double-grant of a stock", Bug: sim.DoubleGrant, Prepare: variant(sim.Selling, long)},
		{Name: "double-grant without a log", Bug: sim.DoubleGrant, Prepare: variant(sim.WithoutLog, long)},
		{Name: "double-grant of a connection", Bug: sim.DoubleGrant, Prepare: variant(sim.Connected, long)},
		{Name: "drops-write without a log", Bug: sim.DropsWrite, Prepare: variant(sim.WithoutLog, nil)},
		{Name: "forgets", Bug: sim.Forgets, Prepare: func(c *sim.Config) {
			c.Faults = []string{sim.Restart, sim.Restart}
			c.Nth = 0
			long(c)
		}},
	}
}

// variant is a bug of a lock that is one of the simulator's variants.
func variant(of func(*sim.Config, *rand.Rand), further func(*sim.Config)) func(*sim.Config) {
	return func(c *sim.Config) {
		of(c, rand.New(rand.NewPCG(c.Seed, 17)))
		if further != nil {
			further(c)
		}
	}
}

// long makes clients stay inside for long, now and then.
func long(c *sim.Config) { c.Overrun = c.Overrun || c.Nth%2 == 0 }

func leases(c *sim.Config) { c.Service = sim.Leases }

// late makes clients act after their lease.
func late(c *sim.Config) {
	c.Overrun, c.Nth = true, c.Nth%2
	c.Faults = append(c.Faults, sim.Pause, sim.Pause)
}

func fenced(c *sim.Config) {
	c.Model, c.Tokens = history.ModelExclusive, true
	if c.Fencing == history.FencingOff {
		c.Fencing = history.FencingBoth
	}
}

func strictFence(c *sim.Config) { c.Nth *= 2 }
