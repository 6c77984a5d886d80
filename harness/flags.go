package harness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/shell"
)

// Bind adds a flag to the set for every field that a user chooses. The present values of the fields are the defaults.
func (c *Config) Bind(f *pflag.FlagSet) {
	f.StringVar(&c.Backend, "backend", c.Backend, "the lock (see: list backends), or exec:cmd=FILE for an adapter")
	c.BindSetting(f)
	f.StringArrayVar(&c.Nemesis, "nemesis", c.Nemesis, "a fault, name[:key=value,...] (see: list nemeses); may be repeated")
	f.StringVar(&c.Workload, "workload", c.Workload, "what clients do, name[:key=value,...] (see: list workloads)")
	f.IntVar(&c.Clients, "clients", c.Clients, "number of client processes")
	f.IntVar(&c.Locks, "locks", c.Locks, "number of locks that the clients use")
	f.DurationVar(&c.Time, "time", c.Time, "for how long the clients work and lockstorm injects faults")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of all random choices (default: a random seed, which lockstorm prints)")
	f.StringVar(&c.Out, "out", c.Out, "directory of the run, new or empty (default: lockstorm-runs/BACKEND-TIME)")
	f.StringVar(&c.FailOn, "fail-on", c.FailOn, "findings that fail the run: all, or defect (not what is inherent)")
	f.StringSliceVar(&c.Require, "require", c.Require, "checks that can fail the run; +NAME adds one (see: list checks)")
}

// BindSetting adds the flags for where the lock is tried and how its clients use it, which a search of many runs
// leaves as they are.
func (c *Config) BindSetting(f *pflag.FlagSet) {
	f.StringVar(&c.Topology, "topology", c.Topology, "the set of servers (see: list topologies; default: the lock's first)")
	f.StringVar(&c.Provider, "provider", c.Provider, "how servers are started: "+strings.Join(ProviderNames(), ", "))
	f.StringArrayVar(&c.Images, "image", c.Images, "NAME=REF: image to use in place of NAME; may be repeated")
	f.StringVar(&c.Network, "network", c.Network, "network of containers: host (default), or bridge")
	f.StringSliceVar(&c.Servers, "servers", c.Servers, "NODE=HOST:PORT,...: existing servers (with --provider external)")
	f.StringVar(&c.Fencing, "fencing", c.Fencing, "which data clients write: on (with a fence), off (without), both")
	f.StringVar(&c.Register, "register", c.Register, "store for the protected data (default: lockstorm's own; see: list registers)")
	f.StringVar(&c.Discipline, "discipline", c.Discipline, "when clients stop using a lost lock: obey, told, trusting "+
		"(docs/glossary.md)")
	f.DurationVar(&c.TTL, "ttl", c.TTL, "time to live of leases (default: the topology's, else 1s)")
}

// Flags returns the flags of `run`, bound to the configuration.
func (c *Config) Flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.Usage = func() {}
	c.Bind(f)
	return f
}

// ParseLine parses the flags of `run`, as written in Go code: "--backend file-flock --nemesis client-pause --time
// 4s". Words are separated by blanks, without quotes. Flags that are not given have their defaults.
func ParseLine(line string) (Config, error) {
	c := Defaults()
	f := c.Flags()
	if err := f.Parse(strings.Fields(line)); err != nil {
		return c, fmt.Errorf("%q: %w", line, err)
	}
	return c, c.Behind(f)
}

// Behind takes the words behind -- as the arguments of the backend; a word elsewhere is an error.
func (c *Config) Behind(f *pflag.FlagSet) error {
	words := f.Args()
	if dash := f.ArgsLenAtDash(); len(words) > 0 && dash != 0 {
		return fmt.Errorf("%q is not a flag", words[0])
	}
	if c.Arguments = nil; len(words) > 0 {
		c.Arguments = words
	}
	return nil
}

// Line returns the flags that make this configuration of the defaults, as a shell reads them. It is for people who
// repeat a run, and never parsed. The directory of the run is not included.
func (c Config) Line() string { return shell.Join(c.Args()...) }

// Args returns the words of [Config.Line].
func (c Config) Args() []string {
	d := Defaults()
	var out []string
	add := func(flag, val, def string) {
		if val != def {
			out = append(out, "--"+flag, val)
		}
	}
	add("backend", c.Backend, "")
	add("topology", c.Topology, "")
	add("provider", c.Provider, d.Provider)
	for _, s := range c.Servers {
		add("servers", s, "")
	}
	for _, i := range c.Images {
		add("image", i, "")
	}
	add("network", c.Network, "")
	add("clients", strconv.Itoa(c.Clients), strconv.Itoa(d.Clients))
	if !slices.Equal(c.Nemesis, d.Nemesis) {
		for _, n := range c.Nemesis {
			add("nemesis", n, "")
		}
	}
	add("workload", c.Workload, d.Workload)
	add("fencing", c.Fencing, d.Fencing)
	add("register", c.Register, "")
	add("discipline", c.Discipline, d.Discipline)
	add("ttl", c.TTL.String(), d.TTL.String())
	add("locks", strconv.Itoa(c.Locks), strconv.Itoa(d.Locks))
	add("time", c.Time.String(), d.Time.String())
	add("fail-on", c.FailOn, d.FailOn)
	add("require", strings.Join(c.Require, ","), "")
	add("seed", strconv.FormatUint(c.Seed, 10), "0")
	if len(c.Arguments) > 0 {
		out = append(append(out, "--"), c.Arguments...)
	}
	return out
}
