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
	p.line(`Every lock under every fault that can work on it, with default parameters and `+"`--fencing both`"+`: so the plain data have no fence, and what is
inherent shows. %d seeds for each pair; measured on %s, on a machine with %d processors. What is expected of each pair, and what the words mean: [backends.md](backends.md).
A pair is made again by `+"`lockstorm run`"+` with the flags of its line; all of them by `+"`make matrix`"+`.

- **violations**: pairs of holds that overlap, for a thousand grants, with an interval of 95 %%. "0 in N" is none in N exposures (faults that
  took effect; grants where there is no fault), and the highest chance of one that this leaves.
- **lost**: acknowledged updates of unfenced data that were overwritten unseen, of all.
- **recovery**: the longest time from the end of a fault to the next grant, median of the runs.
- **notice**: how much later than the next grant a holder could know that it had lost the lock, at most.

%s. %s.
`, seeds, r.Started.UTC().Format("2006-01-02"), r.CPUs, r.Verdict, versionsOf(r))
	for _, row := range rows {
		p.line("\n## %s\n", row)
		p.header("fault", "word", "as expected", "violations", "lost", "recovery", "notice", "`lockstorm run ...`")
		for _, j := range cells[row] {
			p.row(j.Column, wordOf(j), fmt.Sprintf("%d of %d", j.AsIt, j.Of), violations(j), figure(j, "lost-updates.percent"), figure(j, "recovery.median"), figure(j, "loss-notice"), "`"+j.Command+"`")
		}
	}
	return p.String()
}

func versionsOf(r *gate.Results) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		if v := r.Versions[name]; name != "lockstorm" {
			parts = append(parts, name+" "+strings.TrimPrefix(v, name+" "))
		}
	}
	return "Versions: " + strings.Join(parts, "; ")
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
