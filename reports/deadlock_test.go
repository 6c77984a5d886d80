package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// A deadlock is told by its cycle and from its beginning; the mutual waits that are the same are not told again.
func TestDeadlock(t *testing.T) {
	r, rec := judged(t, "deadlock")
	if waits := r.Checks[checker.Deadlock].Findings; len(waits) != 1 {
		t.Fatalf("%d mutual waits in %+v", len(waits), r.Checks)
	}
	all, _ := happened(once(r), rec)
	if len(all) != 1 || len(all[0].found) != 1 {
		t.Fatalf("told %d times", len(all))
	}
	s := screenOf(r, rec, all[0], Context{})
	for _, c := range []struct{ got, want string }{
		{s.Verdict, "Deadlock: c1 and c2 each wait for the other's lock (2.98 s, still waiting)."},
		{s.Kind, "Neither a lease nor a time-out ended the wait."},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	var kinds []StepKind
	for _, step := range all[0].steps {
		kinds = append(kinds, step.Kind)
	}
	if len(kinds) != 4 || kinds[1] != StepGranted || kinds[2] != StepWaits {
		t.Errorf("the steps are %v", kinds)
	}
	var term, page bytes.Buffer
	if err := Summary(&term, r, rec, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := HTML(&page, r, rec, Context{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{term.String(), page.String()} {
		told := strings.TrimSuffix(s.Verdict, ".")
		if !strings.Contains(text, told) && !strings.Contains(text, strings.ReplaceAll(told, "'", "&#39;")) {
			t.Error("the deadlock is not told")
		}
		for _, never := range []string{"mutual wait", "fter the faults", "lock service"} {
			if strings.Contains(text, never) {
				t.Errorf("says %q", never)
			}
		}
	}
}

// Of a crowd, the headline says how many were inside, and what the run lost.
func TestCrowd(t *testing.T) {
	r, rec := judged(t, "paused")
	all, _ := happened(r, rec)
	for most, want := range map[int64]string{2: "Two clients held lock L1 at once for 98.0 ms", 28: "Up to 28 clients held lock " +
		"L1 at once; 1 acknowledged update lost for good."} {
		if r.Stats["holders_max"] = most; !strings.HasPrefix(verdictSentence(r, rec, all[0]), want) {
			t.Errorf("%d: %s", most, verdictSentence(r, rec, all[0]))
		}
	}
}

// What cannot fail a run is a note; a finding's mistake is said before the fault, and in place of one that is missing.
func TestNotesAndCauses(t *testing.T) {
	counts, noted := finding("overlap", checker.Inherent, 1), reported(finding("overlap", checker.Inherent, 1))
	for want, c := range map[string]checker.Result{
		"FAIL": {Verdict: checker.Fail, Required: true, Findings: []checker.Finding{noted, counts}},
		"pass": {Verdict: checker.Pass, Required: true}, "unknown": {Verdict: checker.Unknown, Required: true},
		"skipped": {Verdict: checker.Skipped},
	} {
		if got := mark(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	notes := []checker.Result{
		{Verdict: checker.Fail, Required: true, Findings: []checker.Finding{noted}},
		{Verdict: checker.Fail, Required: true, Spared: true, Findings: []checker.Finding{noted}},
		{Verdict: checker.Fail, Findings: []checker.Finding{counts}},
		{Verdict: checker.Pass, Findings: []checker.Finding{noted}},
		{Verdict: checker.Unknown},
	}
	r := &checker.Results{Checks: map[string]checker.Result{"good": {Verdict: checker.Pass, Required: true}}}
	for i, c := range notes {
		if mark(c) != "note" || markColour(mark(c)) != faint {
			t.Errorf("%+v is %q", c, mark(c))
		}
		r.Checks[string(rune('a'+i))] = c
	}
	for want, f := range map[string]checker.Finding{
		"mistake; fault": {Lead: "mistake", Cause: "fault", CauseKind: checker.CauseFault},
		"lead":           {Lead: "lead", Cause: checker.NoCause.Text, CauseKind: checker.CauseNone}, "fault": {Cause: "fault"},
	} {
		if got := because(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
