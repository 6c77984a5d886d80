package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/suite/gate"
	"github.com/lockstorm/lockstorm/suite/tally"
)

// Matrix is docs/matrix.md: what a suite of all backends and faults has measured.
func Matrix(r *gate.Results) string {
	var p page
	p.line("# What locks do under faults, measured\n\n<!-- Written by `make matrix`. Do not edit. -->\n")
	cells := map[string][]gate.Judged{}
	var rows []string
	seeds := 0
	for _, j := range r.Cells {
		if j.Control {
			continue
		}
		if len(cells[j.Row]) == 0 {
			rows = append(rows, j.Row)
		}
		cells[j.Row] = append(cells[j.Row], j)
		seeds = max(seeds, j.Of)
	}
	p.line(`This page shows what every lock did under every fault that can work on it. The locks have their default parameters. `+"`"+`lockstorm run`+"`"+` with the flags
in the last column repeats a run. `+"`"+`make matrix`+"`"+` repeats all runs. In every run, clients update a register (the protected data) without a fence and, if
the lock issues fencing tokens, a register with a fence (`+"`"+`--fencing both`+"`"+`). So the tables also show inherent findings: violations that every lock with
a lease allows.

Each pair of lock and fault was run with %s, on %s, on a machine with %d processors. The columns have these meanings:

- **word** is the outcome of the runs in one word. [backends.md](backends.md) explains the words, and says which word is expected of each lock under each fault.
- **as expected** counts the runs with the expected outcome.
- **violations** is the number of times that two clients held the lock at once, per thousand grants, with a 95 %% interval. "0 in 4 (below 53 %%)"
  means that there was no violation in 4 exposures. With 95 %% confidence, the chance of a violation in one exposure is then below 53 %%. (An
  exposure is a fault that took effect or, in a run without faults, a grant.)
- **lost** is the share of the acknowledged updates that were lost. A lost update was overwritten by a client that had never seen it. Lost updates of
  both registers count.
- **recovery** is the time from the end of a fault to the next grant. For a fail-over, the time starts when the fault begins. The longest time\n  of each run counts, and the table has the median of the runs.
- **notice** is the longest time from the next client's grant until the previous holder could know that it had lost the lock.

The suite reports "%s".
(A cell is one lock under one fault. "Inconclusive" cells have no verdict. A "passed" cell had no violation, although one was expected.)

%s.
`, seedsOf(seeds), r.Started.UTC().Format("2006-01-02"), r.CPUs, r.Verdict, versionsOf(r))
	for _, row := range rows {
		p.line("\n## %s\n", row)
		p.header("fault", "word", "as expected", "violations", "lost", "recovery", "notice", "`lockstorm run ...`")
		for _, j := range cells[row] {
			p.row(j.Column, wordOf(j), fmt.Sprintf("%d of %d", j.AsIt, j.Of), violations(j), figure(j, "lost-updates.percent"), figure(j, "recovery.median"), figure(j, "loss-notice"), "`"+j.Command+"`")
		}
	}
	return p.String()
}

// seedsOf names the seeds of a suite that has so many.
func seedsOf(n int) string {
	if n == 1 {
		return "seed 1"
	}
	return fmt.Sprintf("the seeds 1 to %d", n)
}

func versionsOf(r *gate.Results) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		if v := r.Versions[name]; name != "lockstorm" {
			parts = append(parts, name+" "+strings.TrimPrefix(v, name+" "))
		}
	}
	return "The runs used these versions: " + strings.Join(parts, "; ")
}

// wordOf is the word of a cell; one that is not as expected says so.
func wordOf(j gate.Judged) string {
	word := string(j.Word)
	if word == "" {
		word = "unknown"
	}
	if j.Status.Code() != 0 {
		word = "**" + word + "** (" + string(j.Status) + ")"
	}
	return word
}

func violations(j gate.Judged) string {
	if j.NoneIn > 0 && j.Word == suite.Safe && j.Figures["violations"].Value == 0 {
		return fmt.Sprintf("0 in %d (below %.2g %%)", j.Exposures, 100*j.NoneIn)
	}
	return figure(j, "violations.rate")
}

func figure(j gate.Judged, name string) string {
	v, ok := j.Figures[name]
	if !ok {
		return ""
	}
	f, _ := tally.Find(name)
	return f.With(v)
}
