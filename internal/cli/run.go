package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/shell"
	"github.com/lockstorm/lockstorm/reports"
)

// runsDir is where runs go when --out does not say.
const runsDir = "lockstorm-runs"

func (a *App) runCommand() *cobra.Command {
	cfg := harness.Defaults()
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run --backend NAME [-- ARGUMENT...]",
		Short: "run clients of a lock under faults, and judge it",
		Long: `Runs clients of a lock under faults, and judges the record.

The run's directory has report.html, results.json, junit.xml, history.jsonl, plan.json, trial.json, logs/ and nodes/.
The last lines are the report's path and the command for a new run with the same seed; replay repeats this run's plan.`,
		Example: fmt.Sprintf(`  %[1]s run --backend redis-lua --nemesis client-pause --ttl 1s --clients 3
  %[1]s run --backend redis-fenced --nemesis client-pause --fencing on
  %[1]s run --backend redis-lua --nemesis client-pause:at=before-write,for=2ttl --nemesis server-restart
  %[1]s run --backend exec:cmd=./my-lock.py --nemesis client-pause -- an argument of my-lock.py`, a.st.Name),
		Args: a.noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cfg.Behind(cmd.Flags()); err != nil {
				return err
			}
			if cfg.Backend == "" {
				return errors.New("--backend NAME is missing: `list backends` has the names")
			}
			if cfg.Backend == adapter.Name {
				return errors.New("cmd=FILE is missing: write --backend exec:cmd=FILE, with your adapter's program")
			}
			return a.run(cmd, cfg, asJSON)
		},
	}
	f := cmd.Flags()
	cfg.Bind(f)
	f.BoolVar(&asJSON, "json", false, "print results.json on stdout")
	a.complete(cmd)
	return cmd
}

// noWords refuses words that are no flags, and says what was meant where it is plain. Those behind -- are the backend's, but for
// --out: a run whose directory goes to the backend is found nowhere.
func (a *App) noWords(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || cmd.ArgsLenAtDash() == 0 {
		for _, word := range args {
			if name, _, _ := strings.Cut(word, "="); name == "--out" {
				return errors.New("--out is after --, so it would go to the backend: move it before --")
			}
		}
		return nil
	}
	if _, err := a.cat.Backends.Get(args[0]); err == nil {
		return fmt.Errorf("%q is not a flag: did you mean --backend %s?", args[0], args[0])
	}
	if _, err := a.cat.Nemeses.Get(args[0]); err == nil {
		return fmt.Errorf("%q is not a flag: did you mean --nemesis %s?", args[0], args[0])
	}
	return fmt.Errorf("%q is not a flag", args[0])
}

// complete offers the names of the catalogue to the shell.
func (a *App) complete(cmd *cobra.Command) {
	for flag, names := range map[string][]string{
		"backend": a.cat.Backends.Names(), "nemesis": a.cat.Nemeses.Names(), "workload": a.cat.Workloads.Names(),
		"topology": a.cat.Topologies.Names(), "require": a.cat.Checks.Names(),
		"provider":   harness.ProviderNames(),
		"fencing":    {history.FencingBoth, history.FencingOn, history.FencingOff},
		"discipline": {history.Told, history.Obey, history.Trusting}, "fail-on": {"all", history.FailOnDefect},
		"only": a.cat.Nemeses.Names(), "without": a.cat.Nemeses.Names(),
	} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flags are those of harness.Config
		}
	}
}

// leaseSaid refuses a ttl of 0, which to the harness is the default.
func leaseSaid(cmd *cobra.Command, cfg harness.Config) error {
	if cmd.Flags().Changed("ttl") && cfg.TTL == 0 {
		return harness.Usage(errors.New("--ttl 0s: a lease needs a time to live above 0: choose one, or leave out --ttl"))
	}
	return nil
}

func (a *App) run(cmd *cobra.Command, cfg harness.Config, asJSON bool) error {
	cfg.Version = Version()
	if err := leaseSaid(cmd, cfg); err != nil {
		return err
	}
	if cmd.Flags().Changed("require") && len(cfg.Require) == 0 {
		return harness.Usage(errors.New("--require needs the name of a check: `lockstorm list checks` " +
			"shows the names"))
	}
	t, err := harness.Resolve(a.cat, cfg)
	if err != nil {
		return err
	}
	t.Config.Command = a.again(t.Config.Seed)
	out := cmp.Or(cfg.Out, RunDir(cfg.Backend))
	view := newView(a.st)
	view.caches()
	view.line("seed %d; to repeat this run: %s", t.Config.Seed, t.Config.Command)
	for _, word := range cfg.Arguments {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") && cmd.Flags().Lookup(name) != nil {
			view.line("note: --%s is after --, so it goes to the backend, not to lockstorm", name)
		}
	}
	if cfg.Clients == 1 {
		view.line("note: with only one client, mutual exclusion cannot be violated: use --clients 2 or more")
	}
	o, err := a.make(cmd.Context(), t, out, view)
	if err != nil {
		return err
	}
	return a.tell(o, asJSON)
}

// notInDir is what a directory is not called after.
var notInDir = regexp.MustCompile(`[^\p{L}\p{N}._-]+`)

// RunDir is where a run goes when --out does not say: always below runsDir.
func RunDir(name string) string {
	name, _ = catalog.Split(name)
	return filepath.Join(runsDir, cmp.Or(strings.Trim(notInDir.ReplaceAllString(name, "-"), "-."), "run")+"-"+
		time.Now().Format("20060102-150405.000"))
}

// make runs a trial and shows how it goes.
func (a *App) make(ctx context.Context, t *harness.Trial, out string, view *view) (*harness.RunOutcome, error) {
	if text := t.Crowd(); text != "" {
		view.line("warning: %s", text)
	}
	o, err := t.Run(ctx, out, view.progress())
	view.close()
	if err == nil && o.Trouble != nil {
		view.line("the run did not finish: %v", o.Trouble)
	}
	return o, err
}

// tell prints what came of a run; the error carries its exit code.
func (a *App) tell(o *harness.RunOutcome, asJSON bool) error {
	tell := func() error { return reports.Summary(a.st.Stdout, o.Results, o.Record, a.st.Style) }
	if asJSON {
		tell = func() error { return a.PrintJSON(o.Results) }
	}
	if err := tell(); err != nil {
		return err
	}
	if o.Interrupted && !asJSON {
		fmt.Fprint(a.st.Stdout, "\ninterrupted: lockstorm has kept and judged the events up to the interruption\n")
	}
	a.lastLines(asJSON, o.Results, absolute(filepath.Join(o.Dir, harness.ReportFile)))
	return a.Exit(o.ExitCode())
}

// lastLines are the report's path and the command that makes the run again; on stderr, after the verdict, where stdout carries
// JSON.
func (a *App) lastLines(asJSON bool, r *checker.Results, path string) {
	w := a.st.Stdout
	if asJSON {
		w = a.st.Stderr
		fmt.Fprintf(w, "\n%s", reports.Headline(r))
	}
	fmt.Fprintf(w, "\nreport: %s\n", path)
	if r.Command != "" {
		fmt.Fprintf(w, "again:  %s\n", reports.Visible(r.Command, ""))
	}
}

// lastLine is the verdict on a suite and its report's path; on stderr where stdout carries JSON.
func (a *App) lastLine(asJSON bool, headline, path string) {
	w := a.st.Stdout
	if asJSON {
		w = a.st.Stderr
	}
	fmt.Fprintf(w, "\n%s; report: %s\n", headline, path)
}

// coloured sets a verdict off on a terminal.
func (a *App) coloured(asJSON bool, code int, headline string) string {
	if asJSON { // on stderr, of which nothing is known
		return headline
	}
	return a.st.Style.Status(code, headline)
}

// absolute is a path that can be opened from anywhere.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Exit ends with the code of a verdict.
func (a *App) Exit(code int) error {
	a.judged()
	if code == harness.ExitPass {
		return nil
	}
	return exit{code}
}

// again is the command that makes the same run: the flags as given, and the seed.
func (a *App) again(seed uint64) string {
	words := []string{cmp.Or(a.st.Program, a.st.Name), "run"}
	args, behind := a.st.Args, []string(nil)
	if dash := slices.Index(args, "--"); dash >= 0 {
		args, behind = args[:dash], args[dash:]
	}
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, _, inline := strings.Cut(w, "=")
		switch {
		case w == "run" && i == 0:
		case name == "--seed" || name == "--out":
			if !inline {
				i++
			}
		default:
			words = append(words, w)
		}
	}
	return shell.Join(slices.Concat(words, []string{"--seed", strconv.FormatUint(seed, 10)}, behind)...)
}

// named is a command of this program, for people.
func (a *App) named(words ...string) string {
	return shell.Join(append([]string{a.st.Name}, words...)...)
}
