package tables

import (
	"fmt"

	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// Defaults is docs/defaults.md: in how many runs with default parameters the known flaws of locks are found.
func Defaults(r *gate.Results) string {
	var p page
	p.line("# Do the defaults find a flaw?\n\n<!-- Written by `make defaults`. Do not edit. -->\n")
	p.line(`Yes: each of these locks has a known flaw, and the column "found" counts the runs that found this flaw, and not merely something that
every lock with a lease allows. A command that names more than the lock, the fault and the time needs it: [backends.md](backends.md#what-to-know)
says why.

    lockstorm suite examples/defaults.yaml

A run that a busy host disturbed, and that found nothing, was repeated with the same seed. The runs were made on %s, on a machine with %d processors.
`, r.Started.UTC().Format("2006-01-02"), r.CPUs)
	p.header("lock", "flaw", "fault", "seeds", "found", "`lockstorm run ...`")
	for _, j := range r.Cells {
		if !j.Control {
			p.row("`"+j.Row+"`", j.Text, j.Column, seedsIn(j), fmt.Sprintf("%d of %d", j.AsIt, j.Of), "`"+j.Command+"`")
		}
	}
	p.line("\n%s.", versionsOf(r))
	return p.String()
}

// seedsIn is from which seed to which the runs of a cell are.
func seedsIn(j gate.Judged) string {
	if len(j.Runs) == 0 {
		return ""
	}
	return fmt.Sprintf("%d to %d", j.Runs[0].Seed, j.Runs[len(j.Runs)-1].Seed)
}
