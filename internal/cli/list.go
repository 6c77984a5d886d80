package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
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
		"checks":     func() []listed { return each(a.cat.Checks, plain) },
		"topologies": func() []listed { return each(a.cat.Topologies, plain) },
		"registers":  a.registers,
	}
	kinds := []string{"backends", "nemeses", "workloads", "checks", "topologies", "registers"}
	lists["faults"] = a.nemeses // as docs call them
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "list " + strings.Join(kinds, "|") + " [NAME]",
		Short:     "list locks, faults, workloads and more; with a name, all about one",
		ValidArgs: append(kinds, "faults"),
		Args: func(_ *cobra.Command, args []string) error {
			if (len(args) == 1 || len(args) == 2) && lists[args[0]] != nil {
				return nil
			}
			hint := ""
			if len(args) > 0 {
				hint = catalog.DidYouMean(args[0], append(kinds, "faults"))
			}
			return fmt.Errorf("say what to list: %s", cmp.Or(strings.TrimSpace(hint), "one of "+strings.Join(kinds, ", ")))
		},
		RunE: func(_ *cobra.Command, args []string) error {
			items, whole := lists[args[0]](), len(args) == 2
			if whole {
				var err error
				if items, err = one(items, args[0], args[1]); err != nil {
					return err
				}
			}
			switch {
			case asJSON:
				return a.PrintJSON(items)
			case whole:
				return a.printWhole(items[0])
			}
			return a.printList(args[0], items)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON, with all about each")
	return cmd
}

// one is the item of a name.
func one(items []listed, kind, name string) ([]listed, error) {
	if l, ok := lists.Find(items, func(l listed) bool { return l.Name == name }); ok {
		return []listed{l}, nil
	}
	names := lists.Map(items, func(l listed) string { return l.Name })
	return nil, harness.Usage(fmt.Errorf("%q is not in the list: %ssee: list %s", name, catalog.DidYouMean(name, names), kind))
}

// each lists a catalogue; one of somebody else may have none of a kind.
func each[S catalog.Entry](c *catalog.Catalog[S], as func(S) listed) []listed {
	if c == nil {
		return nil
	}
	return lists.Map(c.All(), as)
}

func plain[S catalog.Entry](s S) listed { return listed{Name: s.EntryName(), Doc: s.EntryDoc()} }

func (a *App) backends() []listed {
	return each(a.cat.Backends, func(b backends.Spec) listed {
		return listed{
			Name: b.Name, Doc: b.Doc, Topologies: b.Topologies, Ends: b.Ends, Tokens: b.Tokens, Points: history.PointNames(b.Points),
			Params: b.Params,
		}
	})
}

func (a *App) registers() []listed {
	return each(a.cat.Registers, func(r backends.Register) listed {
		return listed{Name: r.Name, Doc: r.Doc, Topologies: r.Topologies}
	})
}

func (a *App) nemeses() []listed {
	return each(a.cat.Nemeses, func(n nemesis.Spec) listed { return listed{Name: n.Name, Doc: n.Doc, Params: n.Params} })
}

func (a *App) workloads() []listed {
	common := slices.Concat(history.SectionPoints(), history.MessagePoints())
	return each(a.cat.Workloads, func(w workloads.Spec) listed {
		return listed{Name: w.Name, Doc: w.Doc, Params: w.Params, Points: history.PointNames(slices.Concat(common, w.Points))}
	})
}

// printList prints a line for each.
func (a *App) printList(kind string, items []listed) error {
	tw := tabwriter.NewWriter(a.st.Stdout, 0, 4, 2, ' ', 0)
	more := false
	for _, l := range items {
		fmt.Fprintf(tw, "%s\t%s\n", l.Name, l.Doc)
		more = more || len(l.Params)+len(l.Points)+len(l.Topologies) > 0
	}
	if more {
		fmt.Fprintf(tw, "\nParameters, points and topologies of one: %s list %s NAME\n", a.st.Name, kind)
	}
	return tw.Flush()
}

// printWhole prints all about one.
func (a *App) printWhole(l listed) error {
	tw := tabwriter.NewWriter(a.st.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "%s: %s\n", l.Name, l.Doc)
	if len(l.Topologies) > 0 {
		fmt.Fprintf(tw, "runs on %s\n", strings.Join(l.Topologies, ", "))
	}
	if l.Ends == history.EndsNever {
		fmt.Fprintln(tw, "a grant that is not released never ends")
	} else if l.Ends != "" {
		fmt.Fprintf(tw, "a grant that is not released ends with the client's %s\n", l.Ends)
	}
	if l.Tokens {
		fmt.Fprintln(tw, "issues fencing tokens")
	}
	if len(l.Points) > 0 {
		fmt.Fprintf(tw, "points: %s\n", strings.Join(l.Points, ", "))
	}
	for _, p := range l.Params {
		fmt.Fprintf(tw, "  %s=%s\t%s\n", p.Name, cmp.Or(p.Default, "-"), p.Doc)
	}
	return tw.Flush()
}
