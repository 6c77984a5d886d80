package harness

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/clockshim"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

// setting is what faults need to know of the run to say whether they can work.
func (r *resolved) setting(provider string) nemesis.Setting {
	t := r.topology
	s := nemesis.Setting{
		Backend: r.backend.Name, Topology: r.Topology, Provider: provider, RealOnly: provider != cluster.EmbeddedName,
		Nodes: len(t.Nodes), Peers: t.Peers(), FailOver: t.FailOver,
		Stores: provides[cluster.Forgetter](t), Answers: len(t.Nodes) > 0,
		Moves: provides[cluster.Mover](t), Follows: provides[cluster.Leader](t), Sessions: r.endsSessions(),
		Connections: provides[cluster.ConnectionEnder](t) && r.backend.Connected, Promotes: provides[cluster.Promoter](t),
		Keys: r.backend.Keys != nil && provides[cluster.Keeper](t), Voters: r.backend.Voters, Renews: r.backend.Renews,
		Collects: r.backend.Collects, Resource: len(r.registers) > 0 && r.ourRegister(), NoClock: noClock(provider, t),
		NoLoss: noLoss(), NoDisks: r.noDisks(provider),
	}
	if err := cluster.CanDisk(); err != nil {
		s.NoDisks = cmp.Or(s.NoDisks, err.Error())
	}
	if provider == cluster.ExternalName {
		s.Theirs, s.NoClock = theirs, theirs
	}
	for _, n := range t.Nodes {
		if n.Data {
			s.Data++
			if cluster.Can[cluster.Elector](n) && t.FailOver > 0 {
				s.Elects++
			}
			s.Answers = s.Answers && n.Refusal != nil
		}
		if s.Policies == nil {
			s.Policies = n.Policies
		}
	}
	return s
}

// endsSessions reports whether the servers can end a session of a client: by its name, or found by the client's connections.
func (r *resolved) endsSessions() bool {
	named := r.backend.Model.Session
	found := r.backend.Ends == history.EndsSession && provides[cluster.SessionFinder](r.topology)
	return provides[cluster.SessionEnder](r.topology) && (named || found)
}

const theirs = "lockstorm does not control existing servers: faults can hit only clients and their connections"

// provides reports whether the servers of a topology that hold data have a capability.
func provides[T any](t cluster.Topology) bool {
	return t.Any(func(n cluster.Recipe) bool { return n.Data && cluster.Can[T](n) })
}

// Where returns the default topology for a backend and a fault: the backend's default one if the fault can work
// there, else the first on which it can and whose servers elect a leader or, for a fault of disks, have some. It takes real
// servers for granted and does not look at this machine. The error says why the fault can work nowhere.
func Where(cat *Catalogue, backend, fault string) (topology string, err error) {
	b, err := cat.Backends.Get(backend)
	if err != nil {
		return "", err
	}
	why := possible(cat, backend, b.Topologies[0], fault, false)
	if why == nil {
		return b.Topologies[0], nil
	}
	for _, name := range b.Topologies[1:] {
		if possible(cat, backend, name, fault, true) == nil {
			return name, nil
		}
	}
	return "", why
}

// By says for every provider but auto why none of its runs could have a fault; nil: one can. It does not look at this
// machine.
func By(cat *Catalogue, fault nemesis.Spec) map[string]error {
	why := map[string]error{}
	for _, provider := range ProviderNames()[1:] {
		why[provider] = cat.by(provider, fault)
	}
	return why
}

func (cat *Catalogue) by(provider string, fault nemesis.Spec) (why error) {
	for _, b := range cat.Backends.All() {
		for _, name := range b.Topologies {
			cfg := Defaults()
			cfg.Backend, cfg.Topology = b.Name, name
			r := &resolved{Config: cfg, cat: cat}
			if err := errors.Join(r.names(), r.numbers()); err != nil || len(r.topology.Nodes) == 0 || !carries(provider, r.topology) {
				continue
			}
			s := r.setting(provider)
			s.NoDisks = r.noDisks(provider)
			if s.Theirs == "" && provider != cluster.EmbeddedName && provides[cluster.Timer](r.topology) {
				s.NoClock = ""
			}
			text := fault.WhyNot(s)
			if text == "" {
				return nil
			}
			why = errors.New(text)
		}
	}
	return why
}

// carries reports whether a provider can start every server of a topology, on some machine.
func carries(provider string, t cluster.Topology) bool {
	return !t.Any(func(n cluster.Recipe) bool {
		switch provider {
		case cluster.ContainerName:
			return n.Image == ""
		case cluster.EmbeddedName:
			return !n.Embeds()
		case cluster.ExternalName:
			return !cluster.Can[cluster.Tenant](n)
		}
		return n.Binary == ""
	})
}

var errElectsNone = errors.New("the servers of this topology do not elect a leader, and lockstorm cannot promote one of them")

// possible is nil where a fault can work on a topology with real servers.
func possible(cat *Catalogue, backend, topology, fault string, elects bool) error {
	cfg := Defaults()
	cfg.Backend, cfg.Topology, cfg.Nemesis = backend, topology, []string{fault}
	r := &resolved{Config: cfg, cat: cat}
	for _, step := range []func() error{r.names, r.numbers, r.register} {
		if err := step(); err != nil {
			return err
		}
	}
	spec, err := cat.Nemeses.Get(fault)
	if err != nil || spec.Fault == nil {
		return err
	}
	s := r.setting(cluster.ProcessName)
	s.NoDisks = r.noDisks(cluster.ProcessName)
	if provides[cluster.Timer](r.topology) {
		s.NoClock = ""
	}
	if r.topology.Any(func(n cluster.Recipe) bool { return n.Binary == "" }) {
		s = r.setting(cluster.EmbeddedName)
		s.NoDisks = r.noDisks(cluster.EmbeddedName)
	}
	if elects && s.Elects == 0 && !s.Promotes && !spec.Disks {
		return errElectsNone
	}
	return spec.Fault.Available(s)
}

// noClock says why the clocks of a provider's servers cannot jump.
func noClock(provider string, t cluster.Topology) string {
	if provider == cluster.EmbeddedName {
		return "lockstorm cannot change the clock of a server with --provider " + provider + ": use --provider " + cluster.ProcessName +
			" or " + cluster.ContainerName
	}
	if !provides[cluster.Timer](t) {
		return "the servers of " + t.Name + " do not report their time, so lockstorm could not prove that their clock jumped"
	}
	if _, err := clockshim.Compiler(); err != nil {
		return err.Error()
	}
	return ""
}

// noDisks says why the servers of a provider cannot be on disks that lose their power, whatever the machine.
func (r *resolved) noDisks(provider string) string {
	if err := cluster.Disks(provider, r.topology); err != nil {
		return err.Error()
	}
	return ""
}

// noLoss says why packets cannot be lost on this host.
var noLoss = sync.OnceValue(func() string {
	if err := link.CanLose(); err != nil {
		return fmt.Sprintf("mode=loss needs socket filters, which this host does not allow (%v): use mode=blackhole", err)
	}
	return ""
})

// ClockShim returns the compiler of the shim by which clocks jump, or why there is none.
func ClockShim() (string, error) { return clockshim.Compiler() }
