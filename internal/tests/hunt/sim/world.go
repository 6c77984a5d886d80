package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// world is a run under way.
type world struct {
	loop
	cfg     Config
	rnd     *rand.Rand
	logs    map[string][]history.Line
	parties []string // in order of their first event
	truth   *Truth
	svc     *service
	reg     *register
	server  struct{ paused, down int64 }
	clients []*client
	locks   []string
	quiet   int64 // from when on nothing hurts any more
	faults  int   // ids so far

	jobs      map[int64]bool // periods whose job is done
	struck    bool           // the bug has struck
	occasions int
	stopping  bool
}

// Run simulates a config to its end.
func Run(cfg Config) *Trace {
	w := &world{
		cfg: cfg, rnd: rand.New(rand.NewPCG(cfg.Seed, 11)), logs: map[string][]history.Line{},
		truth: &Truth{
			Stuck: map[string][]string{}, Blockers: map[string][]*Grant{}, Jobs: map[int64][]*Grant{},
			Last: map[[2]string]*Write{},
		}, quiet: cfg.Work, jobs: map[int64]bool{},
	}
	w.svc = &service{w: w, locks: map[string]*lock{}, sessions: map[string]*session{}, gone: map[string]bool{}}
	w.reg = &register{w: w, cells: map[[2]string]*cell{}}
	for i := range cfg.Locks {
		w.locks = append(w.locks, fmt.Sprintf("L%d", i+1))
	}
	w.begin()
	w.loop.run(w.truth.Over)
	w.finish()
	return &Trace{Config: cfg, History: w.merged(), Truth: w.truth}
}

// begin starts the parties and plans the phases.
func (w *world) begin() {
	for _, party := range []string{history.PartyController, history.PartyNemesis, history.PartyRegister} {
		if party == history.PartyRegister && w.cfg.Unlogged {
			continue
		}
		w.log(party, history.Line{F: history.FRun, Type: history.Info, Value: history.ValueOf(w.run())})
	}
	w.after(ms, func() { w.phase(history.PhaseWork) })
	for range w.cfg.Clients {
		w.start(2*ms + w.upTo(2*ms))
	}
	w.plan()
	w.truth.Final = w.cfg.Work + 3*w.cfg.TTL
	w.truth.Bound = w.bound()
	w.truth.Stopped = w.truth.Final + w.bound() + 50*ms
	w.truth.Over = w.truth.Stopped + 50*ms
	w.at(w.cfg.Work, func() { w.phase(history.PhaseQuiet) })
	w.at(w.truth.Final, func() {
		w.phase(history.PhaseFinal)
		for _, c := range w.clients {
			c.todo, c.final = slices.Clone(w.locks), true
		}
	})
	w.at(w.truth.Stopped, func() { w.stopping = true })
}

// bound is the liveness bound: longer than a correct service can need.
func (w *world) bound() int64 { return 10 * w.cfg.TTL }

func (w *world) start(delay int64) {
	c := newClient(w, len(w.clients)+1)
	w.clients = append(w.clients, c)
	w.after(delay, func() {
		w.log(c.name, history.Line{F: history.FRun, Type: history.Info, Client: c.name, Value: history.ValueOf(w.run())})
		c.next()
	})
}

func (w *world) phase(name string) {
	w.log(history.PartyController, history.Line{F: history.FPhase, Type: history.Info, Value: history.ValueOf(name)})
}

// finish notes what stayed stuck, and lets every party end its log.
func (w *world) finish() {
	for _, l := range w.svc.sorted() {
		w.svc.purge(l)
		for _, h := range l.holds {
			w.truth.Blockers[l.name] = append(w.truth.Blockers[l.name], h.g)
		}
	}
	for _, c := range w.clients {
		if !c.dead {
			for _, lock := range c.todo {
				w.truth.Stuck[lock] = append(w.truth.Stuck[lock], c.name)
			}
			c.giveUp()
			c.endRenewal()
		}
	}
	w.endLogs()
}

func (w *world) upTo(n int64) int64 { return w.rnd.Int64N(n/us+1) * us }

func (w *world) alive(name string) bool {
	return slices.ContainsFunc(w.clients, func(c *client) bool { return c.name == name && !c.dead && c.frozen == 0 })
}

// run is what the record says of the run.
func (w *world) run() history.Run {
	cfg := &w.cfg
	run := history.Run{
		Schema: history.Schema, Backend: "sim-" + cfg.Service, Topology: "sim", Provider: "sim", Workload: "counter",
		Fencing: cfg.Fencing, Discipline: cfg.Discipline, Seed: cfg.Seed, Clients: cfg.Clients, Locks: w.locks, TTL: cfg.TTL,
		Duration: cfg.Work, Tolerance: cfg.Tolerance, StallLimit: cfg.Tolerance, LivenessBound: w.bound(), Recovery: 0,
		Model: history.Model{Kind: cfg.Model, Session: cfg.Session()}, Ends: cfg.Ends(), Tokens: cfg.Tokens, Resource: true,
		Registers: map[string]int64{}, Nemesis: []string{}, OwnFence: cfg.OwnFence, Fair: cfg.Fair,
	}
	if cfg.Workload != Counter {
		run.Workload = cfg.Workload
	}
	switch cfg.Workload {
	case Try:
		run.Bounds = map[string]int64{"try": cfg.Bound}
	case Job:
		run.Bounds, run.Resource = map[string]int64{"period": cfg.Period}, false
	}
	if cfg.Discipline == history.Told {
		run.Renews, run.Signals = true, []string{"channel"}
	}
	for _, r := range cfg.registers() {
		run.Registers[r] = 0
	}
	for _, name := range cfg.Requests() {
		run.Nemesis = append(run.Nemesis, name)
		run.RequestedFaults = append(run.RequestedFaults, history.RequestedFault{Spec: name, Family: families[name]})
		run.ClientFaults = run.ClientFaults || families[name] == history.FamilyClient
	}
	return run
}

// Together reports whether the model lets two grants be held at once.
func (c *Config) Together(a, b *Grant) bool {
	same := a.Client == b.Client && a.Owner == b.Owner
	if c.Model == history.ModelNone {
		return true
	}
	switch c.Model {
	case history.ModelReadWrite:
		return same || (a.Mode == history.ModeShared && b.Mode == history.ModeShared)
	case history.ModelReentrant:
		return same
	}
	return false
}

func (c *Config) counts() bool { return c.Model == history.ModelReentrant }
