package matrix

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/reports"
)

// Markdown writes the matrix and what is not as expected; with all, every cell with its figures.
func Markdown(w io.Writer, t *Table, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**%s**\n", text(t.Title), text(t.Verdict))
	for _, a := range t.Alerts {
		fmt.Fprintf(&b, "\n> %s\n", text(a))
	}
	if odd := t.surprises(); len(odd) > 0 {
		b.WriteString("\n## Unexpected results\n\n")
		for _, c := range odd {
			fmt.Fprintf(&b, "- **%s** %s: %s\n", c.Status, text(c.Name), text(strings.Join(c.Why, "; ")))
			fmt.Fprintf(&b, "  `%s %s`\n", text(t.Program), Verbed(c.Line()))
		}
	}
	if len(t.Changes) > 0 {
		b.WriteString("\n## Changes\n\n")
		for _, c := range t.Changes {
			fmt.Fprintf(&b, "- %s\n", text(c))
		}
	}
	t.answerText(&b)
	t.matrixText(&b)
	if all {
		t.cellsText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// answerText is the table by lock, and a sentence for each.
func (t *Table) answerText(b *strings.Builder) {
	if t.Answer == nil {
		return
	}
	fmt.Fprintf(b, "\n## Which lock?\n\n%s\n\n", text(t.Answer.Ranked))
	line(b, append([]string{"group", "lock"}, t.Answer.Columns...)...)
	fmt.Fprintf(b, "|%s\n", strings.Repeat(" --- |", len(t.Answer.Columns)+2))
	for _, l := range t.Answer.Locks {
		cells := []string{strconv.Itoa(l.Group), text(l.Name)}
		for _, v := range l.Values {
			if v.Interval != "" {
				v.Text += " (" + v.Interval + ")"
			}
			cells = append(cells, text(v.Text))
		}
		line(b, cells...)
	}
	b.WriteString("\n")
	for _, l := range t.Answer.Locks {
		fmt.Fprintf(b, "- %s\n", text(l.Sentence))
	}
}

func (t *Table) matrixText(b *strings.Builder) {
	rows, columns := t.axes()
	b.WriteString("\n## Backends and faults\n\n")
	line(b, append([]string{"backend"}, columns...)...)
	fmt.Fprintf(b, "|%s\n", strings.Repeat(" --- |", len(columns)+1))
	for _, r := range rows {
		cells := []string{r}
		for _, c := range columns {
			var words []string
			for _, one := range t.at(r, c) {
				word := one.Word
				if one.Kind != "good" && one.Kind != "off" {
					word = "**" + word + "** (" + one.Status + ")"
				}
				if one.Rate != "" {
					word += ", " + one.Rate
				}
				words = append(words, word)
			}
			cells = append(cells, strings.Join(words, "; "))
		}
		line(b, cells...)
	}
}

func (t *Table) cellsText(b *strings.Builder) {
	b.WriteString("\n## Cells\n\n")
	head := []string{"cell: `" + text(t.Program) + " run ...`", "result", "runs as expected"}
	for _, f := range t.Figures {
		head = append(head, f.Name)
	}
	line(b, head...)
	fmt.Fprintf(b, "|%s\n", strings.Repeat(" --- |", len(head)))
	for _, c := range t.Cells {
		cells := []string{"`" + c.Command + "`", c.Word, fmt.Sprintf("%d of %d", c.AsIt, c.Of)}
		for _, f := range t.Figures {
			v := c.Values[f.Name]
			if v.Interval != "" {
				v.Text += " (" + v.Interval + ")"
			}
			cells = append(cells, v.Text)
		}
		line(b, cells...)
	}
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
func CSV(w io.Writer, t *Table) error {
	out := csv.NewWriter(w)
	head := []string{"cell", "backend", "nemesis", "status", "word", "expected", "as_expected", "runs", "command", "why"}
	for _, f := range t.Figures {
		name := strings.NewReplacer(".", "_", "-", "_").Replace(f.Name) + unit(f.Unit)
		head = append(head, name, name+"_low", name+"_high")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, c := range t.Cells {
		row := []string{
			c.Name, c.Row, c.Column, c.Status, c.Word, c.Expected, strconv.Itoa(c.AsIt), strconv.Itoa(c.Of), c.Command,
			visible(strings.Join(c.Why, "; ")),
		}
		for _, f := range t.Figures {
			v, ok := c.Values[f.Name]
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

func unit(u string) string {
	return map[string]string{"ns": "_ns", "%": "_percent", "per 1000": "_per_1000", "per s": "_per_s"}[u]
}

// JUnit writes a suite for each backend, and a case for each run; what was not run is skipped, with the
// reason.
func JUnit(w io.Writer, t *Table) error {
	all := junit.Testsuites{Name: t.Title}
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
			took[name] += r.Took
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

func (t *Table) testcases(suite string, c Cell) (out []junit.Testcase) {
	why, command := visible(strings.Join(c.Why, "; ")), t.Program+" "
	for _, r := range c.Runs {
		tc := junit.Testcase{Classname: suite, Name: visible(c.Name + " " + r.Label), Time: fmt.Sprintf("%.3f", r.Took)}
		result := &junit.Result{Message: visible(r.Text), Type: r.Status, Data: visible(command + Verbed(cmp.Or(r.Line, c.Command)) +
			"\nreport: " + r.Link)}
		switch r.Kind {
		case "bad", "odd":
			tc.Failure = result
		case "open":
			tc.Error = result
		}
		out = append(out, tc)
	}
	cell := junit.Testcase{Classname: suite, Name: visible(c.Name), Time: "0.000"}
	result := &junit.Result{Message: why, Type: c.Status, Data: visible(command + Verbed(c.Line()))}
	switch {
	case c.Kind == "off" && len(c.Runs) == 0:
		cell.Skipped = &junit.Result{Message: why}
	case len(c.Runs) == 0:
		cell.Error = result
	case (c.Kind == "bad" || c.Kind == "odd" || c.Kind == "open") && !reported(out): // over its seeds alone: a threshold, say
		cell.Failure = result
	default:
		return out
	}
	return append(out, cell)
}

func reported(cases []junit.Testcase) bool {
	for _, tc := range cases {
		if tc.Failure != nil || tc.Error != nil {
			return true
		}
	}
	return false
}

// visible is text of elsewhere that neither a terminal obeys nor XML refuses.
func visible(s string) string { return reports.Visible(s, "\n\t") }
