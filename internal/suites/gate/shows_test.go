package gate

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

// Who gave the servers is said by runs, most of them first.
func TestProviders(t *testing.T) {
	r := &SuiteResults{Cells: []CellResult{
		{Runs: []RunResult{{Provider: "container"}, {}}},
		{Runs: []RunResult{{Provider: "process"}, {Provider: "process"}}},
	}}
	if got := r.Providers(); got != "process 2, container 1" {
		t.Errorf("%q", got)
	}
}

// withoutControls are the cells of a file that it names itself.
func withoutControls(cells []plan.Cell) []plan.Cell {
	return slices.DeleteFunc(cells, func(c plan.Cell) bool { return c.Control })
}

// A cell whose clients never changed the data says nothing of it; one that touches none, or that shows a
// violation without, is as it was.
func TestDataThatNobodyChanged(t *testing.T) {
	cells := withoutControls(expand(t, "axes: {backend: redis-lua, nemesis: none}\nexpect:\n  - outcome: any\n"))
	for name, c := range map[string]struct {
		stats checker.Figures
		word  suite.Outcome
		want  Status
	}{
		"no update":                  {checker.Figures{"grants": 100, "updates_acked": 0}, suite.Safe, Inconclusive},
		"one update":                 {checker.Figures{"grants": 100, "updates_acked": 1}, suite.Safe, Expected},
		"no data":                    {checker.Figures{"grants": 100}, suite.Safe, Expected},
		"no update, and a violation": {checker.Figures{"grants": 100, "updates_acked": 0}, suite.Inherent, Expected},
	} {
		s := &Suite{Definition: Definition{Cells: cells}}
		s.Outcomes = []RunResult{{Cell: cells[0].Case.Name, Seed: cells[0].Seeds[0], Status: Expected, Outcome: c.word, Stats: c.stats}}
		if got := judged(t, s).Cells[0]; got.Status != c.want {
			t.Errorf("%s: %s: %v", name, got.Status, got.Why)
		}
	}
}

// A cell whose fault never struck says nothing; thresholds are of all seeds; what is required and was
// not shown makes the suite inconclusive.
func TestWhatACellMustShow(t *testing.T) {
	file, cells := fileOf(t, `
seeds: 2
axes: {backend: redis-lua, nemesis: [none, client-pause]}
expect:
  - of: {nemesis: client-pause}
    outcome: mostly
    thresholds: [violations.rate < 10]
coverage: {nemeses: client-pause, exposures: 3}
`)
	cells = withoutControls(cells)
	for name, c := range map[string]struct {
		effective, violations int64
		want                  Status
		exit                  int
	}{
		"as it should be":    {2, 0, Expected, 0},
		"too few exposures":  {1, 0, Inconclusive, 2},
		"no exposure":        {0, 0, Inconclusive, 2},
		"over the threshold": {2, 5, Missed, 5},
	} {
		s := &Suite{Definition: Definition{Required: file.Required(), Cells: cells}}
		for _, cell := range cells {
			for seed := uint64(1); seed <= 2; seed++ {
				o := RunResult{
					Cell: cell.Case.Name, Seed: seed, Status: Expected, Outcome: suite.Safe,
					Stats: checker.Figures{"grants": 100, "violations": 0},
				}
				if cell.Column != "none" {
					o.Stats = checker.Figures{"grants": 100, "violations": c.violations, "faults_injected": 3, "faults_effective": c.effective}
				}
				s.Outcomes = append(s.Outcomes, o)
			}
		}
		r := judged(t, s)
		if got := r.Cells[1]; got.Status != c.want || r.ExitCode != c.exit {
			t.Errorf("%s: %s, exit %d: %v", name, got.Status, r.ExitCode, got.Why)
		}
		if shown := len(r.Lacks) == 0; shown != (c.want != Inconclusive) {
			t.Errorf("%s: lacks %v", name, r.Lacks)
		}
	}
}
