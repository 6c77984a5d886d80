package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/shell"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// shrunkFile says in the directory of the smallest trial what was made smaller.
const shrunkFile = "shrunk.json"

type shrinkFlags struct {
	out, check string
	runs, rate int
}

func (a *App) shrinkCommand() *cobra.Command {
	var f shrinkFlags
	cmd := &cobra.Command{
		Use:   "shrink DIR",
		Short: "find the smallest run with the same violation",
		Long: `Looks for the smallest run that still shows the violation (check, rule and class): fewer faults and clients, a
shorter run, shorter faults. 4 runs with the violation accept a smaller version, 2 without it refuse it; at most 1 of
10 such decisions is wrong.

At the end the smallest version runs --rate times, and its rate is printed with a 95 % confidence interval. The directory
has it (replay repeats it), the report of a run with the violation, and ` + shrunkFile + `.

Exit codes: 0 done, also if nothing smaller shows it; 2 the run shows it too rarely; 3 wrong usage; 130 interrupted (the
smallest so far is kept).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.shrink(cmd.Context(), args[0], f) },
	}
	Number(cmd.Flags(), &f.runs, "runs", 10, 150, "maximum number of runs that shrink makes in total")
	Number(cmd.Flags(), &f.rate, "rate", 1, 10, "repetitions of the smallest run, to measure how often it fails")
	cmd.Flags().StringVar(&f.check, "check", "", "smaller runs must show this check's first violation")
	cmd.Flags().StringVar(&f.out, "out", "", "directory of the result, new or empty (default: "+
		runsDir+"/shrink-BACKEND-TIME)")
	return cmd
}

func (a *App) shrink(ctx context.Context, dir string, f shrinkFlags) error {
	if f.rate >= f.runs {
		return harness.Usage(fmt.Errorf("--rate %d leaves no run of --runs to try smaller versions: choose a larger --runs or "+
			"a smaller --rate", f.rate))
	}
	t, err := harness.ReadTrial(a.cat, dir, Version())
	if err != nil {
		return err
	}
	r, err := harness.ReadResults(dir)
	if err != nil {
		return harness.Usage(fmt.Errorf("shrink: %w", err))
	}
	target, at, ok := explore.TargetOf(r, f.check)
	switch {
	case !ok && f.check != "":
		return harness.Usage(fmt.Errorf("shrink: check %s found no violation in the run %s: choose a check that found a violation",
			f.check,
			dir))
	case !ok:
		return harness.Usage(fmt.Errorf("shrink: the run %s has no violation: name the directory of a run with a violation", dir))
	}
	out := cmp.Or(f.out, RunDir("shrink-"+t.Config.Backend))
	if err := harness.EmptyDir(out); err != nil {
		return err
	}
	fmt.Fprintf(a.st.Stdout, "violation: %s\ntrial:     %s\n\n", target, explore.SizeOf(t))
	t.Config.Command = shell.Join(cmp.Or(a.st.Program, a.st.Name), "replay", filepath.Join(out, "shrunk"))
	began := time.Now()
	s := &explore.Shrinker{
		Catalogue: a.cat, Target: target, Runs: f.runs, Rate: f.rate, Dir: out,
		Said: func(text string, taken bool, runs, shown int) {
			fmt.Fprintf(a.st.Stdout, "%-8s %s (violation in %d of %d runs)\n", map[bool]string{true: "taken", false: "refused"}[taken],
				text, shown, runs)
		},
		Run: func(ctx context.Context, t *harness.Trial, dir string) (*checker.Results, error) {
			return t.Judged(ctx, dir)
		},
	}
	made, err := s.Shrink(ctx, t, at)
	if err != nil {
		return a.notShrunk(ctx, err)
	}
	if err := files.WriteJSON(filepath.Join(made.Dir, shrunkFile), made); err != nil {
		return harness.Environment(err)
	}
	a.tellShrunk(made, time.Since(began))
	if ctx.Err() != nil {
		return a.Exit(harness.ExitInterrupted)
	}
	return nil
}

// notShrunk says why there is no smaller trial.
func (a *App) notShrunk(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(a.st.Stderr, "interrupted before a smaller version was found")
		return a.Exit(harness.ExitInterrupted)
	case errors.Is(err, explore.ErrNotAgain):
		fmt.Fprintf(a.st.Stdout, "\ninconclusive: %v: name a run that shows the violation nearly every time\n", err)
		return a.Exit(harness.ExitUnknown)
	}
	return err
}

func (a *App) tellShrunk(m *explore.Shrunk, took time.Duration) {
	w := a.st.Stdout
	fmt.Fprintf(w, "\nbefore:    %s\nafter:     %s\n", m.Before, m.After)
	if m.Of > 0 {
		low, high := tally.Share(float64(m.Again), float64(m.Of))
		fmt.Fprintf(w, "rate:      %d of %d repeated runs showed the violation (95 %% confidence interval: %.0f %% to %.0f %%)\n",
			m.Again, m.Of, 100*low, 100*high)
	}
	if m.Cut != "" {
		fmt.Fprintf(w, "note:      %s, so a smaller version of the run may exist\n", m.Cut)
	}
	outcome := suite.Violated
	if m.Target.Class == checker.Defect {
		outcome = suite.Defect
	}
	fmt.Fprintf(w, "as a cell of a suite file: include: [{trial: %s, outcome: %s}]\nas a Go test: lockstormtest.Kept(t, "+
		"catalogue, %q, suite.Expectation{Outcome: %q})\n", m.Dir, outcome, filepath.Join(m.Dir, harness.TrialFile), outcome)
	fmt.Fprintf(w, "made:      %s in %v\nreport:    %s\nrepeat:    %s\n", Plural(m.Runs, "run"), took.Round(time.Second),
		absolute(filepath.Join(m.Dir, harness.ReportFile)), a.named("replay", m.Dir, "--times", "10"))
}
