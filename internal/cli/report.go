package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/reports"
)

func (a *App) reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "judge a run again and write its reports",
		Long: `Judges a run again and writes results.json, report.html and junit.xml. The exit code says whether they were
written; check has the verdict.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := harness.Interruptible(cmd.Context(), args[0],
				func() (*harness.Judged, error) { return harness.JudgeDir(a.cat, args[0]) })
			if err != nil {
				return err
			}
			fmt.Fprintf(a.st.Stdout, "%s; report: %s\n", reports.Headline(j.Results), absolute(filepath.Join(args[0], harness.ReportFile)))
			return nil
		},
	}
}
