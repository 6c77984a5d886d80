package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/reports"
)

func (a *app) checkCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check DIR|FILE...",
		Short: "judge stored histories again",
		Long: `Judges histories that were recorded before, here or elsewhere.

A directory of a run: its history is judged and results.json and the reports are
written anew; where the controller died before it merged the logs, they are merged
first. A file: nothing is written.

Of several, the worst exit code is returned: 1 (violation) before 4, 2 and 0.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.check(args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print results.json on stdout; of several, an array")
	return cmd
}

func (a *app) check(paths []string, asJSON bool) error {
	worst := harness.ExitPass
	var all []*checker.Results
	for _, path := range paths {
		j, where, err := a.judge(path)
		if j == nil {
			return err
		}
		if err != nil {
			fmt.Fprintf(a.st.Stderr, "%s: judged, but not everything could be written: %v\n", a.st.Name, err)
		}
		worst = worse(worst, j.Results)
		all = append(all, j.Results)
		if asJSON {
			continue
		}
		if err := reports.Summary(a.st.Stdout, j.Results, j.Record); err != nil {
			return err
		}
		a.lastLine(false, reports.Headline(j.Results), where)
	}
	if err := a.printResults(all, asJSON); err != nil {
		return err
	}
	return exitWith(worst)
}

// printResults prints one document: the results, or an array where there are several.
func (a *app) printResults(all []*checker.Results, asJSON bool) error {
	switch {
	case !asJSON:
		return nil
	case len(all) == 1:
		return a.printJSON(all[0])
	default:
		return a.printJSON(all)
	}
}

// judge judges a directory or a file; where is the report, or the file itself.
func (a *app) judge(path string) (*harness.Judged, string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, "", &harness.Error{Code: harness.ExitUsage, Err: fmt.Errorf("check: %w", err)}
	}
	if st.IsDir() {
		j, err := harness.JudgeDir(a.cat, path)
		return j, absolute(filepath.Join(path, harness.ReportFile)), err
	}
	j, err := harness.JudgeFile(a.cat, path)
	return j, "none, " + path + " was judged alone", err
}

// worse keeps the code that must not be masked: 1 before 2 before 0.
func worse(code int, r *checker.Results) int {
	rank := map[int]int{harness.ExitPass: 0, harness.ExitUnknown: 1, harness.ExitViolation: 2}
	if rank[r.ExitCode] > rank[code] {
		return r.ExitCode
	}
	return code
}
