package harness

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

// The clients stop working once the record shows enough, and the rest of the run is made and judged as ever.
func TestTheWorkEndsOnceTheRecordShowsEnough(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "none")
	cfg.Time = 5 * time.Minute
	cfg.Enough = func(r *checker.Results) bool { return r.Checks[checker.MutualExclusion].Verdict == checker.Fail }
	out := mustRun(t, cfg)
	if r := out.Results; r.ExitCode != ExitViolation || r.Checks[checker.MutualExclusion].Verdict != checker.Fail ||
		r.Checks[checker.Liveness].Verdict != checker.Pass || time.Duration(r.Duration) > time.Minute || out.Worked <= 0 ||
		!slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "stopped working after") }) {
		t.Errorf("exit code %d after %v: %+v", r.ExitCode, time.Duration(r.Duration), r.Checks)
	}
}

// What a run shows so far is what a whole record up to that moment shows: a lock that is right has no violation at any look.
func TestNoLookSeesAViolationOfARightLock(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "file-flock")
	cfg.Time = 4 * time.Second
	looks := 0
	cfg.Enough = func(r *checker.Results) bool {
		looks++
		return r.Verdict == checker.Fail
	}
	out := mustRun(t, cfg)
	if out.Worked != 0 || out.Results.Verdict == checker.Fail || time.Duration(out.Results.Duration) < cfg.Time || looks == 0 {
		t.Errorf("%s after %v and %d looks", out.Results.Verdict, time.Duration(out.Results.Duration), looks)
	}
}
