// Package claims is the verb of lockstorm that puts the claims of articles to the test.
package claims

import (
	"cmp"
	"context"
	_ "embed" // the answers
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/shell"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/suite"
)

// answersFile is what became of claims, in the directory of their runs.
const answersFile = "claims.json"

// Measured are the answers of the runs of `make series RUN=TestSeriesClaims`: JSON, a list of own.Answer.
//
//go:embed claims.json
var Measured []byte

// claimJobs is how many runs of claims are made at once: most of their time they wait.
const claimJobs = 4

// Verb is the verb claims.
func Verb(app *cli.App) *cobra.Command {
	return (&verb{App: app, st: app.State()}).command()
}

// verb is the verb in a program.
type verb struct {
	*cli.App
	st cli.State
}

func (a *verb) command() *cobra.Command {
	var run, asJSON bool
	var jobs int
	var out, from, keep string
	cmd := &cobra.Command{
		Use:   "claims [NUMBER...]",
		Short: "test what articles claim about locks",
		Long: `Lists claims of articles about locks with what was measured (docs/claims.md): stands, in part, falls, or open.

--run makes the runs of each claim again and lists unexpected results (exit code 5); they are saved as
` + answersFile + ` in the directory of the runs, and --from shows them.`,
		Example: fmt.Sprintf("  %[1]s claims\n  %[1]s claims --run 9 12\n  %[1]s claims --from lockstorm-runs/claims", a.st.Name),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := chooseClaims(args)
			switch {
			case err != nil:
				return err
			case run && from != "":
				return errors.New("--run makes new runs, and --from shows the results of earlier runs: choose one of the two flags")
			case run:
				return a.runClaims(cmd.Context(), chosen, cmp.Or(out, cli.RunDir("claims")), jobs, asJSON)
			}
			answers, err := readAnswers(from)
			if err != nil {
				return harness.Usage(err)
			}
			if keep != "" && from == "" {
				return errors.New("--keep writes the results of earlier runs to a file: add --from DIR, the directory of these runs")
			}
			if keep != "" {
				if err := files.WriteJSON(keep, answers); err != nil {
					return err
				}
			}
			return a.showClaims(chosen, answers, asJSON, from == "" && len(chosen) > maxTold)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&run, "run", false, "run the claims, and compute their verdicts")
	cli.Number(f, &jobs, "jobs", 1, claimJobs, "maximum number of parallel runs")
	f.StringVar(&out, "out", "", "directory of the runs; it must be empty, or not exist yet")
	f.StringVar(&from, "from", "", "show earlier results: a directory, or a file from --keep")
	f.StringVar(&keep, "keep", "", "write to this file the results of the runs that --from names")
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// chooseClaims are those of the numbers; all where none is given.
func chooseClaims(numbers []string) ([]cases.Claim, error) {
	all := cases.Claims()
	if len(numbers) == 0 {
		return all, nil
	}
	var out []cases.Claim
	for _, text := range numbers {
		i := slices.IndexFunc(all, func(c cases.Claim) bool { return strconv.Itoa(c.Number) == text })
		if i < 0 {
			return nil, fmt.Errorf("there is no claim %q: the command %q lists the claims", text, "claims")
		}
		out = append(out, all[i])
	}
	return out, nil
}

// runClaims makes the runs of claims, several at once, and says what became of them.
func (a *verb) runClaims(ctx context.Context, claims []cases.Claim, out string, jobs int, asJSON bool) error {
	if err := harness.EmptyDir(out); err != nil {
		return err
	}
	r := &claimRuns{a: a, out: out, begun: time.Now()}
	for _, c := range claims {
		r.all += len(c.Runs)
	}
	fmt.Fprintf(a.st.Stderr, "making %d runs, %d in parallel; directory: %s\n", r.all, jobs, out)
	together := lists.Filter(claims, func(c cases.Claim) bool { return !c.Alone })
	alone := lists.Filter(claims, func(c cases.Claim) bool { return c.Alone })
	if err := errors.Join(r.makeAll(ctx, together, jobs), r.makeAll(ctx, alone, 1)); err != nil {
		return err
	}
	slices.SortFunc(r.answers, func(a, b cases.ClaimResult) int { return cmp.Or(a.Claim-b.Claim, cmp.Compare(a.Run, b.Run)) })
	if err := files.WriteJSON(filepath.Join(out, answersFile), r.answers); err != nil {
		return err
	}
	if err := a.showClaims(claims, r.answers, asJSON, false); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return a.Exit(harness.ExitInterrupted)
	}
	code := harness.ExitPass
	for _, one := range r.answers {
		switch {
		case one.Exit == harness.ExitEnvironment:
			code = cmp.Or(code, harness.ExitEnvironment)
		case !one.AsIt:
			code = gate.ExitMissed
		}
	}
	return a.Exit(code)
}

// claimRuns are runs under way.
type claimRuns struct {
	a     *verb
	out   string
	all   int
	begun time.Time

	mu      sync.Mutex
	answers []cases.ClaimResult
}

func (r *claimRuns) makeAll(ctx context.Context, claims []cases.Claim, jobs int) error {
	var making errgroup.Group
	making.SetLimit(jobs)
	for _, c := range claims {
		for _, run := range c.Runs {
			if ctx.Err() == nil {
				making.Go(func() error { return r.one(ctx, c.Number, run) })
			}
		}
	}
	return making.Wait()
}

// one makes a run. A run that cannot be made here is an answer as well: the claim stays open.
func (r *claimRuns) one(ctx context.Context, number int, run cases.ClaimRun) error {
	o, _, err := run.Do(ctx, r.a.Suites().Catalogue, filepath.Join(r.out, filepath.FromSlash(run.Name)))
	if ctx.Err() != nil {
		return nil // interrupted: it says nothing
	}
	answer := cases.ClaimResult{}
	switch code := harness.CodeOf(err); {
	case o != nil:
		answer = run.Answered(number, o.ExitCode(), o.Results)
	case code != 0:
		answer = run.Answered(number, code, nil)
		fmt.Fprintf(r.a.st.Stderr, "%s: %v\n", run.Name, err)
	default:
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, answer)
	text := "as expected"
	if !answer.AsIt {
		text = "unexpected result: " + strings.ReplaceAll(suite.Sentences(answer.Differs), "\n", "; ")
	}
	fmt.Fprintf(r.a.st.Stderr, "%4d of %d, %v  %s  %s\n", len(r.answers), r.all, time.Since(r.begun).Round(time.Second), run.Name,
		text)
	return nil
}

// readAnswers reads those of a file or a directory; where there is no name, those that were measured for the
// documentation.
func readAnswers(path string) (answers []cases.ClaimResult, err error) {
	if path == "" {
		return answers, json.Unmarshal(Measured, &answers)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		if _, err := os.Stat(filepath.Join(path, answersFile)); err != nil {
			return answersOf(path)
		}
		path = filepath.Join(path, answersFile)
	}
	if err := files.ReadJSON(path, maxAnswers, &answers); err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	return answers, nil
}

// maxAnswers bounds a file of answers, in bytes.
const maxAnswers = 16 << 20

// answersOf reads them from the runs below a directory: of claims that were interrupted, say.
func answersOf(dir string) (answers []cases.ClaimResult, err error) {
	for _, c := range cases.Claims() {
		for _, run := range c.Runs {
			results, err := harness.ReadResults(filepath.Join(dir, filepath.FromSlash(run.Name)))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("--from %s: %w", dir, err)
			}
			answers = append(answers, run.Answered(c.Number, results.ExitCode, results))
		}
	}
	if len(answers) == 0 {
		return nil, fmt.Errorf("--from %s: the directory contains neither %s nor a run of a claim: name a directory that claims "+
			"--run has written", dir, answersFile)
	}
	return answers, nil
}

// judgedClaim is a claim with its verdict, as JSON.
type judgedClaim struct {
	Number   int                 `json:"number"`
	Text     string              `json:"text"`
	Articles string              `json:"articles"`
	Verdict  cases.ClaimVerdict  `json:"verdict"`
	Note     string              `json:"note,omitempty"`
	Answers  []cases.ClaimResult `json:"answers,omitempty"`
	Commands []string            `json:"commands"`
}

// showClaims prints the verdicts; unless brief, with the run of each answer.
func (a *verb) showClaims(claims []cases.Claim, answers []cases.ClaimResult, asJSON, brief bool) error {
	var all []judgedClaim
	for _, c := range claims {
		all = append(all, judgedClaim{
			Number: c.Number, Text: c.Text, Articles: c.Articles, Verdict: c.Judged(answers), Note: c.Note,
			Answers: lists.Filter(answers, func(one cases.ClaimResult) bool { return one.Claim == c.Number }),
			Commands: lists.Map(c.Runs, func(r cases.ClaimRun) string {
				return shell.Join(append([]string{a.st.Name, "run"}, r.Run.Args()...)...)
			}),
		})
	}
	if asJSON {
		return a.PrintJSON(all)
	}
	w := tabwriter.NewWriter(a.st.Stdout, 0, 0, 2, ' ', 0)
	bears := map[bool]string{true: "supports the claim", false: "does not support the claim"}
	for i, j := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", j.Number, j.Verdict, cli.Plural(len(j.Commands), "run"), j.Text)
		if brief {
			continue
		}
		for _, one := range j.Answers {
			fmt.Fprintf(w, "\tthe result %s\texit %d\t%s%s\n", bears[one.Supports], one.Exit, one.Run, figuresOf(one))
		}
		for _, one := range claims[i].Compares {
			if ratio, holds, ok := one.Holds(j.Number, answers); ok {
				fmt.Fprintf(w, "\tthe ratio %s\t%.2g, needs %.2g\t%s\n", bears[holds], ratio, one.Least, one.Text)
			}
		}
	}
	if err := w.Flush(); err != nil || !brief {
		return err
	}
	fmt.Fprintf(a.st.Stdout, "\nTo see the runs of claim 9: %s claims 9. To make all runs again: %s claims --run.\n", a.st.Name,
		a.st.Name)
	return nil
}

// maxTold is for how many claims each run is told; of more only the verdicts.
const maxTold = 3

// figuresOf are the figures of an answer, by name.
func figuresOf(a cases.ClaimResult) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a.Figures)) {
		fmt.Fprintf(&b, "  %s", cases.Figure(name, a.Figures[name]))
	}
	return b.String()
}
