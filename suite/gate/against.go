package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/suite/tally"
)

// Against is what differs between two suites, cell by cell.
type Against struct {
	Before   string   `json:"before"`
	New      []string `json:"new,omitempty"`      // cells with a violation that was not there before
	Vanished []string `json:"vanished,omitempty"` // cells whose violation is gone
	Only     []string `json:"only,omitempty"`     // cells that one of the two has not
	Figures  []Change `json:"figures,omitempty"`  // that differ beyond chance
	Compared int      `json:"compared"`           // figures
}

// Change is a figure of a cell that differs beyond chance.
type Change struct {
	Cell   string      `json:"cell"`
	Figure string      `json:"figure"`
	Before tally.Value `json:"before"`
	After  tally.Value `json:"after"`
	P      float64     `json:"p"` // corrected for the number of comparisons
	Worse  bool        `json:"worse"`
}

// String is the change in a line.
func (c Change) String() string {
	f, _ := tally.Find(c.Figure)
	verb := "better"
	if c.Worse {
		verb = "worse"
	}
	return fmt.Sprintf("%s: %s is %s: %s, was %s (p = %.2g)", c.Cell, c.Figure, verb, f.With(c.After), f.With(c.Before), c.P)
}

// worth is how much of a figure must have changed to be told of, beside being no chance.
const worth = 0.2

// Compare says what differs from an earlier suite to a later one. A figure differs when chance would do
// so in less than 5 of 100 comparisons of suites as large as these, and by a fifth at least.
func Compare(before, after *Results) *Against {
	a := &Against{Before: before.Name}
	old := map[string]Judged{}
	for _, j := range before.Cells {
		old[j.Name] = j
	}
	var all []Change
	for _, j := range after.Cells {
		b, ok := old[j.Name]
		delete(old, j.Name)
		if j.Control {
			continue
		}
		if !ok {
			a.Only = append(a.Only, j.Name+" (new)")
			continue
		}
		a.words(b, j)
		all = append(all, changes(b, j)...)
	}
	for _, name := range sortedKeys(old) {
		if !old[name].Control {
			a.Only = append(a.Only, name+" (gone)")
		}
	}
	a.Compared = len(all)
	a.Figures = significant(all)
	return a
}

// words compares what the two show for certain: how bad it is, and which checks fail.
func (a *Against) words(b, j Judged) {
	if b.Word == "" || j.Word == "" {
		return
	}
	more, less := always(j, b), always(b, j)
	was, is := b.Word, j.Word
	switch {
	case was != is && suite.Worse(was, is) == is:
		a.New = append(a.New, fmt.Sprintf("%s: %s, was %s", j.Name, is, was))
	case len(more) > 0:
		a.New = append(a.New, fmt.Sprintf("%s: %s fails, and did not", j.Name, strings.Join(more, ", ")))
	case was != is:
		a.Vanished = append(a.Vanished, fmt.Sprintf("%s: %s, was %s", j.Name, is, was))
	case len(less) > 0:
		a.Vanished = append(a.Vanished, fmt.Sprintf("%s: %s failed, and does not", j.Name, strings.Join(less, ", ")))
	}
}

// always are the checks that fail in every run of one cell, of two at least, and in none of another one: a
// check that fails now and then depends on the moment.
func always(j, other Judged) (out []string) {
	runs := len(j.Samples())
	for _, name := range sortedKeys(j.Failed) {
		if runs >= 2 && j.Failed[name] == runs && other.Failed[name] == 0 {
			out = append(out, name)
		}
	}
	return out
}

// told are the figures that are compared: counts that only say how long a suite was are not.
var told = []string{
	"throughput", "violations.rate", "violating.runs", "overlap", "lost-updates.percent", "loss-notice", "recovery.median", "acquire.p50", "acquire.p99", "renew.p99",
}

func changes(b, j Judged) (out []Change) {
	for _, name := range told {
		f, _ := tally.Find(name)
		p, ok := f.Chance(b.Samples(), j.Samples())
		if !ok {
			continue
		}
		was, is := b.Figures[name], j.Figures[name]
		out = append(out, Change{Cell: j.Name, Figure: name, Before: was, After: is, P: p, Worse: (is.Value > was.Value) != f.More})
	}
	return out
}

// significant are those that remain after the correction of Holm, the least likely first.
func significant(all []Change) (out []Change) {
	slices.SortFunc(all, func(a, b Change) int {
		switch {
		case a.P < b.P:
			return -1
		case a.P > b.P:
			return 1
		}
		return strings.Compare(a.Cell+a.Figure, b.Cell+b.Figure)
	})
	least := 0.0
	for i, c := range all {
		least = max(least, min(1, c.P*float64(len(all)-i)))
		if least > 0.05 {
			break
		}
		c.P = least
		if low := min(c.Before.Value, c.After.Value); max(c.Before.Value, c.After.Value)-low >= worth*max(c.Before.Value, c.After.Value) {
			out = append(out, c)
		}
	}
	return out
}

// ReadResults reads the results of a suite: of its directory, or of a file.
func ReadResults(path string) (*Results, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, ResultsFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the results of a suite: %w", err)
	}
	var r Results
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema != Schema || r.Cells == nil {
		return nil, fmt.Errorf("%s does not hold the results of a suite (schema %d)", path, Schema)
	}
	return &r, nil
}

// Measure holds the results against a baseline. A cell that is not as expected, but as it was then, does
// not gate. One that shows more than it did then gates, and so does one that was kept as known and is
// cured, for it would be known again when it comes back; and a figure that is worse beyond chance. What
// is as expected is as expected, whatever it was.
func (r *Results) Measure(before *Results) {
	r.Baseline = Compare(before, r)
	old := map[string]Judged{}
	for _, j := range before.Cells {
		old[j.Name] = j
	}
	for i := range r.Cells {
		j := &r.Cells[i]
		b, ok := old[j.Name]
		if !ok || j.Control {
			continue
		}
		r.Counts[j.Status]--
		j.against(b, r.Baseline)
		r.Counts[j.Status]++
	}
	r.conclude()
}

// surprising are the statuses that a baseline can make known.
var surprising = []Status{Worse, Missed, Passed}

func (j *Judged) against(b Judged, a *Against) {
	more, less := saysOf(a.New, j.Name), saysOf(a.Vanished, j.Name)
	wasKnown := slices.Contains(surprising, b.Status) || b.Status == Known
	switch {
	case slices.Contains(surprising, j.Status) && more != "":
		j.Why = append(j.Why, "beside the baseline: "+more)
	case slices.Contains(surprising, j.Status) && wasKnown:
		j.Status = Known
	case j.Status == Expected && wasKnown && less != "":
		j.Status = Passed
		j.Why = append(j.Why, "beside the baseline: "+less+"; --update-baseline keeps it so")
	}
	for _, c := range a.Figures {
		if c.Cell == j.Name && c.Worse {
			j.Status = worst(j.Status, Missed)
			j.Why = append(j.Why, "beside the baseline: "+c.String())
		}
	}
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
func (r *Results) Slim() *Results {
	out := *r
	out.Baseline, out.Cells = nil, slices.Clone(r.Cells)
	for i := range out.Cells {
		c := &out.Cells[i]
		c.Runs, c.Why = slices.Clone(c.Runs), nil
		for k := range c.Runs {
			c.Runs[k].Checks, c.Runs[k].Servers, c.Runs[k].Differs, c.Runs[k].Dir = nil, nil, nil, ""
		}
	}
	return &out
}
