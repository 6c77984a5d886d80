package suite

import "github.com/lockstorm/lockstorm/checker"

// Outcome is how a run ends, in one word, as in docs/backends.md.
type Outcome string

// Outcomes.
const (
	Safe     Outcome = "safe"     // no violation
	Inherent Outcome = "inherent" // only violations that every lock with a lease, or no fence, can have
	Mostly   Outcome = "mostly"   // safe or inherent, depending on the moment
	Defect   Outcome = "defect"   // a lock that breaks its own promise
	Blocks   Outcome = "blocks"   // the lock does not come back
	Violated Outcome = "violated" // any violation, but at least one
	Any      Outcome = "any"      // it depends on the moment: safe, or any violation
)

// Words returns the words, in the order of the docs.
func Words() []Outcome { return []Outcome{Safe, Inherent, Mostly, Defect, Blocks, Violated, Any} }

// Doc returns the meaning of a word; empty for unknown words.
func (w Outcome) Doc() string {
	return map[Outcome]string{
		Safe:     "no violation",
		Inherent: "what every lock with an expiring lease allows: a fence cures it",
		Defect:   "the lock broke its promise while the lease ran: mend it, or use another lock or topology",
		Blocks:   "nobody gets the lock again after the fault",
		Any:      "depends on the moment of the fault: safe, or any violation",
		Violated: "a violation of any kind",
		Mostly:   "depends on the moment of the fault: safe or inherent, never a defect",
	}[w]
}

// allows reports whether a run that ended so is as the word says.
func (w Outcome) allows(got Outcome) bool {
	return w == Any || w == got || (w == Mostly && (got == Safe || got == Inherent)) || (w == Violated && got != Safe)
}

// WordOf returns how a run ended: the worst that failed checks certainly show. It is Safe, Inherent, Blocks or Defect. For an
// inconclusive run it covers only what was seen.
func WordOf(r *checker.Results) Outcome {
	got := Safe
	for name, c := range r.Checks {
		for _, f := range c.Findings {
			if c.Required && c.Verdict == checker.Fail && f.Certain() {
				got = WorseOf(got, wordOfFinding(name, f))
			}
		}
	}
	if got == Safe && r.Verdict == checker.Fail {
		return Defect // a violation that no finding explains is no lock's nature
	}
	return got
}

// wordOfFinding is what a finding of a check shows.
func wordOfFinding(check string, f checker.Finding) Outcome {
	switch {
	case check == checker.Liveness:
		return Blocks
	case f.Class == checker.Inherent:
		return Inherent
	}
	return Defect
}

// WorseOf returns the worse of two outcomes; an empty one counts for nothing.
func WorseOf(a, b Outcome) Outcome {
	if a == "" || Compare(b, a) > 0 {
		return b
	}
	return a
}

// Compare orders outcomes, the worst last.
func Compare(a, b Outcome) int {
	rank := map[Outcome]int{Safe: 0, Inherent: 1, Blocks: 2, Defect: 3}
	return rank[a] - rank[b]
}

// The host has disturbed a run from a stall of a fiftieth of the ttl on, or where it was busy for a quarter of the run.
const (
	hostTook = 50
	hostBusy = 4
)

// Hindered reports whether the host held a run up for long enough to matter.
func Hindered(r *checker.Results) bool {
	return r.Stats["unplanned_stall_max_ns"] > r.TTL/hostTook || Busy(r.Stats, r.Duration)
}

// Busy reports whether tasks waited for the host for so much of a run of the length, in ns, that missing observations
// may be the host's doing, and the run's times say nothing of the lock.
func Busy(stats checker.Figures, length int64) bool { return stats["host_busy_ns"] > length/hostBusy }
