package harness

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/compose"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/cluster/external"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// resolved is a Config whose names were looked up, whose gaps were filled and whose
// combination is possible: what a [Trial] is run with.
type resolved struct {
	Config
	cat       *Catalogue
	backend   backends.Spec
	values    catalog.Values // of the backend's parameters
	topology  cluster.Topology
	workload  workloads.Spec
	settings  workloads.Settings
	registers []workloads.Register
	store     *backends.Register // where the registers are; nil: in a server of ours
	locks     []string
	images    compose.Choices
	servers   external.Servers
	access    external.Access
	provider  cluster.Provider // that auto or the user chose
	links     nemesis.Links    // links of clients that a fault of the plan touches
	jumps     bool             // a fault of the plan moves the servers' clocks
	disks     bool             // a fault of the plan takes away what servers have on disk
}

// complete checks everything that can be known before anything is started, and fills in
// what was left open: this is where a seed is drawn.
func complete(cat *Catalogue, cfg Config) (*resolved, error) {
	r := &resolved{Config: cfg, cat: cat}
	for _, step := range []func() error{
		r.words, r.names, r.numbers, r.combination, r.imagesFor, r.networkFor, r.serversFor,
		r.chooseProvider,
	} {
		if err := step(); err != nil {
			return nil, asUsage(err)
		}
	}
	return r, nil
}

// asUsage is an error with an exit code: that of wrong usage where it has none.
func asUsage(err error) error {
	switch {
	case errors.As(err, new(*Error)):
		return err
	case errors.Is(err, backends.ErrMissing):
		return Environment(err)
	}
	return Usage(err)
}

func (r *resolved) words() error {
	if err := oneOf("--fencing", r.Fencing, history.FencingBoth, history.FencingOn, history.FencingOff); err != nil {
		return err
	}
	if r.Discipline != "" {
		if err := oneOf("--discipline", r.Discipline, history.Told, history.Obey, history.Trusting); err != nil {
			return err
		}
	}
	if err := oneOf("--fail-on", cmp.Or(r.FailOn, failOnAll), failOnAll, history.FailOnDefect); err != nil {
		return err
	}
	for _, c := range r.Require {
		if c = history.Requirement(c); c == "" {
			return errors.New("--require needs the name of a check (see: list checks)")
		}
		if _, err := r.cat.Checks.Get(c); err != nil {
			return fmt.Errorf("--require: %w", err)
		}
	}
	return oneOf("--provider", r.Provider, ProviderNames()...)
}

func oneOf(flag, val string, valid ...string) error {
	if slices.Contains(valid, val) {
		return nil
	}
	return fmt.Errorf("%s %q: choose one of %s", flag, val, strings.Join(valid, ", "))
}

func (r *resolved) names() (err error) {
	if r.backend, r.values, err = backends.Choose(r.cat.Backends, r.Backend, r.Arguments...); err != nil {
		return err
	}
	if r.backend.Description != "" {
		r.values[backends.ParamDescription] = r.backend.Description
	}
	if r.Discipline == "" {
		r.Discipline = history.Obey
		if r.backend.Library != "" && len(r.backend.Signals) > 0 {
			r.Discipline = history.Told
		}
	}
	r.Topology = cmp.Or(r.Topology, r.backend.Topologies[0])
	if r.topology, err = r.cat.TopologyOf(r.backend, r.Topology); err != nil {
		return err
	}
	name, rest := catalog.Split(r.Workload)
	if r.workload, err = r.cat.Workloads.Get(name); err != nil {
		return err
	}
	r.settings.Values, err = catalog.Parse("workload "+name, rest, r.workload.Params)
	return err
}

func (r *resolved) numbers() error {
	if r.Seed == 0 {
		r.Seed = rand.Uint64N(1<<32-1) + 1 // only the seed of everything else
	}
	r.TTL = cmp.Or(r.TTL, r.topology.TTL, defaultTTL)
	switch {
	case r.TTL < minTTL:
		return fmt.Errorf("--ttl %v is too short: the minimum is %v", r.TTL, minTTL)
	case r.TTL > maxTTL:
		return fmt.Errorf("--ttl %v is too long: the maximum is %v", r.TTL, maxTTL)
	case r.Time > maxTime:
		return fmt.Errorf("--time %v is too long: the maximum is %v", r.Time, maxTime)
	case r.Clients < 1 || r.Clients > maxClients:
		return fmt.Errorf("--clients %d: choose from 1 to %d", r.Clients, maxClients)
	case r.Locks < 1 || r.Locks > maxLocks:
		return fmt.Errorf("--locks %d: choose from 1 to %d", r.Locks, maxLocks)
	case r.Time < minTTL:
		return fmt.Errorf("--time %v is too short: the minimum is %v", r.Time, minTTL)
	}
	r.locks = numbered("L", r.Locks)
	return r.workloadSettings()
}

func (r *resolved) workloadSettings() (err error) {
	if r.settings, err = workloads.NewSettings(r.settings.Values, r.locks, r.TTL); err != nil {
		return fmt.Errorf("workload %s: %w", r.workload.Name, err)
	}
	if r.workload.Check != nil {
		if err := r.workload.Check(r.settings); err != nil {
			return fmt.Errorf("workload %s: %w", r.workload.Name, err)
		}
	}
	if r.workload.Registers != nil {
		r.registers = r.workload.Registers(r.Fencing, r.backend.Tokens)
	}
	for i, reg := range r.registers {
		twice := slices.ContainsFunc(r.registers[:i], func(o workloads.Register) bool { return o.Name == reg.Name })
		if reg.Name == "" || twice {
			return fmt.Errorf("workload %s defines the register %q twice or without a name: give each register a unique name",
				r.workload.Name, reg.Name)
		}
	}
	return nil
}

func (r *resolved) combination() error {
	if len(r.Nemesis) > 1 && slices.Contains(r.Nemesis, "none") {
		return errors.New("--nemesis none means a run without faults: remove --nemesis none, or remove the other --nemesis flags")
	}
	if !slices.Contains(r.backend.Topologies, r.Topology) {
		return fmt.Errorf("backend %s does not run on topology %s: choose one of %s", r.Backend, r.Topology,
			strings.Join(r.backend.Topologies, ", "))
	}
	kind := cmp.Or(r.backend.Model.Kind, history.ModelExclusive)
	if r.workload.Models != nil && !slices.Contains(r.workload.Models, kind) {
		return fmt.Errorf("workload %s needs a lock of model %s, but the model of backend %s is %s", r.workload.Name,
			strings.Join(r.workload.Models, " or "), r.Backend, kind)
	}
	if r.workload.Tries && r.backend.NoTry {
		return fmt.Errorf("workload %s tries to acquire without waiting, which backend %s cannot: choose another workload or "+
			"backend", r.workload.Name, r.Backend)
	}
	if r.workload.Model != "" && kind != history.ModelExclusive && kind != r.workload.Model {
		return fmt.Errorf("workload %s needs a lock of model %s, but the model of backend %s is %s", r.workload.Name, r.workload.Model,
			r.Backend, kind)
	}
	if r.Discipline == history.Told && len(r.backend.Signals) == 0 {
		return fmt.Errorf("--discipline told: backend %s does not tell its users when a lock is lost: choose the discipline %s or %s",
			r.Backend, history.Obey, history.Trusting)
	}
	if r.Fencing == history.FencingOn && !r.backend.Tokens {
		return fmt.Errorf("--fencing on: %s", r.noTokens())
	}
	if err := r.calls(); err != nil {
		return err
	}
	if r.Fencing == history.FencingOn && !r.workload.Fenced {
		return fmt.Errorf("--fencing on: workload %s has no data to fence: choose another workload, or leave out --fencing",
			r.workload.Name)
	}
	if err := r.register(); err != nil {
		return err
	}
	return r.requirements()
}

// register finds the store that the registers are in, if any.
func (r *resolved) register() error {
	if r.Register != "" && r.backend.Settles {
		return fmt.Errorf("--register %s: backend %s writes the data in its own transaction: leave out --register",
			r.Register, r.Backend)
	}
	r.Register = cmp.Or(r.Register, r.backend.Register)
	if r.Register == "" || len(r.registers) == 0 {
		return nil
	}
	if r.cat.Registers == nil {
		return fmt.Errorf("--register %s: this program has no registers: leave out --register",
			r.Register)
	}
	reg, err := r.cat.Registers.Get(r.Register)
	if err != nil {
		return fmt.Errorf("--register: %w", err)
	}
	if !slices.Contains(reg.Topologies, r.Topology) {
		return fmt.Errorf("--register %s needs topology %s, but this run uses topology %s", r.Register,
			strings.Join(reg.Topologies, " or "), r.Topology)
	}
	r.store = &reg
	return nil
}

// ourRegister reports whether the registers are in a server of ours.
func (r *resolved) ourRegister() bool { return r.store == nil && !r.backend.Settles }

// calls refuses a workload that makes calls which the backend does not have.
func (r *resolved) calls() error {
	if r.workload.Calls == nil {
		return nil
	}
	for _, call := range r.workload.Calls(r.settings) {
		if slices.Contains(r.backend.Calls, call) {
			continue
		}
		return fmt.Errorf("workload %s needs the call %q, which backend %s does not support (backends with it: %s)",
			r.Workload, call, r.Backend, r.backendsThat(func(b backends.Spec) bool { return slices.Contains(b.Calls, call) }))
	}
	return nil
}

// requirements refuses checks that cannot answer.
func (r *resolved) requirements() error {
	for _, c := range r.Require {
		c = history.Requirement(c)
		fence := c == checker.DataFenced || c == checker.FencingTokens
		if fence && !r.backend.Tokens {
			return fmt.Errorf("--require %s: %s", c, r.noTokens())
		}
		if (c == checker.DataFenced || c == checker.DataPlain) && !r.workload.Fenced {
			return fmt.Errorf("--require %s: workload %s uses no data, so this check has nothing to judge", c, r.workload.Name)
		}
	}
	return nil
}

// noTokens says that the backend has none, and which ones do.
func (r *resolved) noTokens() string {
	return fmt.Sprintf("backend %s issues no fencing tokens (backends with tokens: %s)", r.Backend,
		r.backendsThat(func(b backends.Spec) bool { return b.Tokens }))
}

// backendsThat names those that can do what this one cannot.
func (r *resolved) backendsThat(can func(b backends.Spec) bool) string {
	names := lists.Map(lists.Filter(r.cat.Backends.All(), can), func(b backends.Spec) string { return b.Name })
	return strings.Join(names, ", ")
}

// chooseProvider finds who will start the servers: some locks need real ones.
func (r *resolved) chooseProvider() error {
	p, err := cluster.Choose(r.Provider, r.topology, r.cat.Providers(r.means(nil, nil)))
	unembedded := r.topology.Any(func(n cluster.Recipe) bool { return !n.Embeds() })
	switch {
	case err != nil && (r.Provider == cluster.EmbeddedName && unembedded || r.Provider == cluster.ExternalName):
		return err // no machine has what it lacks
	case err != nil:
		return Environment(err)
	case p.Name() != cluster.EmbeddedName || r.backend.RealServer == "":
	case r.Provider == cluster.EmbeddedName:
		return fmt.Errorf("backend %s does not run with provider %s: %s", r.Backend, r.Provider, r.backend.RealServer)
	default:
		_, err := cluster.Choose(cluster.ProcessName, r.topology, r.cat.Providers(Means{}))
		return Environment(fmt.Errorf("%s, and %w", r.backend.RealServer, err))
	}
	r.provider = p
	return nil
}

// input is all that the plan depends on.
func (r *resolved) input() nemesis.Input {
	where := append(history.PointNames(history.SectionPoints()), history.PointNames(r.workload.Points)...)
	if len(r.topology.Nodes) > 0 {
		where = append(where, history.PointNames(history.MessagePoints())...)
	}
	return nemesis.Input{
		Seed: r.Seed, Specs: r.Nemesis, TTL: r.TTL, Duration: r.Time, Setting: r.setting(r.provider.Name()),
		Points:  where,
		Own:     history.PointNames(r.backend.Points),
		Clients: numbered("c", r.Clients), Nodes: r.nodeNames(),
	}
}

// refusedPlan says whose fault it is that there is no plan: wrong usage, or something that
// this machine lacks and another one has.
func (r *resolved) refusedPlan(err error) error {
	in := r.input()
	in.Setting.NoLoss, in.Setting.NoDisks = "", r.noDisks(in.Setting.Provider)
	if _, lossless := nemesis.NewPlan(r.cat.Nemeses, in); lossless == nil {
		return Environment(err)
	}
	in.Setting = r.setting(cluster.ProcessName)
	in.Setting.NoLoss, in.Setting.NoDisks = "", r.noDisks(cluster.ProcessName)
	if r.Provider == cluster.ContainerName {
		in.Setting.NoDisks = r.noDisks(r.Provider)
	}
	if provides[cluster.Timer](r.topology) {
		in.Setting.NoClock = ""
	}
	if _, elsewhere := nemesis.NewPlan(r.cat.Nemeses, in); elsewhere != nil || r.Provider == cluster.EmbeddedName ||
		r.Provider == cluster.ExternalName {
		return Usage(err)
	}
	if _, missing := cluster.Choose(cluster.ProcessName, r.topology, r.cat.Providers(Means{})); missing != nil {
		err = fmt.Errorf("%w, and %w", err, missing)
	}
	return Environment(err)
}

// take notes what a plan asks of the run: links to break, clocks to move, disks to cut.
func (r *resolved) take(plan *nemesis.Plan) error {
	for _, q := range plan.Requests {
		if q.Skipped != "" {
			continue
		}
		spec, err := r.cat.Nemeses.Get(q.Fault)
		if err != nil {
			return Usage(err)
		}
		r.links |= spec.Links
		if slices.ContainsFunc(q.Steps, func(st nemesis.Step) bool { return history.IsMessagePoint(st.Point) }) {
			r.links |= nemesis.ToServers
		}
		r.jumps = r.jumps || q.Draws(nemesis.Of(history.FamilyClock), r.cat.Nemeses)
		r.disks = r.disks || q.Draws(func(s nemesis.Spec) bool { return s.Disks }, r.cat.Nemeses)
	}
	if r.backend.Beside { // it is told addresses once
		r.links |= nemesis.ToServers
	}
	return nil
}

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
