package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// listed is an entry of a list, also as JSON.
type listed struct {
	Name       string          `json:"name"`
	Doc        string          `json:"doc"`
	Topologies []string        `json:"topologies,omitempty"`
	Ends       string          `json:"ends,omitempty"`
	Tokens     bool            `json:"tokens,omitempty"`
	Points     []string        `json:"points,omitempty"`
	Params     []catalog.Param `json:"params,omitempty"`
}

func (a *App) listCommand() *cobra.Command {
	lists := map[string]func() []listed{
		"backends": a.backends, "nemeses": a.nemeses, "workloads": a.workloads,
		"checks":     func() []listed { return plain(a.cat.Checks) },
		"topologies": func() []listed { return plain(a.cat.Topologies) },
		"registers":  a.registers,
	}
	kinds := []string{"backends", "nemeses", "workloads", "checks", "topologies", "registers"}
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "list " + strings.Join(kinds, "|"),
		Short:     "list backends, faults, workloads and more, with parameters and defaults",
		ValidArgs: kinds,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && lists[args[0]] != nil {
				return nil
			}
			return fmt.Errorf("say what to list: one of %s", strings.Join(kinds, ", "))
		},
		RunE: func(_ *cobra.Command, args []string) error {
			items := lists[args[0]]()
			if asJSON {
				return a.PrintJSON(items)
			}
			return a.printList(items)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func plain[S catalog.Entry](c *catalog.Catalog[S]) []listed {
	var out []listed
	for _, s := range c.All() {
		out = append(out, listed{Name: s.EntryName(), Doc: s.EntryDoc()})
	}
	return out
}

func (a *App) backends() []listed {
	var out []listed
	for _, b := range a.cat.Backends.All() {
		l := listed{Name: b.Name, Doc: b.Doc, Topologies: b.Topologies, Ends: b.Ends, Tokens: b.Tokens}
		l.Points, l.Params = history.PointNames(b.Points), b.Params
		out = append(out, l)
	}
	return out
}

// registers are those in stores; a catalogue of somebody else may have none.
func (a *App) registers() []listed {
	var out []listed
	if a.cat.Registers == nil {
		return out
	}
	for _, r := range a.cat.Registers.All() {
		out = append(out, listed{Name: r.Name, Doc: r.Doc, Topologies: r.Topologies})
	}
	return out
}

func (a *App) nemeses() []listed {
	var out []listed
	for _, n := range a.cat.Nemeses.All() {
		out = append(out, listed{Name: n.Name, Doc: n.Doc, Params: n.Params})
	}
	return out
}

func (a *App) workloads() []listed {
	common := append(history.PointNames(history.SectionPoints()), history.PointNames(history.MessagePoints())...)
	var out []listed
	for _, w := range a.cat.Workloads.All() {
		out = append(out, listed{Name: w.Name, Doc: w.Doc, Params: w.Params, Points: append(slices.Clone(common), history.PointNames(w.Points)...)})
	}
	return out
}

func (a *App) printList(items []listed) error {
	tw := tabwriter.NewWriter(a.st.Stdout, 0, 4, 2, ' ', 0)
	for _, l := range items {
		fmt.Fprintf(tw, "%s\t%s\n", l.Name, l.Doc)
		if len(l.Topologies) > 0 {
			facts := ""
			switch l.Ends {
			case "":
			case history.EndsNever:
				facts = "; a grant that is not released never ends"
			default:
				facts = "; a grant that is not released ends with the client's " + l.Ends
			}
			if l.Tokens {
				facts += "; issues fencing tokens"
			}
			fmt.Fprintf(tw, "\t  runs on %s%s\n", strings.Join(l.Topologies, ", "), facts)
		}
		if len(l.Points) > 0 {
			fmt.Fprintf(tw, "\t  points: %s\n", strings.Join(l.Points, ", "))
		}
		for _, p := range l.Params {
			def := p.Default
			if def == "" {
				def = "-"
			}
			fmt.Fprintf(tw, "\t  %s=%s: %s\n", p.Name, def, p.Doc)
		}
	}
	return tw.Flush()
}
