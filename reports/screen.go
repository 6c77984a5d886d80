package reports

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// screen is what the first screen of a page says: the verdict in plain words, and what to do.
type screen struct {
	Verdict string // a sentence
	Kind    string // what kind of violation it is, and what that means
	Cure    string // a sentence: what ends it, or what to do next
	Run     string // what was run, in a line
}

// screenOf answers by the incident that ranks first; of a run without one, by what it withstood.
func screenOf(r *checker.Results, rec *history.Record, first *happening, about Context) screen {
	s := screen{Run: heading(r)}
	if first == nil || r.Verdict == checker.Pass {
		return s.withoutViolation(r, rec)
	}
	f := first.first()
	s.Verdict = verdictSentence(r, rec, first)
	s.Kind, s.Cure = kindOfFinding(f), cure(r, rec, first, about)
	switch {
	case f.Rule == ruleDeadlocked:
		s.Kind = "Neither a lease nor a time-out ended the wait."
	case f.Rule == "done-twice" && r.Checks[checker.MutualExclusion].Verdict == checker.Pass:
		s.Kind = "The lock kept its promise: nothing told the next client that the job was done."
	case first.found[0].Check == checker.Liveness && f.Class == checker.NoClass && r.Stats["faults_effective"] > 0:
		s.Kind = "The lock did not recover from the faults."
	}
	if r.Verdict == checker.Unknown {
		s.Kind = "The run is inconclusive: " + why(r) + "."
		s.Cure = whatNow(r)
	}
	return s
}

// withoutViolation is the first screen of a run that passed, or that found nothing.
func (s screen) withoutViolation(r *checker.Results, rec *history.Record) screen {
	effective := r.Stats["faults_effective"]
	s.Verdict = fmt.Sprintf("%s, %s, no violation", checker.Count(r.Stats["grants"], "grant"), checker.Count(effective, "fault"))
	s.Kind = s.Verdict + ". One run proves little."
	if effective == 0 {
		s.Kind = "No fault took effect, so nothing is known of the lock under faults."
	}
	if most := r.Stats["unplanned_stall_max_ns"]; r.TTL > 0 && most > r.TTL/10 {
		s.Kind += fmt.Sprintf(" This host stood still for up to %s: do not trust shorter times.", span(most))
	}
	if max(r.Clients, len(rec.Last)) == 1 {
		s.Kind = "With one client, nobody competes for the lock."
	}
	s.Cure = "Next: more seeds, and faults at each point of the critical section (lockstorm suite)."
	if max(r.Clients, len(rec.Last)) == 1 {
		s.Cure = "Next: run two clients or more (--clients), with faults."
	}
	if r.Verdict == checker.Unknown {
		s.Verdict = "No verdict: " + why(r) + "."
		s.Kind = "The run is inconclusive: the run shows no violation, but does not show that the lock is safe."
		s.Cure = whatNow(r)
	} else if n := r.Stats["violations"]; n > 0 {
		s.Verdict = fmt.Sprintf("The run passed, although two clients held the lock at once (%s).", times(n))
		s.Kind = strings.TrimSpace(strings.Trim(notGating(r), " ()"))
		s.Cure = "Next: if these findings should make the run fail, add --require +mutual-exclusion."
		if r.Checks[checker.MutualExclusion].Spared {
			s.Cure = "Next: if these findings should make the run fail, leave out --fail-on defect."
		}
	}
	return s
}

// unanswered is the first required check that gave no answer.
func unanswered(r *checker.Results) (name string, c checker.Result) {
	for _, name := range r.Order {
		if c := r.Checks[name]; c.Required && c.Verdict == checker.Unknown {
			return name, c
		}
	}
	return "", checker.Result{}
}

// why returns why a run has no verdict.
func why(r *checker.Results) string {
	name, c := unanswered(r)
	if name == "" {
		return "a required check could not decide whether the lock kept its promise"
	}
	return cmp.Or(c.Reason, "no finding counts, because each of them may have a cause other than the lock")
}

// whatNow is what to do after a run without a verdict.
func whatNow(r *checker.Results) string {
	const more = " docs/inconclusive.md in lockstorm's repository lists other remedies."
	_, c := unanswered(r)
	switch remedy, known := remedies[c.Code]; {
	case r.Clients == 1 && c.Code != checker.CodePanicked:
		return "Repeat the run with two or more --clients: nobody competes with a single client." + more
	case known:
		return remedy + more
	case c.Code != "": // of a check that does not apply and was required by name, or of a check of another program
		return "If the check does not apply to this run, do not require it." + more
	}
	return remedies[checker.CodeDoubtful] + more
}

// remedies are in short what docs/inconclusive.md says to do about each code.
var remedies = map[checker.Code]string{
	checker.CodeNoEnd:   "Repeat the run, and do not interrupt it.",
	checker.CodeNoFinal: "Repeat the run, and do not interrupt it.",
	checker.CodeUnsound: "Read the result of the check \"assumptions\" below: it names the errors in the record.",
	checker.CodeNotHit: "Repeat the run with a longer --time, with another seed, or with a fault that acts at a step of " +
		"the client (at=before-write).",
	checker.CodeDoubtful: "Repeat the run on a host with less load.",
	checker.CodeNoClock: "Do not require the check \"loss-notice\", or change the adapter so that it measures times with " +
		"CLOCK_MONOTONIC.",
	checker.CodeNoGrant:       "Read the quoted error: mend the adapter or its servers (lockstorm adapter check).",
	checker.CodeUntried:       "Repeat the run with a longer --time; if the servers are slow, raise --ttl as well.",
	checker.CodeStillHurt:     "Repeat the run with a longer --time, or with a shorter fault.",
	checker.CodeStarved:       "Repeat the run with fewer --clients.",
	checker.CodeTimeout:       "Repeat the run with fewer --clients or a shorter --time.",
	checker.CodeContradiction: "Please report the contradiction as a bug of lockstorm, and attach the directory of the run.",
	checker.CodePanicked:      "Please report the crash of the check, and attach the directory of the run.",
}
