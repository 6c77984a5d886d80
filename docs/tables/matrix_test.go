package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
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
	p.line(`This page shows the measured behaviour of every lock under every fault that applies to this lock. The locks have their default parameters. `+"`"+`lockstorm run`+"`"+` with the flags
in the last column repeats a run. `+"`"+`make matrix`+"`"+` repeats all runs. In every run, clients update a register (the protected data) without a fence and, if
the lock issues fencing tokens, a register with a fence (`+"`"+`--fencing both`+"`"+`). So the tables also show inherent findings: violations that every lock with
a lease allows.

Each combination of a lock and a fault was run with %s, on %s, on a machine with %d processors. The columns have these meanings:

- **word** is the outcome of the runs in one word. [backends.md](backends.md) explains the words, and shows the expected word for each lock under each fault.
- **as expected** counts the runs with the expected outcome.
- **violations** is the number of times that two clients held the lock at once, per thousand grants, with a 95 %% confidence
  interval. If two clients never held the lock at once and the outcome is "safe", the column shows another text, for example "0 in
  4 (below 53 %%)": there was no violation in 4 exposures, so the probability of a violation in one exposure is below 53 %% (with
  95 %% confidence). An exposure is a fault that took effect or, in a run without faults, a grant.
- **lost** is the share of the acknowledged updates that were lost, in both registers together. %s
- **recovery** is the median, over all runs, of the longest recovery time in each run. The recovery time is the time from the end
  of a fault to the next grant. For a fail-over, the recovery time starts at the beginning of the fault.
- **notice** is the longest time from the next client's grant until the previous holder could know that it had lost the lock.

The suite reports "%s".
(A cell is one lock under one fault. "Inconclusive" cells have no verdict. A cell with an "unexpected pass" had no violation, although a violation was expected.)

%s.
`, seedsOf(seeds), r.Started.UTC().Format("2006-01-02"), r.CPUs, lostIs(r), r.Verdict, versionsOf(r))
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
