package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/reports"
)

// writeSides writes the page of the later suite, with what differs from the earlier one.
func writeSides(after *gate.SuiteResults, d *gate.Against, dir, page string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	after.Baseline = d
	err := files.Write(page, matrix.Of(after, dir, filepath.Dir(page)).HTML)
	if err != nil {
		return harness.Environment(fmt.Errorf("--page: %w", err))
	}
	return nil
}

func (a *App) compareCommand() *cobra.Command {
	var asJSON, fail bool
	var page string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "compare the results of two suites",
		Long: `Lists what differs between two suites (directories or results.json), for example of two versions of a lock:
violations that appeared or went, and figures that differ significantly and by 20 % or more. If nothing changed, fewer
than 5 of 100 comparisons list a figure. More seeds find smaller differences.

With --fail: 1 if B has a violation that A does not have; 5 if a figure of B is worse, or a cell of A is missing or was not
measured in B; else 0. --page writes both side by side as a web page.`,
		Example: fmt.Sprintf("  %[1]s compare lockstorm-runs/before lockstorm-runs/after --fail", a.st.Name),
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			before, errA := gate.ReadResults(args[0])
			after, errB := gate.ReadResults(args[1])
			if err := errors.Join(errA, errB); err != nil {
				return harness.Usage(err)
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
			if page != "" {
				if err := writeSides(after, d, args[1], page); err != nil {
					return err
				}
				fmt.Fprintf(a.st.Stderr, "page: %s\n", absolute(page))
			}
			if fail {
				return a.Exit(d.Code())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().StringVar(&page, "page", "", "write a web page with both suites side by side to `FILE`")
	cmd.Flags().BoolVar(&fail, "fail", false, "exit 1 for a new violation in B, 5 for worse figures")
	return cmd
}
