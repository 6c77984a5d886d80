package cli

import (
	"fmt"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
)

// usable says how a topology can be started here, or what a tool is that faults need.
type usable struct {
	Topology string            `json:"topology,omitempty"`
	Tool     string            `json:"tool,omitempty"`
	Chosen   string            `json:"chosen"` // what --provider auto takes; empty: none can
	Versions map[string]string `json:"versions,omitempty"`
	Missing  []string          `json:"missing,omitempty"` // why the other providers cannot
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "which servers are usable here, and how to get the rest",
		Long: `Says for every topology which provider --provider auto would take, and what the others
lack; and what the fault clock-jump needs. Exit code 4 when a topology cannot be started
at all.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.doctor(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (a *app) doctor(asJSON bool) error {
	var all []usable
	code := harness.ExitPass
	for _, t := range a.cat.Topologies.All() {
		u := examine(t)
		if u.Chosen == "" {
			code = harness.ExitEnvironment
		}
		all = append(all, u)
	}
	all = append(all, clocks())
	if asJSON {
		if err := a.printJSON(all); err != nil {
			return err
		}
		return exitWith(code)
	}
	fmt.Fprintf(a.st.Stdout, "%s %s, %s on %s/%s, %d CPUs\n\n", a.st.Name, Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	tw := tabwriter.NewWriter(a.st.Stdout, 0, 4, 2, ' ', 0)
	for _, u := range all {
		state := "ready: " + u.Chosen
		if u.Chosen == "" {
			state = "NOT USABLE"
		}
		fmt.Fprintf(tw, "%s\t%s\n", u.Topology+u.Tool, state)
		for binary, v := range u.Versions {
			fmt.Fprintf(tw, "\t  %s: %s\n", binary, v)
		}
		for _, m := range u.Missing {
			fmt.Fprintf(tw, "\t  %s\n", m)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return exitWith(code)
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

func examine(t cluster.Topology) usable {
	u := usable{Topology: t.Name, Versions: map[string]string{}}
	if len(t.Nodes) == 0 {
		u.Chosen = "needs no server"
		return u
	}
	for _, p := range harness.Providers(nil) {
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
		if v, err := harness.BinaryVersion(n); err == nil {
			u.Versions[n.Binary] = v
		}
	}
	return u
}
