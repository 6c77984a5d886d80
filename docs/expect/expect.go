// Package expect states what each lock of the catalogue does under each fault, with
// default parameters on its default topology. docs/backends.md is made from it, and the
// soak test measures it: a run that contradicts it is a failure of one of the three.
package expect

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
)

// Want is what a run is expected to end with.
type Want string

// The expectations.
const (
	Safe     Want = "safe"     // no violation
	Inherent Want = "inherent" // only violations that every lock with a lease, or no fence, can have
	Defect   Want = "defect"   // a lock that breaks its own promise
	Blocks   Want = "blocks"   // it does not come back
	Any      Want = "any"      // it depends on the moment: safe, or any violation
	Mostly   Want = "mostly"   // safe or inherent, depending on the moment
)

// Doc says what a word of the table means.
func (w Want) Doc() string {
	return map[Want]string{
		Safe:     "no violation",
		Inherent: "a violation that leases have by nature: the cure is a fence",
		Defect:   "the lock breaks its promise while leases still run: the cure is another lock or topology",
		Blocks:   "nobody gets the lock any more",
		Any:      "depends on the moment that the fault strikes: safe, or a violation of any kind",
		Mostly:   "depends on the moment: safe or inherent, never a defect",
	}[w]
}

// Wants lists the words of the table.
func Wants() []Want { return []Want{Safe, Inherent, Mostly, Defect, Blocks, Any} }

// For is what a backend does under a fault; ok is false where the table does not say.
func For(backend, fault string) (w Want, ok bool) {
	w, ok = table[fault][backend]
	if !ok {
		w, ok = table[fault][""]
	}
	return w, ok
}

// Check compares the results of a run with what is expected of it. A run without an
// answer (unknown) contradicts nothing.
func (w Want) Check(r *checker.Results) error {
	if r.Verdict == checker.Unknown || w == Any {
		return nil
	}
	got := Of(r)
	if got == w || (w == Mostly && (got == Safe || got == Inherent)) {
		return nil
	}
	return fmt.Errorf("%s under %s: %s, expected %s", r.Backend, strings.Join(r.Nemesis, ", "), got, w)
}

// Of is how a run ended, in the words of the table: the worst that it shows.
func Of(r *checker.Results) Want {
	got := Safe
	for name, c := range r.Checks {
		if !c.Required || c.Verdict != checker.Fail {
			continue
		}
		for _, f := range c.Findings {
			switch {
			case !f.Gating || f.Doubtful:
			case name == checker.Liveness && got != Defect:
				got = Blocks
			case f.Class == checker.Inherent && got == Safe:
				got = Inherent
			case f.Class != checker.Inherent && name != checker.Liveness:
				got = Defect
			}
		}
	}
	return got
}
