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
	"github.com/lockstorm/lockstorm/explore"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/files"
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
		Short: "make the trial of a violation smaller, as long as the violation shows again",
		Long: `Runs smaller versions of the trial of a run directory: fewer faults, fewer clients, a shorter run, shorter faults. A smaller
version is taken if it shows the same violation (check, rule and class) nearly every time. Each version is run until that is
decided: 4 runs that all show the violation are enough, and so are 2 that do not (a sequential test of 90 % against 50 %; each
decision is wrong in at most 1 of 10 cases).

At the end the smallest version is run --rate times more, and the rate is printed with its 95 % interval. Its directory has the
trial (lockstorm replay runs it), the report of a run that shows the violation, and ` + shrunkFile + `.

Exit codes: 0 the trial was made smaller or cannot be smaller, 2 the violation does not show again often enough, 3 wrong usage,
130 interrupted: what was found until then is kept.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.shrink(cmd.Context(), args[0], f) },
	}
	Number(cmd.Flags(), &f.runs, "runs", 10, 150, "most runs to make in all")
	Number(cmd.Flags(), &f.rate, "rate", 1, 10, "runs of the smallest version that measure how often it shows the violation")
	cmd.Flags().StringVar(&f.check, "check", "", "shrink for the first finding of this check (default: the finding that the report tells first)")
	cmd.Flags().StringVar(&f.out, "out", "", "directory of the result; it must be empty or absent (default: "+runsDir+"/shrink-BACKEND-TIME)")
	return cmd
}

func (a *App) shrink(ctx context.Context, dir string, f shrinkFlags) error {
	if f.rate >= f.runs {
		return usage(fmt.Errorf("--rate %d leaves no runs for shrinking: choose more --runs, or a smaller --rate", f.rate))
	}
	t, err := harness.ReadTrial(a.cat, dir, Version())
	if err != nil {
		return err
	}
	r, err := harness.ReadResults(dir)
	if err != nil {
		return usage(fmt.Errorf("shrink: %w", err))
	}
	target, at, ok := explore.TargetOf(r, f.check)
	switch {
	case !ok && f.check != "":
		return usage(fmt.Errorf("shrink: check %s has no violation in %s", f.check, dir))
	case !ok:
		return usage(fmt.Errorf("shrink: %s has no violation: there is nothing to shrink for", dir))
	}
	out := cmp.Or(f.out, RunDir("shrink-"+t.Config.Backend))
	if err := harness.EmptyDir(out); err != nil {
		return err
	}
	fmt.Fprintf(a.st.Stdout, "violation: %s\ntrial:     %s\n\n", target, explore.SizeOf(t))
	t.Config.Command = fmt.Sprintf("%s replay %s", cmp.Or(a.st.Program, a.st.Name), filepath.Join(out, "shrunk"))
	began := time.Now()
	s := &explore.Shrinker{
		Catalogue: a.cat, Target: target, Runs: f.runs, Rate: f.rate, Dir: out,
		Said: func(text string, taken bool, runs, shown int) {
			fmt.Fprintf(a.st.Stdout, "%-8s %d of %d  %s\n", map[bool]string{true: "taken", false: "refused"}[taken], shown, runs, text)
		},
		Run: func(ctx context.Context, t *harness.Trial, dir string) (*checker.Results, error) {
			o, err := t.Run(ctx, dir, nil)
			if err != nil {
				return nil, err
			}
			return o.Results, nil
		},
	}
	made, err := s.Shrink(ctx, t, at)
	if err != nil {
		return a.notShrunk(ctx, err)
	}
	if err := files.WriteJSON(filepath.Join(made.Dir, shrunkFile), made); err != nil {
		return &harness.Error{Code: harness.ExitEnvironment, Err: err}
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
		fmt.Fprintln(a.st.Stderr, "interrupted before anything was found")
		return a.Exit(harness.ExitInterrupted)
	case errors.Is(err, explore.ErrNotAgain):
		fmt.Fprintf(a.st.Stdout, "\ninconclusive: %v: nothing can be left out of it with certainty\n", err)
		return a.Exit(harness.ExitUnknown)
	}
	return err
}

func (a *App) tellShrunk(m *explore.Shrunk, took time.Duration) {
	w := a.st.Stdout
	fmt.Fprintf(w, "\nbefore:    %s\nafter:     %s\n", m.Before, m.After)
	if m.Of > 0 {
		low, high := explore.Interval(m.Again, m.Of)
		fmt.Fprintf(w, "shows it:  in %d of %d runs (95 %% interval: %.0f %% to %.0f %%)\n", m.Again, m.Of, 100*low, 100*high)
	}
	if m.Cut != "" {
		fmt.Fprintf(w, "note:      %s, so a smaller trial may exist\n", m.Cut)
	}
	fmt.Fprintf(w, "made:      %s in %v\nreport:    %s\nagain:     %s replay %s --times 10\n", Plural(m.Runs, "run"), took.Round(time.Second), absolute(filepath.Join(m.Dir, harness.ReportFile)), a.st.Name, m.Dir)
}
