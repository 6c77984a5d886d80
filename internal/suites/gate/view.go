package gate

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/suite"
)

// Parallel is the work of all runs over the time that they took together.
func (r *SuiteResults) Parallel() float64 { return r.Work.Seconds() / max(r.Wall.Seconds(), 1e-9) }

// Shown is what a cell shows in a word: safe, inherent, defect, blocks, skipped, unknown.
func (j CellResult) Shown() string {
	switch {
	case j.Status == Skipped:
		return "skipped"
	case j.Outcome == "" || len(j.Samples()) == 0:
		return "unknown"
	}
	return string(j.Outcome)
}

// Wanted is an expectation in short.
func Wanted(e suite.Expectation) string {
	var parts []string
	if e.Outcome != "" {
		parts = append(parts, string(e.Outcome))
	}
	if len(e.Exit) > 0 {
		codes := lists.Map(e.Exit, func(c int) string { return fmt.Sprint(c) })
		parts = append(parts, "exit "+strings.Join(codes, " or "))
	}
	for _, name := range sortedKeys(e.Verdicts) {
		parts = append(parts, name+" "+string(e.Verdicts[name]))
	}
	for _, name := range sortedKeys(e.Figures) {
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+e.Figures[name].String())
	}
	return strings.Join(parts, ", ")
}

// Lines are the differences, one a line.
func (a *Against) Lines() []string {
	out := lists.Map(a.New, func(l string) string { return "new violation: " + l })
	for _, l := range a.Vanished {
		out = append(out, "violation no longer found: "+l)
	}
	for _, c := range a.Figures {
		out = append(out, c.String())
	}
	for _, l := range a.Only {
		out = append(out, "not compared: "+l)
	}
	return append(out, fmt.Sprintf("figures compared with %s: %d; significant differences (corrected p < 0.05, "+
		"and a difference of at least 20 %%): %d", a.Before, a.Compared, len(a.Figures)))
}
