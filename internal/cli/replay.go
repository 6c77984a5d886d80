package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/reports"
)

func (a *App) replayCommand() *cobra.Command {
	var times int
	var out string
	cmd := &cobra.Command{
		Use:   "replay DIR",
		Short: "repeat a run: the same configuration, seed and faults",
		Long: `Repeats a run: configuration, seed and plan of faults come from its trial.json. Timing differs, so a fault may hit
another client unless the plan names one.

Each run says whether it ended like the first: the same verdict of each check, findings of the same rules. Exit codes: 1
a violation, else 2 inconclusive, else 0.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.replay(cmd.Context(), args[0], out, times)
		},
	}
	Number(cmd.Flags(), &times, "times", 1, 1, "number of runs, one after the other")
	cmd.Flags().StringVar(&out, "out", "", "directory of the runs, new or empty (default: "+
		runsDir+"/replay-BACKEND-TIME)")
	return cmd
}

func (a *App) replay(ctx context.Context, dir, out string, times int) error {
	t, err := harness.ReadTrial(a.cat, dir, Version())
	if err != nil {
		return err
	}
	before, err := harness.ReadResults(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	out = cmp.Or(out, RunDir("replay-"+t.Config.Backend))
	view := newView(a.st)
	view.line("seed %d; command of the original run: %s", t.Config.Seed, cmp.Or(t.Config.Command, t.Config.Line()))
	for _, d := range t.Differs(ctx) {
		view.line("note: %s", d)
	}
	worst, same := harness.ExitPass, 0
	for n := range times {
		one := out
		if times > 1 {
			one = filepath.Join(out, strconv.Itoa(n+1))
			view.next(n+1, times)
		}
		o, err := a.make(ctx, t, one, view)
		if err != nil {
			return err
		}
		worst = worse(worst, o.ExitCode())
		if a.sayReplayed(n+1, o, before) {
			same++
		}
		if o.Interrupted {
			return a.Exit(o.ExitCode())
		}
		if times == 1 && before == nil {
			return a.tell(o, false)
		}
	}
	if before != nil {
		low, high := tally.Share(float64(same), float64(times))
		fmt.Fprintf(a.st.Stdout, "\n%d of %d runs ended like %s (95 %% confidence: %.0f %% to %.0f %%)\n", same, times, dir, 100*low,
			100*high)
		if err := sayRate(out, same, times); err != nil {
			return harness.Environment(err)
		}
	}
	return a.Exit(worst)
}

// sayRate writes into the pages of the replays, which are neighbours, how many ended as the saved run did.
func sayRate(out string, same, times int) (err error) {
	about := reports.Context{Rate: fmt.Sprintf("%d of %s of this run ended like the original run.", same, Plural(times, "replay"))}
	if times == 1 {
		return reports.Retrail(filepath.Join(out, harness.ReportFile), about)
	}
	for n := range times {
		about.Trail = nil
		for other := range times {
			link := reports.Link{Text: fmt.Sprintf("replay %d", other+1)}
			if other != n {
				link.Href = fmt.Sprintf("../%d/%s", other+1, harness.ReportFile)
			}
			about.Trail = append(about.Trail, link)
		}
		err = errors.Join(err, reports.Retrail(filepath.Join(out, strconv.Itoa(n+1), harness.ReportFile), about))
	}
	return err
}

// sayReplayed prints a line about one run, and what differs from the saved one.
func (a *App) sayReplayed(n int, o *harness.RunOutcome, before *checker.Results) (same bool) {
	fmt.Fprintf(a.st.Stdout, "run %d: %s; report: %s\n", n, reports.Headline(o.Results),
		absolute(filepath.Join(o.Dir, harness.ReportFile)))
	if before == nil {
		return false
	}
	differs := checker.Compare(before, o.Results)
	for _, d := range differs {
		fmt.Fprintf(a.st.Stdout, "  %s\n", d)
	}
	return len(differs) == 0
}
