package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

type exploreFlags struct {
	cfg          harness.Config
	out          string
	length       time.Duration
	jobs, keep   int
	stop, shrink int
	random       bool
	until        string
	choice       search.Choice
	asJSON       bool
}

// The defaults of a search.
const (
	exploreTime = 10 * time.Minute
	exploreKeep = 20
	shrinkRuns  = 60
	shrinkRate  = 5
)

func (a *App) exploreCommand() *cobra.Command {
	f := exploreFlags{cfg: harness.Defaults()}
	cmd := &cobra.Command{
		Use:   "explore --backend NAME [-- ARGUMENT...]",
		Short: "search for faults that break a lock",
		Long: `Makes many short runs in parallel, and chooses their faults, moments, workload and clients: it varies runs in which
requests, answers, expired leases and faults came in a new order, or two clients nearly held the lock at once. --random
learns nothing, to measure what learning is worth.

At the end it lists the distinct violations, keeps a run of each for replay, and shrinks the first ones (--shrink). With
the same --out a later search goes on.

Exit codes: 0 no violation, 1 a violation, 2 no run had a verdict, 3 wrong usage, 4 no run could be made, 130 interrupted
(what was found is kept).`,
		Example: fmt.Sprintf("  %[1]s explore --backend redlock --for 5m\n  %[1]s explore --backend redis-fenced --fencing on --for "+
			"1m --fail-on defect\n  %[1]s explore --backend redsync --vary fail-fast,tries --for 5m\n  %[1]s explore --backend "+
			"exec:cmd=./my-lock.py -- an argument of my-lock.py", a.st.Name),
		Args: a.noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.cfg.Behind(cmd.Flags()); err != nil {
				return err
			}
			if f.cfg.Backend == "" {
				return errors.New("--backend is missing: name the lock to test (see: list backends)")
			}
			if err := leaseSaid(cmd, f.cfg); err != nil {
				return err
			}
			return a.explore(cmd.Context(), f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.cfg.Backend, "backend", "", "the lock (see: list backends), or exec:cmd=FILE for an adapter")
	f.cfg.BindSetting(fs)
	fs.StringVar(&f.cfg.FailOn, "fail-on", f.cfg.FailOn, "violations to search for: all, or defect")
	positive(fs, &f.length, "for", "how long to search (default: 10m)")
	fs.StringVar(&f.out, "out", "",
		"directory of the search; an earlier search there goes on (default: "+runsDir+"/explore-BACKEND-TIME)")
	Number(fs, &f.jobs, "jobs", 1, 0, "parallel runs (default: what processors and memory allow)")
	Number(fs, &f.keep, "keep", 1, exploreKeep, "keep at most this many runs with a violation")
	Number(fs, &f.stop, "stop-at", 1, 0, "end after this many distinct violations (default: no limit)")
	fs.StringVar(&f.until, "until", "", "CHECK[:CLASS]: end at its first violation, for example ownership:defect")
	Number(fs, &f.shrink, "shrink", 0, 1, "how many violations to shrink to their smallest run")
	fs.Uint64Var(&f.cfg.Seed, "seed", 1, "seed of the search; parallel runs make each search differ")
	fs.StringSliceVar(&f.choice.Only, "only", nil, "inject only these faults: names joined by commas (see: list nemeses)")
	fs.StringSliceVar(&f.choice.Without, "without", nil, "never inject these faults, for example evict,flush")
	fs.StringSliceVar(&f.choice.Vary, "vary", nil, "also vary these options of the lock: names, or all")
	fs.BoolVar(&f.random, "random", false, "choose every run at random, and learn nothing from earlier runs")
	fs.BoolVar(&f.asJSON, "json", false, "print the violations as JSON")
	a.complete(cmd)
	return cmd
}

func (a *App) explore(ctx context.Context, f exploreFlags) error {
	seed := f.cfg.Seed
	f.cfg.Version = Version()
	space, err := search.NewSpace(a.cat, f.cfg, f.choice)
	if err != nil {
		return err
	}
	bare, _, _ := strings.Cut(f.cfg.Backend, ":")
	out := cmp.Or(f.out, RunDir("explore-"+bare))
	length := cmp.Or(f.length, exploreTime)
	probe := f.cfg
	probe.Clients = 3
	jobs := cmp.Or(f.jobs, int(max(gate.Capacity()/min(gate.Shares(a.cat, probe), gate.Capacity()), 1)))
	view := newView(a.st)
	view.line("searching for violations of %s: time %v, %s, %s, %s in parallel; directory: %s", f.cfg.Backend, length,
		Plural(len(space.Faults()), "fault"), Plural(len(space.Workloads()), "workload"), Plural(jobs, "run"), out)
	begun := time.Now()
	s := &search.Search{
		Space: space, Dir: out, Seed: seed, Jobs: jobs, Random: f.random, Keep: f.keep, StopAt: f.stop,
		Run: func(ctx context.Context, t *harness.Trial, dir string) (*checker.Results, error) {
			t.Config.Command = a.named(append([]string{"run"}, t.Config.Args()...)...)
			return t.Judged(ctx, dir)
		},
		Progress: func(st search.State) { a.exploring(view, st, time.Since(begun), length) },
	}
	if f.until != "" {
		check, class, _ := strings.Cut(f.until, ":")
		if _, err := a.cat.Checks.Get(check); err != nil {
			return harness.Usage(fmt.Errorf("--until: %w", err))
		}
		s.Until = func(v *search.Violation) bool {
			return (v.Check == check && (class == "" || class == string(v.Class))) || (class == "" && slices.Contains(v.With, check))
		}
	}
	limited, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	st, err := s.Go(limited)
	view.close()
	if err != nil && (st == nil || len(st.Violations) == 0) {
		return harness.Environment(err)
	}
	if err != nil { // it masks no violation
		fmt.Fprintf(a.st.Stderr, "%s: the search ended early: %v\n", a.st.Name, err)
	}
	return a.explored(ctx, f, out, st, time.Since(begun))
}

// exploring says how far a search is.
func (a *App) exploring(v *view, st search.State, elapsed, length time.Duration) {
	if n := st.New; n != nil {
		v.line("%7s  run %d: %s: %s", elapsed.Round(time.Second), n.Nth, n, n.Genome)
	}
	v.status(fmt.Sprintf("%v of %v: %s, %s of behaviour, %s", elapsed.Round(time.Second), length, Plural(st.Runs, "run"),
		Plural(st.Features, "kind"), Plural(len(st.Violations), "violation")))
}

// explored lists what was found, and makes it smaller.
func (a *App) explored(ctx context.Context, f exploreFlags, out string, st *search.State, took time.Duration) error {
	if f.asJSON {
		if err := a.PrintJSON(st.Violations); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.st.Stdout, "%s in %v (runs without a verdict: %d; further runs that could not be started: %d); the runs showed "+
			"%s of behaviour (see docs/explore.md)\n", Plural(st.Runs, "run"), took.Round(time.Second), st.Unjudged, st.Refused,
			Plural(st.Features, "kind"))
		for _, why := range slices.Sorted(maps.Keys(st.Why)) {
			fmt.Fprintf(a.st.Stdout, "    reason for no verdict: %s (in %s)\n", why, Plural(st.Why[why], "run"))
		}
		for i, v := range st.Violations {
			fmt.Fprintf(a.st.Stdout, "\nviolation %d: %s; found in %s, first after %v\n%s\n", i+1, v, Plural(v.Runs, "run"),
				v.After.Round(time.Second), a.st.Style.Wrap("    "+v.Message, 4))
			if v.Dir != "" {
				fmt.Fprintf(a.st.Stdout, "    report: %s\n    repeat: %s\n", absolute(filepath.Join(out, v.Dir, harness.ReportFile)),
					a.named("replay", filepath.Join(out, v.Dir), "--times", "10"))
			}
		}
	}
	if err := a.shrinkFound(ctx, f, out, st.Violations); err != nil {
		fmt.Fprintf(a.st.Stderr, "%s: shrink: %v\n", a.st.Name, err)
	}
	switch {
	case ctx.Err() != nil:
		return a.Exit(harness.ExitInterrupted)
	case len(st.Violations) > 0:
		fmt.Fprintf(a.st.Stderr, "%s: %s\n", f.cfg.Backend, Plural(len(st.Violations), "distinct violation"))
		return a.Exit(harness.ExitViolation)
	case st.Judged+st.Unjudged+st.Refused == 0:
		fmt.Fprintf(a.st.Stderr, "inconclusive: no run ended within %v: choose a longer time for the search (--for)\n",
			cmp.Or(f.length, exploreTime))
		return a.Exit(harness.ExitUnknown)
	case st.Judged == 0:
		fmt.Fprintf(a.st.Stderr, "inconclusive: no run had a verdict\n")
		return a.Exit(harness.ExitUnknown)
	}
	fmt.Fprintf(a.st.Stderr, "%s: no violation found in %s\n", f.cfg.Backend, Plural(st.Runs, "run"))
	return a.Exit(harness.ExitPass)
}

// shrinkFound makes the first violations smaller; one that does not show again often enough is said to be so, and is no error.
func (a *App) shrinkFound(ctx context.Context, f exploreFlags, out string, all []*search.Violation) error {
	all = slices.DeleteFunc(slices.Clone(all), func(v *search.Violation) bool { return v.Dir == "" })
	for _, v := range all[:min(f.shrink, len(all))] {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // who called looks at ctx
		}
		if f.asJSON {
			continue
		}
		fmt.Fprintf(a.st.Stdout, "\nshrinking %s\n", v)
		to := filepath.Join(out, "shrunk", filepath.Base(v.Dir))
		if harness.EmptyDir(to) != nil {
			fmt.Fprintf(a.st.Stdout, "    an earlier search has already found the smallest run: %s\n", to)
			continue
		}
		err := a.shrink(ctx, filepath.Join(out, v.Dir), shrinkFlags{out: to, check: v.Check, runs: shrinkRuns, rate: shrinkRate})
		if err != nil && !errors.Is(err, explore.ErrNotAgain) && !errors.As(err, new(exit)) {
			return err
		}
	}
	return nil
}
