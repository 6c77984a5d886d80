package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cachedir"
	"github.com/lockstorm/lockstorm/internal/cluster/container"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// usable says how a topology can be started here, or what a tool is that faults need.
type usable struct {
	Topology string            `json:"topology,omitempty"`
	Tool     string            `json:"tool,omitempty"`
	Chosen   string            `json:"chosen"` // what --provider auto takes; empty: none can
	Versions map[string]string `json:"versions,omitempty"`
	Missing  []string          `json:"missing,omitempty"` // why the other providers cannot

	programs string // of its servers
}

func (a *App) doctorCommand() *cobra.Command {
	var asJSON, clean bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "show which servers can be used here, and how to get the others",
		Long: `Says of each kind of server how it is started here (--provider auto), for which topologies, and what is missing with
the command that gets it. Then: what clock-jump and power-loss need, Docker, and what killed runs left behind, which --clean
removes. --json has all providers.

Exit code 4: a topology cannot be started at all, and not only for want of lockstorm-servers.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if clean {
				return a.clean(cmd.Context())
			}
			return a.doctor(cmd.Context(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&clean, "clean", false, "remove leftovers of killed runs, and list them")
	cmd.MarkFlagsMutuallyExclusive("json", "clean")
	return cmd
}

// clean removes the containers of dead runs, and what they were making in a cache.
func (a *App) clean(ctx context.Context) error {
	half, unremoved := cachedir.Clean()
	for _, dir := range half {
		fmt.Fprintf(a.st.Stdout, "removed %s, which a killed run had left unfinished\n", dir)
	}
	if unremoved != nil {
		return harness.Environment(unremoved)
	}
	gone, err := container.Clean(ctx)
	for _, l := range gone {
		fmt.Fprintf(a.st.Stdout, "removed the leftovers of run %s: %s\n", l.Run, strings.Join(slices.Concat(l.Containers, l.Networks),
			", "))
	}
	if err != nil && !errors.Is(err, companion.ErrMissing) { // without it, nothing is in containers
		return harness.Environment(err)
	}
	if len(gone)+len(half) == 0 {
		fmt.Fprintln(a.st.Stdout, "no leftovers of killed runs")
	}
	return nil
}

// docker says what Docker can do here, and what runs have left in it.
func (a *App) docker(ctx context.Context) usable {
	u := usable{Tool: "docker", Versions: map[string]string{}}
	version, images, err := container.State(ctx)
	if err != nil {
		u.Missing = []string{"container: " + err.Error()}
		return u
	}
	u.Chosen, u.Versions = "server "+version, images
	left, err := container.Leftovers(ctx)
	if err != nil {
		u.Missing = []string{err.Error()}
	}
	for _, l := range left {
		names := strings.Join(slices.Concat(l.Containers, l.Networks), ", ")
		if l.Dead {
			u.Missing = append(u.Missing, fmt.Sprintf("run %s was killed and left %s behind: run doctor --clean to remove them",
				l.Run, names))
			continue
		}
		u.Missing = append(u.Missing, fmt.Sprintf("run %s still has %s and may be alive on another machine or in another "+
			"container: check there (doctor --clean does not remove them)", l.Run, names))
	}
	return u
}

func (a *App) doctor(ctx context.Context, asJSON bool) error {
	var all []usable
	code := harness.ExitPass
	for _, t := range a.cat.Topologies.All() {
		u := examine(ctx, a.cat, t)
		if u.Chosen == "" && u.programs != "" { // else only lockstorm-servers has it
			code = harness.ExitEnvironment
		}
		all = append(all, u)
	}
	all = append(all, clocks(), disks(), cache(), a.docker(ctx))
	if asJSON {
		if err := a.PrintJSON(all); err != nil {
			return err
		}
		return a.Exit(code)
	}
	fmt.Fprintf(a.st.Stdout, "%s %s, %s on %s/%s, %d CPUs\n\n", a.st.Name, Version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.NumCPU())
	tw := tabwriter.NewWriter(a.st.Stdout, 0, 4, 2, ' ', 0)
	for _, u := range byStore(all) {
		state := "ready: " + u.Chosen
		if u.Chosen == "" {
			state = "NOT USABLE"
		}
		fmt.Fprintf(tw, "%s\t%s\n", u.Tool, state)
		for _, name := range slices.Sorted(maps.Keys(u.Versions)) {
			fmt.Fprintf(tw, "\t  %s: %s\n", name, u.Versions[name])
		}
		if u.Topology != "" {
			fmt.Fprintf(tw, "\t  %s\n", u.Topology)
		}
		for _, m := range u.Missing {
			fmt.Fprintf(tw, "\t  %s\n", m)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return a.Exit(code)
}

// disks says whether servers can lose their power here.
func disks() usable {
	u := usable{Tool: "disks", Chosen: "mounted by " + companion.Program}
	if err := cluster.CanDisk(); err != nil {
		u.Chosen, u.Missing = "", []string{"power-loss: " + err.Error()}
	}
	return u
}

// byStore are the tools, and the topologies by the programs of their servers, which name them. What other ways lack is told only
// where programs are missing, what Docker lacks only once, and never that nothing is embedded.
func byStore(all []usable) (out []usable) {
	at := map[string]int{}
	docker := all[len(all)-1].Missing
	for _, u := range all {
		if u.Tool == "" {
			if u.Tool = u.programs; u.Tool == "" {
				u.Tool, u.Topology = u.Topology, ""
			}
			u.Missing = slices.DeleteFunc(u.Missing, func(why string) bool {
				return u.Chosen == cluster.ProcessName || strings.HasPrefix(why, cluster.EmbeddedName+": ") || slices.Contains(docker, why)
			})
		}
		key := fmt.Sprint(u.Tool, u.Chosen, u.Versions, u.Missing)
		if i, known := at[key]; known && u.Topology != "" {
			out[i].Topology += ", " + u.Topology
			continue
		}
		at[key] = len(out)
		out = append(out, u)
	}
	return out
}

// cache says where lockstorm keeps what it makes once, and what killed runs had begun to make.
func cache() usable {
	u := usable{Tool: "cache"}
	dir, why, err := cachedir.Dir()
	if err != nil {
		u.Missing = []string{err.Error()}
		return u
	}
	u.Chosen = dir
	if why != "" {
		u.Missing = []string{why}
	}
	left, err := cachedir.Left()
	if err != nil {
		u.Missing = append(u.Missing, err.Error())
	}
	for _, half := range left {
		u.Missing = append(u.Missing, fmt.Sprintf("a killed run left unfinished files in %s: run doctor --clean to remove them",
			half))
	}
	return u
}

// clocks says what moves the clocks of servers. A run without clock jumps does not need it.
func clocks() usable {
	u := usable{Tool: "clock shim"}
	compiler, err := harness.ClockShim()
	if err != nil {
		u.Missing = []string{"clock-jump: " + err.Error()}
		return u
	}
	u.Chosen = "compiled by " + compiler
	return u
}

func examine(ctx context.Context, cat *harness.Catalogue, t cluster.Topology) usable {
	u := usable{Topology: t.Name, Versions: map[string]string{}}
	programs := lists.Map(t.Nodes, func(n cluster.Recipe) string { return n.Binary })
	slices.Sort(programs)
	u.programs = strings.Join(slices.Compact(programs), ", ")
	if len(t.Nodes) == 0 {
		u.Chosen = "needs no server"
		return u
	}
	for _, p := range cat.Providers(harness.Means{}) {
		if cluster.Foreign(p) {
			continue // nothing of this machine says where they are
		}
		err := p.Available(t)
		switch {
		case err != nil:
			u.Missing = append(u.Missing, p.Name()+": "+err.Error())
		case u.Chosen == "":
			u.Chosen = p.Name()
		}
	}
	if u.Chosen != cluster.ProcessName {
		return u
	}
	for _, n := range t.Nodes {
		if v, err := n.VersionLine(ctx); err == nil {
			u.Versions[n.Binary] = v
		}
	}
	return u
}
