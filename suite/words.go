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

// WordOf returns how a run ended: the worst that it certainly shows. It is Safe, Inherent, Blocks or Defect. For an
// inconclusive run it covers only what was seen.
func WordOf(r *checker.Results) Outcome {
	got := Safe
	for name, c := range r.Checks {
		if c.Required && c.Verdict == checker.Fail {
			got = worse(got, wordOfCheck(name, c))
		}
	}
	if got == Safe && r.Verdict == checker.Fail {
		return Defect // a violation that no finding explains is no lock's nature
	}
	return got
}

// wordOfCheck is the worst that a failed check shows for certain; what does not gate is
// only reported.
func wordOfCheck(name string, c checker.Result) Outcome {
	got := Safe
	for _, f := range c.Findings {
		if f.Certain() {
			got = worse(got, wordOfFinding(name, f))
		}
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
	if a == "" {
		return b
	}
	return worse(a, b)
}

// worse is the worse of two ways to end.
func worse(a, b Outcome) Outcome {
	if Compare(b, a) > 0 {
		return b
	}
	return a
}

// Compare orders outcomes, the worst last.
func Compare(a, b Outcome) int {
	rank := map[Outcome]int{Safe: 0, Inherent: 1, Blocks: 2, Defect: 3}
	return rank[a] - rank[b]
}
