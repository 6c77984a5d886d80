package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// verdictSentence is what happened, and what was lost by it.
//
//nolint:gocyclo // a table of rules
func verdictSentence(r *checker.Results, rec *history.Record, h *happening) string {
	f := h.first()
	lock := lockOf(rec, f)
	var text string
	rule, most := f.Rule, r.Stats["holders_max"]
	if most > 2 && !rec.Run.Model.Shares() && slices.Contains(twice, rule) {
		rule = "crowd"
	}
	switch rule {
	case "crowd":
		if len(rec.Locks) > 1 {
			lock = "a lock"
		}
		text = fmt.Sprintf("Up to %d clients held %s at once", most, lock)
		if whole := lossesIn(r, registers...); whole.most > 0 {
			return text + "; " + whole.of("acknowledged update") + " lost for good."
		}
	case ruleDeadlocked:
		return deadlockSentence(rec, f)
	case "done-twice":
		if period, _, ok := strings.Cut(f.Message, " was done "); ok {
			return fmt.Sprintf("%s each did %s.", listed(clientsOf(rec, f), 4), period)
		}
	case "overlap":
		text = fmt.Sprintf("Two clients held %s at once for %s", lock, span(f.To-f.From))
	case "double-grant":
		text = fmt.Sprintf("%s was granted to two clients at once", capital(lock))
	case "foreign-release":
		text = fmt.Sprintf("A client released %s while another client held it", lock)
		if clients := clientsOf(rec, f); len(clients) == 2 {
			text = fmt.Sprintf("%s released %s while %s held it", capital(clients[0]), lock, clients[1])
		}
	case "late-notice":
		late, known := toldLate(h)
		if h.found[0].Check != checker.MutualExclusion || !known {
			return capital(f.Message) + "."
		}
		text = fmt.Sprintf("Two clients held %s at once for %s: the library reported the loss to the first client %s too late", lock,
			span(f.To-f.From), span(late))
	case "lost-update", "late-write":
		if loss := lossSentence(f.Loss()); loss != "" {
			return capital(loss) + ": a client wrote without having seen the latest value."
		}
		return capital(f.Message) + "."
	case "no-recovery":
		text = inTheEnd(r) + ", some clients could not get " + lock + " again"
	case "orphan":
		if h.found[0].Check == checker.Liveness {
			text = inTheEnd(r) + ", clients could not get " + lock + " again: the store may have kept the lock for an earlier grant"
		} else {
			text = fmt.Sprintf("%s was unavailable for %s, although no client held the lock", capital(lock), span(f.To-f.From))
		}
	case "duplicate":
		text = "Two grants of " + lock + " have the same fencing token"
	case "regress":
		text = "A later grant of " + lock + " has a lower fencing token"
	default:
		return capital(f.Message) + "."
	}
	loss := lossOf(r, f)
	if sentence := lossSentence(loss); sentence != "" {
		text += "; " + sentence
		if whole := lossesIn(r, registers...); whole.most > loss.Lost {
			text += " (in the whole run: " + whole.of("update") + " lost)"
		}
	}
	return text + "."
}

// inTheEnd is when a run asks whether its locks still work.
func inTheEnd(r *checker.Results) string {
	if r.Stats["faults_effective"] == 0 {
		return "In the recovery test"
	}
	return "After the faults ended"
}

func kindOfFinding(f *checker.Finding) string {
	switch f.Class {
	case checker.Inherent:
		return "Inherent to leases: any lock with a time-out can do this; another lock won't help."
	case checker.Defect:
		return "A defect of the lock: a correct lock would have prevented this violation."
	case checker.Undetermined:
		return "It is unknown whether the violation is a defect: the record does not show when a lease or a connection ended."
	}
	return ""
}

// cure is one sentence: what ends this kind of violation.
//
//nolint:gocyclo // a table of cures
func cure(r *checker.Results, rec *history.Record, h *happening, about Context) string {
	f := h.first()
	fenced, hit, family := r.Checks[checker.DataFenced].Verdict == checker.Pass, "", ""
	if in := rec.Injected(f.Fault); in != nil {
		hit, family = in.Fault.Fault, in.Family
	}
	switch {
	case f.Class == checker.Inherent && fenced:
		return "Cure: make the data store refuse old fencing tokens. In this run the fence refused old tokens, and no update of the " +
			"fenced data was lost."
	case f.Class == checker.Inherent && about.WithTokens != "":
		return "Cure: use a lock that issues fencing tokens (" + about.WithTokens + "), and make the data store refuse old tokens."
	case f.Class == checker.Inherent:
		return "Cure: send a fencing token with each request, and make the data store refuse old tokens. A longer lease only makes " +
			"the violation rarer."
	case f.Rule == "foreign-release" || f.Rule == "release-of-none" || f.CauseKind == checker.CauseRelease:
		return "Cure: in the release, compare the owner and delete the lock in one atomic step."
	case f.Reason == checker.ReasonToldLate:
		return "Cure: use a library that reports the loss before the lease ends, or stop when the client's own clock says that it " +
			"has ended."
	case f.Rule == "duplicate" || f.Rule == "regress":
		return "Cure: take the fencing tokens from a store that does not forget issued tokens in a fail-over."
	case f.Rule == "no-recovery" && len(rec.Kills) == 0:
		return "Next: find out whether the store still keeps the lock for somebody (then give it a time to live), or whether clients " +
			"that wait are not woken."
	case f.Rule == "no-recovery" || f.Rule == "orphan":
		return "Cure: acquire the lock and set its time to live in one atomic step, so that the lock of a dead holder expires."
	case f.Rule == ruleDeadlocked:
		return "Cure: let every client take its locks in the same order, or give up after a time-out."
	case f.Rule == "done-twice":
		return "Cure: note in the store that the period is done, and ask for that note under the lock."
	case f.Rule == "lost-update" && !rec.Run.Model.Locks():
		return "Cure: compare a version that never comes back, and not the value or a time."
	case slices.Contains(twice, f.Rule) && f.CauseKind != checker.CauseFault:
		return "Cure: use another lock. This one fails without any fault."
	case slices.Contains(twice, f.Rule) && about.OnDisk != "" && (hit == "server-restart" || hit == "server-kill"):
		return "Cure: keep the locks on disk: the servers of topology " + r.Topology + " forget them in a restart. Try --topology " +
			about.OnDisk + "."
	case slices.Contains(twice, f.Rule) && about.OnDisk != "" && hit == "power-loss":
		return "Cure: have the store sync a write before it acknowledges it: the servers of topology " + r.Topology +
			" lose what they acknowledged when the power goes. Try --topology " + about.OnDisk + "."
	case slices.Contains(twice, f.Rule) && family == history.FamilyClient:
		return "Cure: mend how the lock is taken over from a client that died or was late: check and take in one atomic step."
	case slices.Contains(twice, f.Rule):
		return "Cure: use a topology in which the lock survives this fault, or another lock. A longer lease does not help."
	}
	return "Next: read the story of the violation, then the events that prove the violation."
}

// twice are the rules of a lock that was held, or given, twice.
var twice = []string{"lost-lease", "double-grant", "overlap"}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// capital begins a sentence. A word with a digit is the name of a client, and stays.
func capital(s string) string {
	if word, _, _ := strings.Cut(s, " "); s == "" || strings.ContainsAny(word, "0123456789") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// span is a length for people, with three digits.
func span(ns int64) string { return checker.Millis(ns) }

// totals are the sums that matter: without the fence, and with it.
func totals(r *checker.Results) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if n := r.Stats["violations"]; n > 0 {
		upTo := ""
		if n > 1 {
			upTo = "up to "
		}
		atOnce := "Two holders at once"
		if most := r.Stats["holders_max"]; most > 2 {
			atOnce = fmt.Sprintf("Up to %d holders at once", most)
		}
		add("%s: %s, %s%s.%s", atOnce, times(n), upTo, checker.Millis(r.Stats["overlap_max_ns"]), notGating(r))
	}
	const update = "acknowledged update"
	plain := lossesIn(r, facts.RegPlain)
	if jobs := r.Stats["periods"] > 0; plain.counted && !jobs { // who does jobs writes nothing
		add("Lost without a fence: %s%s.", plain.of(update), plain.others())
	}
	if l := lossesIn(r, facts.RegFenced); l.counted {
		refused := checker.Count(r.Stats["fence_refused"], "stale request")
		add("Lost behind the fence: %s%s; it refused %s.", l.of(update), l.others(), refused)
	}
	if l := lossesIn(r, regLedger); l.counted {
		add("Lost in the ledger: %s%s.", l.of(update), l.others())
	}
	if plain.lost > 0 && noTokens(r.Checks[checker.DataFenced]) {
		add("Fencing was not measured, because %s issues no fencing tokens.", subject(r))
	}
	return out
}

// notGating says why overlaps fail nothing, where that is so.
func notGating(r *checker.Results) string {
	c := r.Checks[checker.MutualExclusion]
	switch {
	case gates(c) || c.Verdict != checker.Fail:
		return "" // or the check itself says why it gives no verdict
	case r.Fencing == history.FencingOn:
		return " (No effect on the verdict: with --fencing on, only the data behind the fence counts.)"
	case c.Spared:
		return " (No effect on the verdict: --fail-on defect ignores findings inherent to leases.)"
	case !c.Required:
		return " (No effect on the verdict: the run does not require the check mutual-exclusion.)"
	}
	return " (No effect on the verdict: the store protects each write by a condition or a transaction.)"
}

// noTokens reports whether a check does not apply because the lock issues no tokens.
func noTokens(c checker.Result) bool {
	return c.Verdict == checker.Skipped && c.Code == checker.CodeNoTokens
}

// maxWithstood is how many faults the story of a run without a violation lists.
const maxWithstood = 8

// withstood tells what a lock withstood.
func withstood(r *checker.Results, rec *history.Record) *Survived {
	w := &Survived{Headline: checker.Count(r.Stats["grants"], "grant") + "; two clients never held the same lock at once."}
	for _, in := range rec.Faults {
		switch {
		case !in.Effective():
		case len(w.Steps) == maxWithstood:
			w.More++
		default:
			w.Steps = append(w.Steps, Step{
				At: in.Began(), Party: history.PartyNemesis, Kind: StepFault,
				Events: []int64{in.Invoke.Index, in.Effect.Index}, Text: survived(in, rec),
			})
		}
	}
	return w
}

// survived says what a fault did, where and for how long.
func survived(in *history.Injection, rec *history.Record) string {
	text := fmt.Sprintf("%s: %s", in.Fault.Fault, in.Proof)
	if trigger := checker.Trigger(in.Fault); trigger != "" {
		text += ", triggered " + trigger + sourceOf(in, rec)
	}
	if in.HealEnd != nil {
		text += ", for " + checker.Millis(in.HealEnd.Time-in.Began())
	}
	return text + "."
}
