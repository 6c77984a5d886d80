package harness

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/clockshim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// Exit codes of a run.
const (
	ExitPass        = 0
	ExitViolation   = 1
	ExitUnknown     = 2
	ExitUsage       = 3
	ExitEnvironment = 4
	ExitInterrupted = 130
)

// Error is an error with the exit code that it stands for.
type Error struct {
	Code int
	Err  error
}

// Error is the text of what went wrong.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

func usage(err error) error       { return &Error{Code: ExitUsage, Err: err} }
func environment(err error) error { return &Error{Code: ExitEnvironment, Err: err} }

// Config is a run as the user asks for it; see Defaults for what is filled in.
type Config struct {
	Backend    string
	Topology   string // empty: the backend's default
	Provider   string
	Nemesis    []string // name[:key=value,...]
	Workload   string   // name[:key=value,...]
	Fencing    string
	Discipline string
	TTL        time.Duration
	Clients    int
	Locks      int
	Time       time.Duration
	Seed       uint64 // 0: drawn
	Out        string // directory to create; it must be empty or absent
	Require    []string
	Command    string // how to run it again, for the record
	Version    string // of lockstorm, for the record
}

// Defaults is the run that is made when nothing is said but the backend. A TTL of 0 is
// that of the topology, else a second.
func Defaults() Config {
	return Config{
		Provider: cluster.Auto, Nemesis: []string{"none"}, Workload: "counter", Fencing: history.FencingBoth,
		Discipline: history.Obey, Clients: 5, Locks: 1, Time: 10 * time.Second,
	}
}

const (
	defaultTTL = time.Second
	minTTL     = 100 * time.Millisecond
	maxClients = 200
	maxLocks   = 1000
	tolerance  = 5 * time.Millisecond
	slack      = 2 * time.Second // of the liveness bound

	lastSection = 10 * time.Millisecond // what a section without holding takes, generously
)

// resolved is a Config whose names were looked up and whose combination is possible.
type resolved struct {
	Config
	cat      *Catalogue
	backend  backends.Spec
	topology cluster.Topology
	workload workloads.Spec
	values   catalog.Values // of the workload
	settings workloads.Settings
	plan     *nemesis.Plan
	locks    []string
	provider string        // that auto or the user chose
	links    nemesis.Links // links of clients that a fault of the plan touches
	jumps    bool          // a fault of the plan moves the servers' clocks
}

// resolve checks everything that can be known before anything is started.
func resolve(cat *Catalogue, cfg Config) (*resolved, error) {
	r := &resolved{Config: cfg, cat: cat}
	for _, step := range []func() error{r.words, r.names, r.numbers, r.combination, r.chooseProvider, r.makePlan} {
		if err := step(); err != nil {
			if errors.As(err, new(*Error)) {
				return nil, err
			}
			return nil, usage(err)
		}
	}
	return r, nil
}

// chooseProvider finds who will start the servers: some faults need real ones.
func (r *resolved) chooseProvider() error {
	p, err := cluster.Choose(r.Provider, r.topology, Providers(nil))
	switch {
	case err != nil:
		return environment(err)
	case p.Name() != cluster.EmbeddedName || r.backend.RealServer == "":
	case r.Provider == cluster.EmbeddedName:
		return fmt.Errorf("backend %s cannot be run with provider %s: %s", r.Backend, r.Provider, r.backend.RealServer)
	default:
		_, err := cluster.Choose(cluster.ProcessName, r.topology, Providers(nil))
		return environment(fmt.Errorf("%s, and %w", r.backend.RealServer, err))
	}
	r.provider = p.Name()
	return nil
}

func (r *resolved) numbers() error {
	if r.Seed == 0 {
		r.Seed = rand.Uint64N(1<<32-1) + 1 // only the seed of everything else
	}
	if r.TTL == 0 {
		r.TTL = cmp.Or(r.topology.TTL, defaultTTL)
	}
	switch {
	case r.TTL < minTTL:
		return fmt.Errorf("--ttl %v is too short: from %v on", r.TTL, minTTL)
	case r.Clients < 1 || r.Clients > maxClients:
		return fmt.Errorf("--clients %d: choose from 1 to %d", r.Clients, maxClients)
	case r.Locks < 1 || r.Locks > maxLocks:
		return fmt.Errorf("--locks %d: choose from 1 to %d", r.Locks, maxLocks)
	case r.Time < minTTL:
		return fmt.Errorf("--time %v is too short: from %v on", r.Time, minTTL)
	}
	r.locks = numbered("L", r.Locks)
	var err error
	r.settings, err = workloads.NewSettings(r.values, r.locks, r.TTL, nil)
	return err
}

func (r *resolved) words() error {
	if err := oneOf("--fencing", r.Fencing, history.FencingBoth, history.FencingOn, history.FencingOff); err != nil {
		return err
	}
	if err := oneOf("--discipline", r.Discipline, history.Obey, history.Trusting); err != nil {
		return err
	}
	for _, c := range r.Require {
		if _, err := r.cat.Checks.Get(c); err != nil {
			return fmt.Errorf("--require: %w", err)
		}
	}
	return oneOf("--provider", r.Provider, cluster.Auto, cluster.ProcessName, cluster.EmbeddedName)
}

func oneOf(flag, val string, valid ...string) error {
	if slices.Contains(valid, val) {
		return nil
	}
	return fmt.Errorf("%s %q: choose one of %s", flag, val, strings.Join(valid, ", "))
}

func (r *resolved) names() (err error) {
	if r.backend, err = r.cat.Backends.Get(r.Backend); err != nil {
		return err
	}
	if r.Topology == "" {
		r.Topology = r.backend.Topologies[0]
	}
	if r.topology, err = r.cat.Topologies.Get(r.Topology); err != nil {
		return err
	}
	name, rest := catalog.Split(r.Workload)
	if r.workload, err = r.cat.Workloads.Get(name); err != nil {
		return err
	}
	r.values, err = catalog.Parse("workload "+name, rest, r.workload.Params)
	return err
}

func (r *resolved) combination() error {
	if len(r.Nemesis) > 1 && slices.Contains(r.Nemesis, "none") {
		return errors.New("--nemesis none cannot be combined with a fault")
	}
	if !slices.Contains(r.backend.Topologies, r.Topology) {
		return fmt.Errorf("backend %s does not run on topology %s: choose one of %s", r.Backend, r.Topology,
			strings.Join(r.backend.Topologies, ", "))
	}
	if r.Fencing == history.FencingOn && !r.backend.Tokens {
		return fmt.Errorf("--fencing on: backend %s issues no tokens (with tokens: %s)", r.Backend, strings.Join(r.withTokens(), ", "))
	}
	for _, c := range r.Require {
		fence := c == checker.DataFenced || c == checker.FencingTokens
		if fence && !r.backend.Tokens {
			return fmt.Errorf("--require %s: backend %s issues no tokens (with tokens: %s)", c, r.Backend, strings.Join(r.withTokens(), ", "))
		}
		if (c == checker.DataFenced || c == checker.DataPlain) && !r.workload.Resource {
			return fmt.Errorf("--require %s: workload %s touches no data", c, r.workload.Name)
		}
	}
	if r.Fencing == history.FencingOn && !r.workload.Resource {
		return fmt.Errorf("--fencing on: workload %s touches no data that could be fenced", r.workload.Name)
	}
	return nil
}

func (r *resolved) withTokens() []string {
	var names []string
	for _, b := range r.cat.Backends.All() {
		if b.Tokens {
			names = append(names, b.Name)
		}
	}
	return names
}

func (r *resolved) makePlan() (err error) {
	r.plan, err = nemesis.NewPlan(r.cat.Nemeses, nemesis.Input{
		Seed: r.Seed, Specs: r.Nemesis, TTL: r.TTL, Duration: r.Time,
		Setting: r.setting(),
		Points:  pointNames(workloads.Points()), Own: pointNames(r.backend.Points),
		Clients: numbered("c", r.Clients), Nodes: r.nodeNames(),
	})
	if err != nil {
		return err
	}
	for _, q := range r.plan.Requests {
		if q.Skipped != "" {
			continue
		}
		spec, err := r.cat.Nemeses.Get(q.Fault)
		if err != nil {
			return err
		}
		r.links |= spec.Links
		r.jumps = r.jumps || q.Draws(history.FamilyClock, r.cat.Nemeses)
	}
	return nil
}

// setting is what faults need to know of the run to say whether they can work.
func (r *resolved) setting() nemesis.Setting {
	t := r.topology
	s := nemesis.Setting{
		Backend: r.Backend, Topology: r.Topology, Provider: r.provider, Nodes: len(t.Nodes), Peers: t.Peers, FailOver: t.FailOver,
		Keys: r.backend.Keys != nil, Voters: r.backend.Voters, Resource: r.workload.Resource, NoClock: noClock(r.provider),
	}
	for _, n := range t.Nodes {
		s.Stores = s.Stores || n.Store != nil
		if n.Role != cluster.RoleSentinel {
			s.Data++
		}
	}
	return s
}

// Possible is nil where a fault can work on the backend's default topology with real
// servers; else it says why not. It looks at nothing of this machine.
func Possible(cat *Catalogue, backend, fault string) error {
	cfg := Defaults()
	cfg.Backend, cfg.Nemesis = backend, []string{fault}
	r := &resolved{Config: cfg, cat: cat, provider: cluster.ProcessName}
	for _, step := range []func() error{r.names, r.numbers} {
		if err := step(); err != nil {
			return err
		}
	}
	spec, err := cat.Nemeses.Get(fault)
	if err != nil || spec.Fault == nil {
		return err
	}
	s := r.setting()
	s.NoClock = ""
	return spec.Fault.Available(s)
}

// noClock says why the clocks of a provider's servers cannot jump.
func noClock(provider string) string {
	if provider != cluster.ProcessName {
		return "the servers of provider " + provider + " do not go by the clock shim: it needs provider " + cluster.ProcessName
	}
	if _, err := clockshim.Compiler(); err != nil {
		return err.Error()
	}
	return ""
}

// ClockShim is the compiler that makes the shim by which clocks jump, or why there is none.
func ClockShim() (string, error) { return clockshim.Compiler() }

// numbered is prefix1, prefix2, ...
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i+1)
	}
	return names
}

func (r *resolved) nodeNames() []string {
	names := make([]string, len(r.topology.Nodes))
	for i, n := range r.topology.Nodes {
		names[i] = n.Name
	}
	return names
}

func pointNames(points []backends.Point) []string {
	names := make([]string, len(points))
	for i, p := range points {
		names[i] = p.Name
	}
	return names
}

// run is what the record says of the run.
func (r *resolved) run(provider string, versions map[string]string, started time.Time) history.Run {
	run := history.Run{
		Schema: history.Schema, Backend: r.Backend, Topology: r.Topology, Provider: provider, Nemesis: r.Nemesis,
		Workload: r.Workload, Fencing: r.Fencing, Discipline: r.Discipline, Seed: r.Seed, Clients: r.Clients,
		Locks: r.locks, TTL: r.TTL.Nanoseconds(), Duration: r.Time.Nanoseconds(), Tolerance: tolerance.Nanoseconds(),
		StallLimit:    (r.TTL / 10).Nanoseconds(),
		LivenessBound: r.livenessBound().Nanoseconds(),
		Recovery:      r.topology.Recovery.Nanoseconds(),
		Ends:          r.backend.Ends, Tokens: r.backend.Tokens, Resource: r.workload.Resource,
		Required: r.Require, Started: started, Versions: versions, Command: r.Command,
		Registers: map[string]int64{},
	}
	if r.workload.Resource {
		for _, reg := range r.registers() {
			run.Registers[reg] = 0
		}
	}
	for _, q := range r.plan.Requests {
		if q.Family == "" {
			continue
		}
		run.RequestedFaults = append(run.RequestedFaults, history.RequestedFault{Spec: q.Spec, Family: q.Family, Skipped: q.Skipped, Without: q.Without})
		run.ClientFaults = run.ClientFaults || q.Draws(history.FamilyClient, r.cat.Nemeses)
	}
	return run
}

// livenessBound is how long recovery may take: the longest lease, the stated recovery
// of topology and backend, the queue (every client may have to wait for every other
// one's section, and for its last ones), and some slack.
func (r *resolved) livenessBound() time.Duration {
	turn := r.settings.Hold + 2*retryLimit(r.TTL)
	queue := time.Duration(r.Clients) * (turn + time.Duration(r.Locks)*lastSection)
	return r.TTL + r.topology.Recovery + r.backend.Recovery + r.plan.Jump() + queue + slack
}

// retryLimit is the longest pause of a waiting acquire between two tries.
func retryLimit(ttl time.Duration) time.Duration { return ttl / 50 }

func (r *resolved) registers() []string { return workloads.RegistersFor(r.Fencing, r.backend.Tokens) }

// makeOut creates the run directory. What is there already is never touched.
func makeOut(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return usage(fmt.Errorf("--out %s is not empty: name a new directory; runs are never overwritten", dir))
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return usage(fmt.Errorf("--out: %w", err))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage(fmt.Errorf("--out: %w", err))
	}
	return nil
}
