package lockstormtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/reports"
	"github.com/lockstorm/lockstorm/suite"
)

// judge makes the runs of one call and compares them with the expectation.
type judge struct {
	options
	t    testing.TB
	cat  *harness.Catalogue
	cfg  harness.Config
	want suite.Expectation
	kept *harness.Trial // is made, whatever the seed; nil: one of the configuration is
	more bool           // another seed is tried where this one is not as expected
}

// judgeOf is the judge of one call with its options.
func judgeOf(t testing.TB, cat *harness.Catalogue, cfg harness.Config, want suite.Expectation, opts []Option) *judge {
	j := &judge{t: t, cat: cat, cfg: cfg, want: want, options: options{attempts: defaultAttempts}}
	for _, o := range opts {
		o(&j.options)
	}
	if j.exec != nil {
		j.cfg.Backend, j.cfg.Arguments = harness.ExecBackend(j.exec[0]), j.exec[1:]
	}
	j.cfg.FailOn = cmp.Or(j.failOn, j.cfg.FailOn)
	return j
}

// must ends the test with an error that is none of the lock.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("lockstormtest: %v", err)
	}
}

// all makes a run with every seed, or until one is as expected.
func (j *judge) all() (out *harness.RunOutcome) {
	j.t.Helper()
	if saved := j.saved(); saved != nil {
		return j.judged(saved)
	}
	if len(j.seeds) == 0 {
		return j.seeded(j.cfg.Seed)
	}
	for i, seed := range j.seeds {
		j.more = j.first && i+1 < len(j.seeds)
		if out = j.seeded(seed); j.first && !j.more {
			break
		}
	}
	return out
}

// seeded makes the run with a seed; 0: drawn.
func (j *judge) seeded(seed uint64) *harness.RunOutcome {
	j.t.Helper()
	if j.kept != nil {
		return j.judged(j.kept)
	}
	cfg := j.cfg
	cfg.Seed, cfg.Command = seed, j.command()
	trial, err := harness.Resolve(j.cat, cfg)
	if err != nil {
		j.refused(err)
		return nil
	}
	return j.judged(trial)
}

// refused judges a run that was not made, or broke before it could be judged.
func (j *judge) refused(err error) {
	j.t.Helper()
	var coded *harness.Error
	if errors.As(err, &coded) && len(j.want.Compare(coded.Code, nil)) == 0 {
		return
	}
	j.t.Fatalf("lockstormtest: %v\n  %s", err, j.cfg.Line())
}

// judged repeats a run until the host did not disturb it, and compares it with the expectation.
func (j *judge) judged(trial *harness.Trial) *harness.RunOutcome {
	j.t.Helper()
	ctx, cancel := inTime(j.t)
	defer cancel()
	for n := 1; ; n++ {
		f := j.folder()
		out, err := trial.Run(ctx, f.dir, nil)
		if err != nil {
			j.t.Logf("lockstormtest: the unfinished run is kept in %s", f.dir)
			j.refused(err)
			return nil
		}
		differ := j.want.Compare(out.ExitCode(), out.Results)
		f.settle(len(differ) == 0)
		if len(differ) == 0 {
			j.t.Logf("lockstormtest: the run with seed %d ended as expected: %s (%d grants, %d effective faults)", out.Seed,
				reports.Headline(out.Results), out.Results.Stats["grants"], out.Results.Stats["faults_effective"])
			j.more = false
			return out
		}
		why := j.excuse(out)
		switch {
		case j.more && !out.Interrupted && !j.defect(out.Results):
			j.t.Logf("the run with seed %d did not end as expected; trying the next seed%s", out.Seed, j.explain(trial, out, differ))
			return out
		case out.Interrupted:
			j.t.Fatalf("the test was interrupted before the run ended%s", j.explain(trial, out, differ))
		case why == "":
			j.t.Fatalf("the run did not end as expected%s", j.explain(trial, out, differ))
		case n == j.attempts:
			j.t.Fatalf("the run was inconclusive in each of %d attempts: %s%s", n, why, j.explain(trial, out, differ))
		}
		j.t.Logf("lockstorm repeats the run, because this run gives no verdict: %s%s", why, j.explain(trial, out, differ))
	}
}

// stopBefore is how long before the test binary gives up a run is stopped, so that it ends its
// processes and is judged.
const stopBefore = 10 * time.Second

// inTime is the context of a test, ended before `go test -timeout` ends the process.
func inTime(t testing.TB) (context.Context, context.CancelFunc) {
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, set := limited.Deadline(); set {
			return context.WithDeadline(t.Context(), end.Add(-stopBefore))
		}
	}
	return context.WithCancel(t.Context())
}

// excuse says why a run that is not as expected proves nothing; empty: it does. A violation is one wherever it shows, but for
// one of liveness on a host that was busy; a certain defect that nobody expected is none of the host's doing.
func (j *judge) excuse(out *harness.RunOutcome) string {
	if j.defect(out.Results) {
		return ""
	}
	stalled := time.Duration(out.Results.Stats["unplanned_stall_max_ns"])
	sound := out.Results.Checks[checker.Assumptions]
	switch {
	case out.Trouble != nil:
		return fmt.Sprintf("the run did not finish: %v", out.Trouble)
	case suite.Hindered(out.Results) && !j.violated(out.Results):
		return fmt.Sprintf("the host disturbed the run (longest stall of a process: %v; tasks waited for the host for %v)",
			stalled.Round(time.Millisecond), time.Duration(out.Results.Stats["host_busy_ns"]).Round(time.Millisecond))
	case sound.Verdict != checker.Pass:
		return "the record of the run is not reliable: " + sound.Reason
	default:
		return ""
	}
}

// violated reports whether a required check other than liveness failed: the judge has set aside what the host explains.
func (j *judge) violated(r *checker.Results) bool {
	for name, c := range r.Checks {
		if c.Required && c.Verdict == checker.Fail && name != checker.Liveness {
			return true
		}
	}
	return false
}

// defect reports whether both leases were running where something went wrong, for certain, and no
// violation was expected of that check. That a lock does not come back in time may be the host's
// doing all the same.
func (j *judge) defect(r *checker.Results) bool {
	for name, c := range r.Checks {
		expected := j.want.Verdicts[name] == checker.Fail ||
			(j.want.Verdicts[name] == "" && !slices.Equal(j.want.Exit, []int{harness.ExitPass}) && j.want.Outcome != suite.Safe)
		if !c.Required || c.Verdict != checker.Fail || name == checker.Liveness || expected {
			continue
		}
		if slices.ContainsFunc(c.Findings, func(f checker.Finding) bool {
			return f.Class == checker.Defect && f.Gating &&
				!f.Doubtful
		}) {
			return true
		}
	}
	return false
}
