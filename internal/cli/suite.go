package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// suiteFile is the file that `suite` reads when none is named.
const suiteFile = "lockstorm.yaml"

// suiteFlags are those of `suite`.
type suiteFlags struct {
	out, shard, baseline  string
	replace               []string
	jobs, retry, failures int
	failFast, resume      bool
	update, list, asJSON  bool
	print, schema         bool
	matrix                int
	budget                time.Duration
	seeds                 string
}

func (a *App) suiteCommand() *cobra.Command {
	var s suiteFlags
	cmd := &cobra.Command{
		Use:   "suite [FILE|PRESET]",
		Short: "run many locks under many faults, against what is expected",
		Long: `Runs each cell (a lock under faults, once a seed) of a file (default: ` + suiteFile + `) or preset, and compares
outcomes with what is expected. With compare: true nothing is expected: it says which lock to choose.

Presets: ` + cmp.Or(strings.Join(a.book.PresetNames(), ", "), "none") + `. Start from one (--print), or from init.

The directory has index.html, results.json, matrix.md, matrix.csv, junit.xml, suite.json and runs/CELL/seed-N. Controls,
whose outcome is known, run first: a wrong one voids the suite.

Exit codes, the first that applies: 1 an unexpected violation; 4 something is missing or broken here, or a control is
wrong; 2 inconclusive, or nothing was judged; 5 an expected violation, other expectation or threshold was missed; 0 as
expected. 3 wrong usage; 70 a bug; 130 interrupted.`,
		Example: fmt.Sprintf(`  %[1]s suite smoke
  %[1]s suite lockstorm.yaml --out results --baseline baseline.json
  %[1]s suite ci --shard 1/3 --out shard-1
  %[1]s suite ci --replace redis-lua=redis-del     (with a worse lock the suite must fail)`, a.st.Name),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.schema {
				return a.PrintJSON(plan.Schema(a.book))
			}
			if err := s.alone(cmd.Flags()); err != nil {
				return err
			}
			file, err := plan.Open(a.book, cmp.Or(append(args, suiteFile)...), a.st.Stdin)
			if err != nil {
				return harness.Usage(err)
			}
			return a.suite(cmd.Context(), file, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.out, "out", "", "directory of the suite, new or empty (default: "+runsDir+"/NAME-TIME)")
	f.StringVar(&s.shard, "shard", "", "i/n: run only shard i of n; merge combines them")
	Number(f, &s.jobs, "jobs", 1, 0, "parallel runs (default: what processors and memory allow)")
	Number(f, &s.retry, "retry", 0, 4, "retries of a run that the host disturbed, after all others")
	f.BoolVar(&s.failFast, "fail-fast", false, "start no more runs after the first unexpected violation")
	Number(f, &s.failures, "max-failures", 1, 0, "start no more runs after this many unexpected violations (default: no limit)")
	positive(f, &s.budget, "budget", "start no more runs after this time (default: the suite's)")
	f.StringVar(&s.seeds, "seeds", "", "seeds in place of the file's: 5 (1 to 5), 6-10, 1,4,9")
	f.BoolVar(&s.resume, "resume", false, "continue the interrupted suite in the directory of --out")
	s.results(f)
	f.StringArrayVar(&s.replace, "replace", nil, "OLD=NEW: run NEW in place of OLD, with OLD's expectations")
	f.BoolVar(&s.list, "list", false, "list cells, expected outcomes and the estimated time; run nothing")
	f.BoolVar(&s.print, "print", false, "print the suite file, without making runs")
	Number(f, &s.matrix, "print-matrix", 1, 0, "print n shards as JSON, for the job matrix of a CI")
	f.BoolVar(&s.schema, "schema", false, "print the JSON schema of suite files; run nothing")
	return cmd
}

// results adds the flags for what becomes of the results.
func (s *suiteFlags) results(f *pflag.FlagSet) {
	f.StringVar(&s.baseline, "baseline", "", "earlier results.json: failures that it has do not fail again")
	f.BoolVar(&s.update, "update-baseline", false, "write the results of this suite to the file of --baseline")
	f.BoolVar(&s.asJSON, "json", false, "print results.json on stdout")
}

// alone says which flags that print something and run nothing stand together.
func (s suiteFlags) alone(f *pflag.FlagSet) error {
	var given []string
	for _, name := range []string{"list", "print", "print-matrix", "schema"} {
		if f.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return fmt.Errorf("%s exclude each other: choose one of these flags", strings.Join(given, " and "))
	}
	return nil
}

// suite expands a suite file and runs it.
func (a *App) suite(ctx context.Context, file *plan.File, s suiteFlags) error {
	if s.print {
		_, err := a.st.Stdout.Write(file.Source())
		return err
	}
	def, err := a.define(file, s)
	if err != nil {
		return harness.Usage(err)
	}
	if s.matrix > 0 {
		return a.PrintJSON(gate.Matrix(s.matrix))
	}
	r := &gate.Runner{
		Catalogue: a.cat, Jobs: s.jobs, Retry: s.retry, MaxFailures: s.failures, Budget: cmp.Or(s.budget, file.TimeBudget()),
		Resume: s.resume, Timings: gate.ReadTimings(),
	}
	if s.failFast {
		r.MaxFailures = 1
	}
	if s.list {
		return a.listCells(def.Cells, r)
	}
	before, err := s.readBaseline()
	if err != nil {
		return harness.Usage(err)
	}
	out := s.out
	if out == "" {
		if s.resume {
			return harness.Usage(errors.New("--resume needs --out DIR: the directory of the suite to continue"))
		}
		out = RunDir(def.Name)
	}
	view := newSuiteView(a.st)
	view.caches()
	r.Progress = view.event
	if before != nil {
		r.Known = before.Knows
	}
	n := countCells(def.Cells)
	view.line("suite %s: %s, %s; estimated time: about %v; directory: %s", def.Name, n, Plural(n.runs, "run"),
		r.Estimate(def.Cells).Round(time.Second), out)
	st := &gate.Suite{Definition: *def, Dir: out, EndsEarly: s.baseline == "" && s.shard == ""}
	stop := view.begin()
	runErr := r.Run(ctx, st)
	stop()
	if errors.As(runErr, new(*harness.Error)) {
		return runErr // nothing was run
	}
	results, err := matrix.Write(st, out, before) // what was run is judged, whatever went wrong beside it
	return a.concludeSuite(results, out, s, errors.Join(runErr, err))
}

// define is the suite as it will be stored.
func (a *App) define(file *plan.File, s suiteFlags) (*gate.Definition, error) {
	if s.seeds != "" {
		if err := file.SetSeeds(s.seeds); err != nil {
			return nil, err
		}
	}
	cells, err := file.Cells(a.book)
	if err != nil {
		return nil, err
	}
	def := &gate.Definition{
		Schema: gate.Schema, Name: file.Title(), Doc: file.Doc.Value, Source: string(file.Source()), Program: a.st.Name,
		Version: Version(), Started: time.Now(),
		CPUs: runtime.NumCPU(), Required: file.Required(), Replaced: map[string]string{}, Compare: file.Compares(),
	}
	for _, pair := range s.replace {
		old, by, ok := strings.Cut(pair, "=")
		if !ok || old == "" || by == "" {
			return nil, fmt.Errorf("--replace %s: write OLD=NEW, the names of two backends",
				pair)
		}
		if err := file.Replace(a.cat, cells, old, by); err != nil {
			return nil, err
		}
		def.Replaced[old] = by
	}
	if s.shard != "" {
		shard, err := gate.ParseShard(s.shard)
		if err != nil {
			return nil, err
		}
		def.Part(shard, cells)
		cells = shard.Take(a.cat, cells)
	}
	def.Cells = cells
	return def, nil
}

// Define expands a suite file or preset, as the verb suite does.
func (a *App) Define(name, seeds string, replace []string) (*gate.Definition, error) {
	file, err := plan.Open(a.book, cmp.Or(name, suiteFile), a.st.Stdin)
	if err != nil {
		return nil, harness.Usage(err)
	}
	def, err := a.define(file, suiteFlags{seeds: seeds, replace: replace})
	if err != nil {
		return nil, harness.Usage(err)
	}
	return def, nil
}

// Conclude writes what came of a suite into a directory, and says it as the verb suite does. err is what went wrong before.
func (a *App) Conclude(s *gate.Suite, out, baseline string, asJSON bool, err error) error {
	f := suiteFlags{baseline: baseline, asJSON: asJSON}
	before, berr := f.readBaseline()
	if berr != nil {
		return harness.Usage(berr)
	}
	r, werr := matrix.Write(s, out, before)
	return a.concludeSuite(r, out, f, errors.Join(err, werr))
}

// readBaseline reads it; one that is to be written for the first time need not be there.
func (s suiteFlags) readBaseline() (*gate.SuiteResults, error) {
	if s.baseline == "" {
		if s.update {
			return nil, errors.New("--update-baseline needs --baseline FILE: the file to write")
		}
		return nil, nil //nolint:nilnil // there is none
	}
	if _, err := os.Stat(s.baseline); errors.Is(err, os.ErrNotExist) && s.update {
		return nil, nil //nolint:nilnil // it is written for the first time
	}
	r, err := gate.ReadResults(s.baseline)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w (to write a new baseline file, add --update-baseline)", err)
	}
	return r, nil
}

// concludeSuite says what came of a suite, to people and to the CI service. What could not be written beside it
// is said as well, and masks no violation.
func (a *App) concludeSuite(r *gate.SuiteResults, out string, s suiteFlags, err error) error {
	if r == nil {
		return harness.Environment(err)
	}
	if s.update {
		err = errors.Join(err, a.writeBaseline(r, s.baseline))
	}
	err = errors.Join(err, a.summarizeSuite(r, s.asJSON), a.tellCI(r, out, s.asJSON))
	a.lastLine(s.asJSON, a.coloured(s.asJSON, r.ExitCode, r.Verdict), absolute(filepath.Join(out, matrix.IndexFile)))
	code := r.ExitCode
	if err != nil {
		fmt.Fprintf(a.st.Stderr, "%s: %v\n", a.st.Name, err)
		code = worse(code, harness.ExitEnvironment)
	}
	return a.Exit(code)
}

func (a *App) writeBaseline(r *gate.SuiteResults, path string) error {
	b, err := json.MarshalIndent(r.Slim(), "", " ")
	if err == nil {
		err = files.WriteBytes(path, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("--update-baseline: %w", err)
	}
	fmt.Fprintf(a.st.Stderr, "wrote the results to the baseline %s\n", path)
	return nil
}
