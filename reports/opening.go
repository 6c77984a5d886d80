package reports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// chip is a run in two words. Red is for defects of the lock alone, amber for what only a fence mends.
type chip struct{ Text, Class string }

func chipOf(r *checker.Results, first *happening) chip {
	switch {
	case r.Stats["grants"] == 0 && first == nil:
		return chip{"nothing tested", "none"}
	case r.Verdict == checker.Unknown:
		return chip{"inconclusive", "none"}
	case r.Verdict == checker.Pass:
		return chip{"nothing broken", "pass"}
	case first == nil:
		return chip{"violation", "other"}
	case first.first().Class == checker.Inherent:
		return chip{"needs a fence", "fence"}
	case first.first().Class == checker.Defect:
		return chip{"broken lock", "broken"}
	}
	word := map[string]string{"done-twice": "job done twice", ruleDeadlocked: "deadlock"}[first.first().Rule]
	return chip{cmp.Or(word, "violation"), "other"}
}

// said is how servers say their version: a name, a word for version, and the number.
var said = regexp.MustCompile(`(?i)^(?:\S*/)?(.*?)[\s,:]*(?:\b(?:v|ver|version)\b)?[\s:=]*v?(\d+(?:\.\d+)+)`)

// tested is what was run, a part for each word of it: the lock and its servers, with versions.
func tested(r *checker.Results) (parts []string) {
	var on []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		v := said.FindStringSubmatch(r.Versions[name])
		if v == nil || slices.Contains(noServers, name) || strings.HasPrefix(name, "image ") {
			continue
		}
		if v[1] == "" && r.Versions["adapter"] != "" {
			continue // a number alone is that of a library, or of what runs the adapter
		}
		on = lists.With(on, cmp.Or(v[1], name)+" "+v[2])
	}
	lock := subject(r)
	if len(on) > 0 {
		lock += " on " + listed(on, 3)
	}
	parts = append(parts, lock)
	if len(r.Nemesis) > 0 && r.Nemesis[0] != "none" {
		parts = append(parts, strings.Join(r.Nemesis, " + "))
	} else {
		parts = append(parts, "no fault")
	}
	clients := checker.Count(int64(r.Clients), "client")
	if r.TTL > 0 {
		clients += ", ttl " + span(r.TTL)
	}
	return append(parts, clients, fmt.Sprintf("seed %d", r.Seed))
}

// noServers are the names of versions of lockstorm and of the lock itself.
var noServers = []string{"lockstorm", "go", "adapter", "library"}

// fates are what a fault did to the client of a story, or to its lock.
var fates = map[string]string{
	"client-pause": "%s slept through its lease", "client-stall": "%s stalled through its lease",
	"partition-client": "%s was cut off from the store and worked on", "slow-server": "the store answered %s late",
	"server-restart": "the store restarted and forgot the lock of %s", "server-kill": "the store died and forgot the lock of %s",
	"power-loss":    "the store lost its power, and with it the lock of %s",
	"failover-kill": "the new master did not know the lock of %s", "promote-replica": "the new master did not know the lock of %s",
	"clock-jump": "a clock jumped and ended the lease of %s early", "evict": "the store evicted the lock of %s",
}

// headlineOfPage says in a sentence who did what to whom.
func headlineOfPage(r *checker.Results, rec *history.Record, h *happening) string {
	f := h.first()
	clients := clientsOf(rec, f)
	if crowd := r.Stats["holders_max"] > 2 && !rec.Run.Model.Shares(); len(clients) == 0 || f.Rule == ruleDeadlocked || crowd ||
		!slices.Contains(met, f.Rule) {
		return strings.TrimSuffix(verdictSentence(r, rec, h), ".")
	}
	me, other := cut(clients[0], maxName), "another client"
	if len(clients) > 1 {
		other = cut(clients[1], maxName)
	}
	text := fmt.Sprintf("%s got the lock while %s held it", other, me)
	if !rec.Run.Model.Locks() {
		text = fmt.Sprintf("%s and %s both replaced the same value", me, other)
	}
	if in := rec.Injected(f.Fault); in != nil && f.CauseKind == checker.CauseFault {
		fate, known := fates[in.Fault.Fault]
		own := slices.Contains(in.Clients, clients[0]) && f.Class == checker.Inherent // else its lease was not over, or it has none
		if known && (len(in.Clients) == 0 || own) {
			text = fmt.Sprintf(fate, me)
		}
	}
	if f.Rule == "foreign-release" {
		text = fmt.Sprintf("%s released the lock of %s", me, other)
	}
	both := me + " and " + other
	if rec.Run.Model.Kind == history.ModelReadWrite && len(clients) > 1 {
		of := grantsOf(rec, f)
		both = me + roleOf(of, clients[0]) + " and " + other + roleOf(of, clients[1])
	}
	return capital(text + damageOf(r, rec, f, text, clients[0], both))
}

// roleOf says what a client does with a lock of readers and writers.
func roleOf(of []*history.Grant, client string) string {
	i := slices.IndexFunc(of, func(g *history.Grant) bool { return g.Client == client })
	if of[i].Mode == history.ModeShared {
		return " (a reader)"
	}
	return " (a writer)"
}

// damageOf is what came of it, for the end of a headline about a client.
func damageOf(r *checker.Results, rec *history.Record, f *checker.Finding, text, client, both string) string {
	loss, writer, whole := lossOf(r, f), "", ""
	if all := lossesIn(r, registers...); all.most > loss.Lost {
		whole = fmt.Sprintf(" (%s in the whole run)", strings.TrimSuffix(strings.TrimSuffix(all.of("update"), "s"), " update"))
	}
	if d := r.LossOf(f); d != nil && len(d.Grants) > 0 && rec.ByID[d.Grants[0]] != nil {
		writer = rec.ByID[d.Grants[0]].Client
	}
	switch {
	case loss.Lost > 0 && strings.HasPrefix(text, cut(client, maxName)+" ") && writer == client:
		return " and wiped out " + checker.Count(loss.Lost, "update") + whole
	case loss.Lost > 0:
		return ": " + checker.Count(loss.Lost, "update") + was(loss.Lost) + "wiped out" + whole
	case loss.Overwritten > 0:
		return ": " + checker.Count(loss.Overwritten, "update") + was(loss.Overwritten) + "overwritten unseen"
	case f.Rule == "overlap" && f.To > f.From:
		return fmt.Sprintf(": %s both worked for %s", both, span(f.To-f.From))
	}
	return ""
}

// met are the rules of two clients that met in a lock.
var met = []string{"overlap", "double-grant", "lost-lease", "lost-update", "late-write", "foreign-release", "late-notice"}

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
	if r.Verdict == checker.Unknown && !f.Gating && r.Stats["violations"] == 0 { // it is not why there is no verdict
		return s.withoutViolation(r, rec)
	}
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
		s.Kind = "The run is inconclusive: " + why(r, first.found[0].Check) + "."
		s.Cure = whatNow(r, first.found[0].Check)
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
	s.Cure = "Next: more seeds, and faults at each point of the critical section (lockstorm suite)."
	if max(r.Clients, len(rec.Last)) == 1 {
		s.Kind = "With one client, nobody competes for the lock."
		s.Cure = "Next: run two clients or more (--clients), with faults."
	}
	if r.Verdict == checker.Unknown {
		s.Verdict = "No verdict: " + why(r, "") + "."
		s.Kind = "The run is inconclusive: the run shows no violation, but does not show that the lock is safe."
		s.Cure = whatNow(r, "")
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

// unanswered is the required check that gave no answer: the one whose finding is shown, else the first.
func unanswered(r *checker.Results, shown string) (name string, c checker.Result) {
	for _, name := range append([]string{shown}, r.Order...) {
		if c := r.Checks[name]; c.Required && c.Verdict == checker.Unknown {
			return name, c
		}
	}
	return "", checker.Result{}
}

// why returns why a run has no verdict, by the check whose finding is shown, if any.
func why(r *checker.Results, shown string) string {
	name, c := unanswered(r, shown)
	if name == "" {
		return "a required check could not decide whether the lock kept its promise"
	}
	return cmp.Or(c.Reason, "no finding counts, because each of them may have a cause other than the lock")
}

// whatNow is what to do after a run without a verdict: about the check that why names.
func whatNow(r *checker.Results, shown string) string {
	const more = " docs/inconclusive.md in lockstorm's repository lists other remedies."
	_, c := unanswered(r, shown)
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
