package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
)

// verifyFlags are those of verify.
type verifyFlags struct {
	record, save string
	finding      int
	all          bool
}

func (a *App) verifyCommand() *cobra.Command {
	var s verifyFlags
	cmd := &cobra.Command{
		Use:   "verify DIR|FILE...",
		Short: "check the proofs of violations in a run, a suite or a proof file",
		Long: `Checks the proofs of violations, without the code that found them: a proof names a rule and a few events, which
must show that the lock broke it.

The proofs of a run or suite are checked against the whole record. A file of --save has its events in it; --record checks
that they are in the record, too.

Exit codes: 0 every proof holds, 1 one does not, 2 one has too few events (use --record, or judge again with check), 3
wrong usage.`,
		Example: fmt.Sprintf("  %[1]s verify lockstorm-runs/run-1\n  %[1]s verify lockstorm-runs/run-1 --finding 3 --save "+
			"proof.json\n  %[1]s verify proof.json --record history.jsonl", a.st.Name),
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.verify(args, s) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.all, "all", false, "print the events of every proof, also of similar ones")
	f.IntVar(&s.finding, "finding", 0, "only the proof of this finding (verify alone prints the numbers)")
	f.StringVar(&s.record, "record", "", "check a proof file against this run or history.jsonl, too")
	f.StringVar(&s.save, "save", "", "write the proof of --finding to a file of its own")
	return cmd
}

// verify checks the proofs at each path; the worst code counts.
func (a *App) verify(paths []string, s verifyFlags) error {
	if (s.save != "" || s.finding > 0) && len(paths) > 1 {
		return harness.Usage(errors.New("--finding and --save work only with one run: name one run directory"))
	}
	worst := harness.ExitPass
	for _, path := range paths {
		code, err := a.verifyPath(path, s)
		if err != nil {
			return err
		}
		worst = worse(worst, code)
	}
	return a.Exit(worst)
}

func (a *App) verifyPath(path string, s verifyFlags) (int, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, harness.Usage(fmt.Errorf("verify: %w", err))
	}
	if !st.IsDir() {
		if s.save != "" || s.finding > 0 {
			return 0, harness.Usage(fmt.Errorf("--finding and --save need a run directory, but %s is a file", path))
		}
		return a.verifyLetter(path, s.record)
	}
	if s.record != "" {
		return 0, harness.Usage(fmt.Errorf("--record applies only to a proof in a file: remove --record, because the directory %s "+
			"contains the record of its run", path))
	}
	runs, err := runsIn(path)
	if err != nil {
		return 0, harness.Usage(err)
	}
	if len(runs) > 1 && (s.save != "" || s.finding > 0) {
		return 0, harness.Usage(fmt.Errorf("--finding and --save work only with one run, but %s contains %d runs: name one of them, "+
			"such as %s", path, len(runs), runs[0]))
	}
	worst, holds := harness.ExitPass, 0
	for _, dir := range runs {
		v, err := harness.VerifyDir(dir)
		if err != nil {
			return 0, err
		}
		code, err := a.sayVerified(v, s, len(runs) > 1)
		if err != nil {
			return 0, err
		}
		worst = worse(worst, code)
		holds += len(lists.Filter(v.Proofs, func(p harness.VerifiedProof) bool { return p.Err == nil }))
	}
	if len(runs) > 1 {
		a.println("%s: %s; valid proofs: %d", path, checker.Count(len(runs), "run"), holds)
	}
	return worst, nil
}

func (a *App) println(format string, args ...any) { fmt.Fprintf(a.st.Stdout, format+"\n", args...) }

// runsIn are the run directories at or below a directory.
func runsIn(dir string) (runs []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		_, results := os.Stat(filepath.Join(path, harness.ResultsFile))
		_, record := os.Stat(history.FileIn(path))
		if results == nil && record == nil {
			runs = append(runs, path)
			return filepath.SkipDir
		}
		return nil
	})
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("%s contains no finished run (a directory with the files %s and history.jsonl)", dir, harness.ResultsFile)
	}
	return runs, err
}

// codeOf is the exit code for what became of a proof.
func codeOf(err error) int {
	switch {
	case err == nil:
		return harness.ExitPass
	case errors.Is(err, proof.ErrRecord) || errors.Is(err, proof.ErrJudge) || errors.Is(err, harness.ErrNoProof):
		return harness.ExitUnknown
	}
	return harness.ExitViolation
}

// sayVerified tells what became of the proofs of a run. Brief, of many runs, it is a line a run and what does not hold.
func (a *App) sayVerified(v *harness.Verified, s verifyFlags, brief bool) (worst int, err error) {
	if s.finding > len(v.Proofs) {
		return 0, harness.Usage(fmt.Errorf("--finding %d: the run %s has no such finding with a proof, but %d others: verify "+
			"without --finding prints their numbers", s.finding, v.Dir, len(v.Proofs)))
	}
	worst = codeOf(v.Wrong)
	holds := 0
	var said []*alike
	for i, p := range v.Proofs {
		if s.finding > 0 && s.finding != i+1 {
			continue
		}
		code := codeOf(p.Err)
		worst = worse(worst, code)
		if code == harness.ExitPass {
			holds++
		}
		one := &alike{first: i + 1, last: i + 1, text: found(p.Check, p.Finding.Rule, string(p.Finding.Class)) + ": " + verdict(p)}
		switch last := len(said) - 1; {
		case brief && code == harness.ExitPass:
		case last >= 0 && !s.all && said[last].text == one.text:
			said[last].last = i + 1
		case code == harness.ExitPass:
			one.story = p.Story
			fallthrough
		default:
			said = append(said, one)
		}
	}
	for _, l := range said {
		a.sayAlike(l)
	}
	switch {
	case v.Wrong != nil:
		a.println("%s: the stored results ARE WRONG: %v", v.Dir, v.Wrong)
	case len(v.Proofs) == 0:
		a.println("%s: verdict %s; the run has no findings, so there is no proof to check", v.Dir, v.Results.Verdict)
	case s.finding == 0:
		a.println("%s: valid proofs: %d of %d (checked against the whole record)", v.Dir, holds, len(v.Proofs))
	}
	if !brief && s.finding == 0 {
		a.restsOn(v)
	}
	return worst, a.saveLetter(v, s)
}

// alike are findings one after the other of which the same is said.
type alike struct {
	first, last int
	text        string
	story       []string // of the first; nil: there is none
}

// sayAlike tells the first with its story, and the others by their numbers.
func (a *App) sayAlike(l *alike) {
	if l.story != nil {
		a.println("%d. %s\n   %s\n", l.first, l.text, strings.Join(l.story, "\n   "))
		l.first++
	}
	if l.first == l.last {
		a.println("%d. %s", l.first, l.text)
	} else if l.first < l.last {
		a.println("%d to %d. %s", l.first, l.last, l.text)
	}
}

// found names a finding; it has a class where the question arises.
func found(check, rule, class string) string {
	if class == "" || class == string(checker.NoClass) {
		return check + ", " + rule
	}
	return fmt.Sprintf("%s, %s (%s)", check, rule, class)
}

// fewEvents is how many events of a proof a person can follow.
const fewEvents = 40

func verdict(p harness.VerifiedProof) string {
	switch codeOf(p.Err) {
	case harness.ExitPass:
		if p.Finding.Proof.Record {
			return "the proof holds (checked against the whole record)"
		}
		if n := len(p.Finding.Proof.Events); n > fewEvents {
			return fmt.Sprintf("the proof holds, but is not small (%d events, and none can be left out); its last lines say what decides",
				n)
		}
		return "the proof holds (the few events in it are enough to show the violation)"
	case harness.ExitUnknown:
		return "the proof was not checked: " + p.Err.Error()
	}
	return "the proof DOES NOT HOLD: " + p.Err.Error()
}

// restsOn says what a verdict rests on: how much was looked at, and what was not.
func (a *App) restsOn(v *harness.Verified) {
	r := v.Results
	if v.Grants > 0 && v.Wrong == nil {
		a.println("  mutual exclusion: verify checked %s again; no two clients believed at the same time that they held the lock",
			checker.Count(v.Grants, "grant"))
	}
	var lock checker.LockProof
	if c := r.Checks[checker.LockLinearizability]; c.Verdict == checker.Pass && c.ProofInto(&lock) == nil {
		a.println("  lock-linearizability: a correct lock could have produced the results of %s on %s",
			checker.Count(lock.Operations, "operation"), checker.Count(lock.Locks, "lock"))
	}
	if n, hit := r.Stats["faults_on_holder"]; hit && r.Verdict == checker.Pass && n > 0 {
		a.println("  exposures: %s hit a client that held a lock, and none caused a violation; with 95 %% confidence, at most %.2g "+
			"%% of such faults break this lock", checker.Count(n, "fault"), 100*tally.NoneIn(n))
	} else if len(v.Run.RequestedFaults) == 0 && r.Verdict == checker.Pass {
		a.println("  exposures: none; no fault was injected, so the run does not show how the lock behaves under faults")
	}
	for _, f := range v.Run.RequestedFaults {
		if f.Skipped != "" {
			a.println("  fault skipped: %s: %s", f.Spec, f.Skipped)
		}
	}
	for _, name := range r.Order {
		c := r.Checks[name]
		if (c.Verdict == checker.Unknown || c.Verdict == checker.Skipped) && !c.Quiet && c.Code != checker.CodeElsewhere {
			a.println("  %s: %s: %s", c.Verdict, name, c.Reason)
		}
	}
}

func (a *App) saveLetter(v *harness.Verified, s verifyFlags) error {
	if s.save == "" {
		return nil
	}
	if len(v.Proofs) == 0 {
		return harness.Usage(fmt.Errorf("--save: %s has no findings, so there is no proof to save", v.Dir))
	}
	l, err := v.Letter(max(s.finding, 1) - 1)
	if err != nil {
		return err
	}
	if err := files.WriteJSON(s.save, l); err != nil {
		return harness.Environment(err)
	}
	a.println("saved: %s (check it with: %s)", s.save, a.named("verify", s.save))
	return nil
}

// verifyLetter checks a proof in a file of its own.
func (a *App) verifyLetter(path, record string) (int, error) {
	l, story, err := harness.VerifyLetter(path, record)
	if l == nil {
		return 0, err
	}
	code := codeOf(err)
	what := found(l.Claim.Check, l.Claim.Rule, l.Claim.Class)
	switch code {
	case harness.ExitPass:
		a.println("%s: %s: the proof holds (%s)\n   %s", path, what, checker.Count(len(l.Events), "event"),
			strings.Join(story, "\n   "))
		if record == "" {
			a.println("verify used only the events in this file. To check the proof against the whole record: %s --record DIR (SHA-256 "+
				"of the record: %s)", a.named("verify", path), l.Record)
		}
	case harness.ExitUnknown:
		a.println("%s: %s: the proof was not checked: %v (SHA-256 of the record: %s; to check the proof, add --record DIR)", path, what,
			err, l.Record)
	default:
		a.println("%s: %s: the proof DOES NOT HOLD: %v", path, what, err)
	}
	return code, nil
}
