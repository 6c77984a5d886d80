package matrix

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/reports"
)

// Markdown writes the matrix and what is not as expected.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**%s**\n", text(t.Name), text(t.Verdict))
	for _, a := range t.Alerts() {
		fmt.Fprintf(&b, "\n> %s\n", text(a))
	}
	t.matrixText(&b)
	if odd := t.Surprises(); len(odd) > 0 {
		b.WriteString("\n## Unexpected results\n\n")
		for _, c := range odd {
			fmt.Fprintf(&b, "- **%s** %s: %s\n", c.Status, text(c.Name), text(strings.Join(c.Why(), "; ")))
			fmt.Fprintf(&b, "  `%s %s`\n", text(t.Program), Verbed(c.Line()))
		}
	}
	if t.Baseline != nil {
		b.WriteString("\n## Changes\n\n")
		for _, c := range t.Baseline.Lines() {
			fmt.Fprintf(&b, "- %s\n", text(c))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// matrixText is the table of locks and faults, and what the answer says of each lock.
func (t *Table) matrixText(b *strings.Builder) {
	_, columns := t.axes()
	title := "Backends and faults"
	if t.Answer != nil {
		title = "Which lock?"
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	head(b, slices.Concat([]string{"lock"}, columns, t.Measures()))
	for _, group := range t.Blocks() {
		if group.Over != "" {
			line(b, append([]string{"**" + group.Over + "**"}, make([]string, len(columns)+len(t.Measures()))...)...)
		}
		for _, r := range group.Rows {
			cells := []string{text(r)}
			for _, c := range columns {
				cells = append(cells, t.placeText(r, c))
			}
			for _, v := range t.Measured(r) {
				cells = append(cells, text(v.Text))
			}
			line(b, cells...)
		}
	}
	if t.Answer == nil {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n", text(t.Answer.RankedBy))
	for _, l := range t.Answer.Locks {
		fmt.Fprintf(b, "- %s\n", text(l.Sentence))
	}
}

// placeText are the cells of a place.
func (t *Table) placeText(row, column string) string {
	var words []string
	for _, one := range t.At(row, column) {
		word := one.Shown()
		if kind := one.Kind(); kind != "good" && kind != "off" {
			word = "**" + word + "** (" + string(one.Status) + ")"
		}
		if share := t.Share(one); share != "" {
			word += ", " + share
		}
		words = append(words, word)
	}
	return strings.Join(words, "; ")
}

// head begins a table.
func head(b *strings.Builder, columns []string) {
	line(b, columns...)
	fmt.Fprintf(b, "|%s\n", strings.Repeat(" --- |", len(columns)))
}

func line(b *strings.Builder, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", `\|`), "\n", " ")
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// text keeps words of elsewhere from being Markdown or HTML.
func text(s string) string {
	return strings.NewReplacer("<", "&lt;", "\n", " ", "`", "'").Replace(visible(s))
}

// CSV writes a line for each cell: figures as numbers, in the units of their columns.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"cell", "backend", "nemesis", "status", "word", "expected", "as_expected", "runs", "command", "why"}
	for _, f := range t.Figures() {
		name := strings.NewReplacer(".", "_", "-", "_").Replace(f.Name) + units[f.Unit]
		head = append(head, name, name+"_low", name+"_high")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, c := range t.Cells {
		row := []string{
			c.Name, c.Row, c.Column, string(c.Status), c.Shown(), c.Expected(), strconv.Itoa(c.AsIt), strconv.Itoa(c.Of), c.Command,
			visible(strings.Join(c.Why(), "; ")),
		}
		for _, f := range t.Figures() {
			v, ok := c.Figures[f.Name]
			for _, n := range []float64{v.Value, v.Low, v.High} {
				cell := ""
				if ok {
					cell = strconv.FormatFloat(n, 'f', -1, 64)
				}
				row = append(row, cell)
			}
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// units are how the names of columns end.
var units = map[tally.Unit]string{
	tally.Time: "_ns", tally.Percent: "_percent", tally.PerMille: "_per_1000", tally.PerSec: "_per_s",
}

// JUnit writes a suite for each backend, and a case for each run; what was not run is skipped, with the
// reason.
func (t *Table) JUnit(w io.Writer) error {
	all := junit.Testsuites{Name: t.Name}
	var rows []string
	by, took := map[string]*junit.Testsuite{}, map[string]float64{}
	for _, c := range t.Cells {
		name := c.Row
		if c.Control {
			name = "controls"
		}
		if by[name] == nil {
			by[name] = &junit.Testsuite{Name: visible(t.Program + "." + name)}
			rows = append(rows, name)
		}
		s := by[name]
		for _, tc := range t.testcases(s.Name, c) {
			s.AddTestcase(tc)
		}
		for _, r := range c.Runs {
			took[name] += r.Took.Seconds()
		}
		s.Time = fmt.Sprintf("%.3f", took[name])
	}
	for _, name := range rows {
		all.AddSuite(*by[name])
	}
	if err := all.WriteXML(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (t *Table) testcases(suite string, c cell) (out []junit.Testcase) {
	why, command := visible(strings.Join(c.Why(), "; ")), t.Program+" "
	for _, r := range c.Runs {
		tc := junit.Testcase{Classname: suite, Name: visible(c.Name + " " + r.Label()), Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
		result := &junit.Result{
			Message: visible(r.Text()), Type: string(r.Status),
			Data: visible(command + Verbed(cmp.Or(r.Command, c.Command)) + "\nreport: " + r.Link),
		}
		switch r.Kind() {
		case "bad", "odd":
			tc.Failure = result
		case "open":
			tc.Error = result
		}
		out = append(out, tc)
	}
	cell := junit.Testcase{Classname: suite, Name: visible(c.Name), Time: "0.000"}
	result := &junit.Result{Message: why, Type: string(c.Status), Data: visible(command + Verbed(c.Line()))}
	switch kind := c.Kind(); {
	case kind == "off" && len(c.Runs) == 0:
		cell.Skipped = &junit.Result{Message: why}
	case len(c.Runs) == 0:
		cell.Error = result
	case (kind == "bad" || kind == "odd" || kind == "open") && !reported(out): // over its seeds alone: a threshold, say
		cell.Failure = result
	default:
		return out
	}
	return append(out, cell)
}

func reported(cases []junit.Testcase) bool {
	return slices.ContainsFunc(cases, func(tc junit.Testcase) bool { return tc.Failure != nil || tc.Error != nil })
}

// visible is text of elsewhere that neither a terminal obeys nor XML refuses.
func visible(s string) string { return reports.Visible(s, "\n\t") }
