package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
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
			return fmt.Sprintf("%s each did %s.", and(clientsOf(rec, f)), period)
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
	fenced := r.Checks[checker.DataFenced].Verdict == checker.Pass
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
	case slices.Contains(twice, f.Rule) && about.OnDisk != "" && restarted(rec, f.Fault):
		return "Cure: keep the locks on disk: the servers of topology " + r.Topology + " forget them in a restart. Try --topology " +
			about.OnDisk + "."
	case slices.Contains(twice, f.Rule) && about.OnDisk != "" && unpowered(rec, f.Fault):
		return "Cure: have the store sync a write before it acknowledges it: the servers of topology " + r.Topology +
			" lose what they acknowledged when the power goes. Try --topology " + about.OnDisk + "."
	case slices.Contains(twice, f.Rule) && ofClient(rec, f.Fault):
		return "Cure: mend how the lock is taken over from a client that died or was late: check and take in one atomic step."
	case slices.Contains(twice, f.Rule):
		return "Cure: use a topology in which the lock survives this fault, or another lock. A longer lease does not help."
	}
	return "Next: read the story of the violation, then the events that prove the violation."
}

// restarted reports whether a fault ended a server that came back: what was only in its memory is gone.
func restarted(rec *history.Record, fault int) bool {
	f := rec.Injected(fault)
	return f != nil && (f.Fault.Fault == "server-restart" || f.Fault.Fault == "server-kill")
}

// unpowered reports whether a fault took what a server had not synced.
func unpowered(rec *history.Record, fault int) bool {
	f := rec.Injected(fault)
	return f != nil && f.Fault.Fault == "power-loss"
}

// ofClient reports whether a fault stopped or ended a client.
func ofClient(rec *history.Record, fault int) bool {
	f := rec.Injected(fault)
	return f != nil && f.Family == history.FamilyClient
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
