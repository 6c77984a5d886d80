package reports

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

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
		add("Lost without a fence: %s%s.", plain.of(update), plain.others(""))
	}
	if l := lossesIn(r, facts.RegFenced); l.counted {
		refused := checker.Count(r.Stats["fence_refused"], "stale request")
		add("Lost behind the fence: %s%s; it refused %s.", l.of(update), l.others(""), refused)
	}
	if l := lossesIn(r, regLedger); l.counted {
		add("Lost in the ledger: %s%s.", l.of(update), l.others(""))
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
