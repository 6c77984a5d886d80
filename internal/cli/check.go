package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/reports"
)

func (a *App) checkCommand() *cobra.Command {
	var asJSON bool
	var other modelFlags
	cmd := &cobra.Command{
		Use:   "check DIR|FILE...",
		Short: "judge stored histories again",
		Long: `Judges stored histories again. For a run's directory it merges logs if need be, and writes results.json and the
reports; for a history file it writes nothing. A history may be compressed with zstd (history.jsonl.zst).

With --model each FILE is another tool's history, in EDN (as Jepsen's history.edn) or JSON: operations with process, type
(invoke, ok, fail, info), f and value, in order of index, else time, else the file. It passes if it is linearizable.
Models:
` + modelHelp() + `
Exit code of several: the first of 1 (a violation), 4 (a file could not be written), 3 (one could not be read; the
others are judged), 2 (inconclusive), 0.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case other.model != "":
				return a.checkModel(cmd.Context(), args, other, asJSON)
			case other.independent:
				return harness.Usage(errors.New("--independent applies only to histories of other tools: add --model"))
			}
			return a.check(cmd.Context(), args, asJSON)
		},
	}
	cmd.Flags().StringVar(&other.model, "model", "", "judge other tools' histories (EDN, JSON) by this model")
	cmd.Flags().BoolVar(&other.independent, "independent", false, "judge each key alone; values are pairs [key value] (with "+
		"--model)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print results.json on stdout (an array for several runs)")
	return cmd
}

func (a *App) check(ctx context.Context, paths []string, asJSON bool) error {
	if dir := oneRun(paths); dir != "" {
		return harness.Usage(fmt.Errorf("these %d files are the logs of one run: to judge the whole run, use %s check %s", len(paths),
			a.st.Name, dir))
	}
	worst := harness.ExitPass
	all := []*checker.Results{}
	for _, path := range paths {
		where := "none (reports are written only for run directories, and " + path + " is a file)"
		j, err := harness.Interruptible(ctx, path, func() (j *harness.Judged, err error) {
			j, where, err = a.judge(path)
			return j, err
		})
		if interrupted(err) { // what was judged before it is told
			a.sayJudged(path, false, err)
			return errors.Join(printResults(a, all, asJSON, len(paths)), a.Exit(harness.ExitInterrupted))
		}
		if err != nil { // said at once; what else was asked for is judged all the same
			worst = worse(worst, a.sayJudged(path, j != nil, err))
		}
		if j == nil {
			continue
		}
		worst = worse(worst, j.Results.ExitCode)
		all = append(all, j.Results)
		if asJSON {
			continue
		}
		if err := reports.Summary(a.st.Stdout, j.Results, j.Record, a.st.Style); err != nil {
			return err
		}
		a.lastLines(false, j.Results, where)
	}
	if err := printResults(a, all, asJSON, len(paths)); err != nil {
		return err
	}
	return a.Exit(worst)
}

// oneRun is the directory of the run of which several logs were named, each of which says little alone.
func oneRun(paths []string) string {
	if len(paths) < 2 {
		return ""
	}
	dir := filepath.Dir(paths[0])
	if filepath.Base(dir) != history.LogDir || slices.ContainsFunc(paths, func(p string) bool { return filepath.Dir(p) != dir }) {
		return ""
	}
	return filepath.Dir(dir)
}

// interrupted reports whether an error is that of an interruption.
func interrupted(err error) bool {
	return harness.CodeOf(err) == harness.ExitInterrupted
}

// sayJudged says what could not be read or written, and returns the code for it.
func (a *App) sayJudged(path string, judged bool, err error) int {
	text := err.Error()
	if judged {
		text = path + " was judged, but some files could not be written: " + text
	}
	fmt.Fprintf(a.st.Stderr, "%s: %s\n", a.st.Name, text)
	return cmp.Or(harness.CodeOf(err), harness.ExitEnvironment)
}

// printResults prints one document: the results, or an array where several were asked for.
func printResults[T any](a *App, all []T, asJSON bool, asked int) error {
	switch {
	case !asJSON || (asked == 1 && len(all) == 0):
		return nil
	case asked == 1:
		return a.PrintJSON(all[0])
	default:
		return a.PrintJSON(all)
	}
}

// judge judges a directory or a file; where is the report, or the file itself.
func (a *App) judge(path string) (*harness.Judged, string, error) {
	defer restCollector(judgingLimit(path))()
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", harness.Usage(fmt.Errorf("%s does not exist: name the directory of a run, or a history", path))
	}
	if err != nil {
		return nil, "", harness.Usage(err)
	}
	if st.IsDir() {
		j, err := harness.JudgeDir(a.cat, path)
		return j, absolute(filepath.Join(path, harness.ReportFile)), err
	}
	j, err := harness.JudgeFile(a.cat, path)
	return j, "none (reports are written only for run directories, and " + path + " is a file)", err
}

// worse keeps the code that must not be masked: 1 before 130, 70, 4, 3, 2, 5 and 0.
func worse(a, b int) int {
	rank := map[int]int{
		harness.ExitPass: 0, gate.ExitMissed: 1, harness.ExitUnknown: 2, harness.ExitUsage: 3, harness.ExitEnvironment: 4,
		harness.ExitPanic: 5, harness.ExitInterrupted: 6, harness.ExitViolation: 7,
	}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
