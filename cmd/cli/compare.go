package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/reports"
	"github.com/lockstorm/lockstorm/suite/gate"
)

func (a *App) compareCommand() *cobra.Command {
	var asJSON, fail bool
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "two stored suites side by side",
		Long: `Says what differs from suite A to suite B, each a directory or its results.json: two versions of a lock, two
time-outs, two machines. Violations that came or went, and statistically significant differences of figures:
less than 5 of 100 such comparisons would find one where nothing has changed, all figures of the suite
taken together, and the difference is a fifth at least. More seeds see smaller differences.

With --fail the exit code is 1 where B has a violation that A has not, else 5 where a figure is significantly
worse or a cell of A is missing or was not measured in B, else 0.`,
		Example: fmt.Sprintf("  %[1]s compare lockstorm-runs/before lockstorm-runs/after --fail", a.st.Name),
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			before, errA := gate.ReadResults(args[0])
			after, errB := gate.ReadResults(args[1])
			if err := errors.Join(errA, errB); err != nil {
				return usage(err)
			}
			d := gate.Compare(before, after)
			if asJSON {
				if err := a.PrintJSON(d); err != nil {
					return err
				}
			} else {
				for _, l := range d.Lines() {
					fmt.Fprintln(a.st.Stdout, reports.Visible(l, ""))
				}
			}
			if code := d.Code(); fail && code != harness.ExitPass {
				return a.Exit(code)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&fail, "fail", false, "exit with 1 for a new violation, with 5 for a figure that is significantly worse or missing")
	return cmd
}
