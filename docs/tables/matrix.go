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
	p.line(`This page has every lock under every fault that can work on it, with default parameters and `+"`--fencing both`"+`. So the plain register has no fence, and the
tables show findings that are inherent to leases. Each pair of lock and fault was run with %s, on %s, on a machine with %d processors.
[backends.md](backends.md) says what is expected of each pair, and explains the words.
`+"`lockstorm run`"+` with the flags of a line repeats the run of this pair. `+"`make matrix`"+` repeats all runs.

- **violations** is the number of pairs of holds that overlap, per thousand grants, with a 95 %% interval. "0 in N" means no violation in N exposures, and
  is followed by the upper bound of the chance of a violation. (Exposures are faults that took effect or, without a fault, grants.)
- **lost** is the share of acknowledged updates of unfenced data that were then overwritten by a client that had not seen them.
- **recovery** is the longest time from the end of a fault to the next grant: the median of the runs.
- **notice** is the longest time from the next grant until the previous holder could know that it had lost the lock.

%s. %s.
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
