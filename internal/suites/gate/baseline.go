package gate

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// maxResults bounds the results of a suite, in bytes.
const maxResults = 256 << 20

// ReadResults reads the results of a suite: of its directory, or of a file.
func ReadResults(path string) (*SuiteResults, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, ResultsFile)
	}
	var r SuiteResults
	if err := files.ReadJSON(path, maxResults, &r); err != nil {
		return nil, fmt.Errorf("cannot read the results.json of a suite: %w", err)
	}
	if r.Schema != Schema || r.Cells == nil {
		return nil, fmt.Errorf("%s is not the results.json of a suite: it needs schema %d and a list of cells", path, Schema)
	}
	r.Program = cmp.Or(r.Program, program)
	return &r, nil
}

// Measure holds the results against a baseline. A cell that is not as expected, but only in what the
// baseline knows of it (a check with its class, a threshold), does not gate. One that shows anything else
// does, and so does one that was kept as known and is cured, for it would be known again when it comes
// back; and a figure that is significantly worse. What is as expected is as expected, whatever it was.
func (r *SuiteResults) Measure(before *SuiteResults) {
	r.Baseline = Compare(before, r)
	old := before.byName()
	for i := range r.Cells {
		j := &r.Cells[i]
		b, ok := old[j.Name]
		if !ok || j.Control || j.Status == Skipped {
			continue
		}
		r.Counts[j.Status]--
		j.against(known{b, before.Deviations}, r.Baseline)
		r.Counts[j.Status]++
	}
	r.conclude()
}

// surprising are the statuses that a baseline can make known.
var surprising = []Status{Violation, Missed, Passed}

// wasSurprising reports whether a baseline knows that a cell is not as expected.
func (j CellResult) wasSurprising() bool {
	return slices.Contains(surprising, j.Status) || j.Status == Known
}

// known is a cell as a baseline knows it.
type known struct {
	CellResult

	says bool // in what it deviates: baselines that were written before do not
}

func (j *CellResult) against(b known, a *Against) {
	wasExpected := j.Status == Expected
	for i := range j.remarks {
		r := &j.remarks[i]
		if !slices.Contains(surprising, r.status) {
			continue
		}
		if unknown := b.unknown(r.of); len(unknown) > 0 || len(r.of) == 0 {
			r.why += notIn(unknown)
		} else {
			r.status = Known
		}
	}
	if less := j.cured(b, a); wasExpected && b.wasSurprising() && less != "" {
		j.say(Passed, nil, "compared with the baseline: %s; to accept the new outcome, use --update-baseline", less)
	}
	for _, c := range a.Figures {
		if c.Cell == j.Name && c.Worse {
			j.say(Missed, nil, "compared with the baseline: %s", c)
		}
	}
	j.settle()
}

// cured says what a baseline knows of a cell and is gone for certain: a violation, or a threshold that is not of
// times, which a quiet moment meets.
func (j *CellResult) cured(b known, a *Against) string {
	if less := saysOf(a.Vanished, j.Name); less != "" {
		return less
	}
	for _, d := range b.Deviates {
		if t, err := tally.ParseThreshold(d.Threshold); err == nil && !t.Figure.Timed() && !slices.Contains(j.Broken, d.Threshold) {
			return "the threshold " + d.Threshold + " was not met before, but is met now"
		}
	}
	return ""
}

// notIn names what a baseline does not know.
func notIn(unknown []suite.Deviation) string {
	if len(unknown) == 0 {
		return "; this failure is not in the baseline"
	}
	names := lists.Map(unknown, func(d suite.Deviation) string { return d.String() })
	return "; these failures are not in the baseline: " + strings.Join(names, ", ")
}

// unknown are those of the deviations that a cell of a baseline does not have.
func (b known) unknown(of []suite.Deviation) (out []suite.Deviation) {
	return lists.Filter(of, func(d suite.Deviation) bool { return !b.knows(d) })
}

// knows reports whether a cell of a baseline deviates so. One that was written before baselines said in what
// knows its failed checks, whatever their class as long as its word is no better, and its thresholds.
func (b known) knows(d suite.Deviation) bool {
	switch {
	case !b.wasSurprising():
		return false
	case b.says:
		return slices.Contains(b.Deviates, d)
	case d.Check != "":
		return b.Failed[d.Check] > 0 && suite.WorseOf(b.Outcome, d.Outcome()) == b.Outcome
	case d.Threshold != "":
		return slices.Contains(b.Broken, d.Threshold)
	}
	return b.Status == Passed && b.Outcome == suite.Safe
}

// Knows reports whether a baseline has all in which a run deviates.
func (r *SuiteResults) Knows(o *RunResult) bool {
	j, has := r.byName()[o.Cell]
	return has && len(o.Deviates) > 0 && len(known{j, r.Deviations}.unknown(o.Deviates)) == 0
}

func (r *SuiteResults) byName() map[string]CellResult {
	out := map[string]CellResult{}
	for _, j := range r.Cells {
		out[j.Name] = j
	}
	return out
}

func saysOf(lines []string, cell string) string {
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, cell+": "); ok {
			return rest
		}
	}
	return ""
}

// Slim are the results as a baseline is kept: without what only a report shows.
func (r *SuiteResults) Slim() *SuiteResults {
	out := *r
	out.Baseline, out.Answer, out.Cells = nil, nil, slices.Clone(r.Cells)
	for i := range out.Cells {
		c := &out.Cells[i]
		c.Runs, c.Why = slices.Clone(c.Runs), nil
		for k := range c.Runs {
			c.Runs[k].Checks, c.Runs[k].Servers, c.Runs[k].Differs, c.Runs[k].Dir = nil, nil, nil, ""
			c.Runs[k].Deviates, c.Runs[k].Quoted = nil, nil
		}
	}
	return &out
}
