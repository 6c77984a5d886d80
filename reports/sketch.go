package reports

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Marks of a sketch. They are letters of every terminal and every log.
const (
	holds    = '='
	overdue  = '-' // ... after its lease
	faulty   = '#'
	together = '!'
)

// sketchWidth is how wide a sketch is where the terminal does not say.
const sketchWidth = 78

// maxLabel is how much of a name stands beside a row.
const maxLabel = 16

// sketch draws an incident of two grants in five lines: who held the lock and from when on without a lease, the fault, and when
// both were inside.
//
//	             0.284 s   = holds the lock   - lease expired         1.891 s
//	c2           ==================================---------------------------
//	c1                                             ==
//	client-pause    #########################################################
//	both hold it                                   !! 82.1 ms
func sketch(rec *history.Record, f *checker.Finding, width int) []string {
	if width <= 0 {
		width = sketchWidth
	}
	d, ok := drawn(rec, f)
	if !ok {
		return nil
	}
	label := len("both hold it")
	for _, row := range d.rows {
		label = max(label, utf8.RuneCountInString(row.name))
	}
	d.columns = width - label - 2
	const least = 20
	if d.columns < least {
		return nil
	}
	line := func(name, marks string) string {
		return strings.TrimRight(fmt.Sprintf("%-*s  %s", label, name, marks), " ")
	}
	from, to := moment(d.window.From), moment(d.window.To)
	gap := d.columns - len(from) - len(to)
	middle := ""
	if legend := "   = holds the lock   - lease expired"; len(legend) < gap {
		middle = legend
	}
	out := []string{line("", from+middle+strings.Repeat(" ", max(gap-len(middle), 1))+to)}
	for _, row := range d.rows {
		out = append(out, line(row.name, d.marks(row.spans)))
	}
	return append(out, line("both hold it", beside(d.marks([]span64{{d.both, together}}), span(d.both.To-d.both.From))))
}

// beside puts a text where there is room beside the marks of a row: after them, else before.
func beside(marks, text string) string {
	begin, end := strings.IndexRune(marks, together), len(strings.TrimRight(marks, " "))
	switch {
	case end+1+len(text) <= len(marks):
		return marks[:end] + " " + text
	case begin > len(text):
		return marks[:begin-len(text)-1] + text + " " + marks[begin:]
	}
	return marks
}

// span64 is a time that is drawn with a mark.
type span64 struct {
	history.Interval
	mark rune
}

type sketchRow struct {
	name  string
	spans []span64
}

// drawing is what a sketch shows.
type drawing struct {
	window, both history.Interval
	rows         []sketchRow
	columns      int
}

// drawn are the rows of an incident; not ok: it is not about two grants that met.
func drawn(rec *history.Record, f *checker.Finding) (d *drawing, ok bool) {
	if len(f.Grants) != 2 || f.Rule == "foreign-release" {
		return nil, false
	}
	in := facts.Of(rec)
	d = &drawing{}
	var of [2]history.Interval
	for i, id := range f.Grants {
		g := rec.ByID[id]
		if g == nil || !g.Granted() {
			return nil, false
		}
		hold := in.Hold(g)
		if hold.Empty() {
			return nil, false
		}
		of[i] = hold
		row := sketchRow{name: cutLabel(g.Client), spans: []span64{{hold, holds}}}
		if over := g.DeadlineAt(hold.To); over.Set && rec.Leased() && over.V < hold.To {
			row.spans = append(row.spans, span64{history.Interval{From: max(over.V, hold.From), To: hold.To}, overdue})
		}
		d.rows = append(d.rows, row)
		if i == 0 {
			d.window = hold
		}
		d.window = history.Interval{From: min(d.window.From, hold.From), To: max(d.window.To, hold.To)}
	}
	if d.both = of[0].Overlap(of[1]); d.both.Empty() {
		return nil, false
	}
	if fault := rec.Injected(f.Fault); fault != nil {
		d.rows = append(d.rows, sketchRow{cutLabel(fault.Fault.Fault), []span64{{fault.Span(), faulty}}})
	}
	return d, true
}

func cutLabel(name string) string {
	runes := []rune(visible(name))
	if len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "~"
	}
	return string(runes)
}

// marks returns the columns of a row. Anything shorter than a column is one.
func (d *drawing) marks(spans []span64) string {
	out := []rune(strings.Repeat(" ", d.columns))
	length := float64(max(d.window.To-d.window.From, 1))
	column := func(t int64) int {
		return min(max(int(float64(t-d.window.From)/length*float64(d.columns)), 0), d.columns-1)
	}
	for _, s := range spans {
		part := s.Overlap(d.window)
		if part.Empty() {
			continue
		}
		for i := column(part.From); i <= max(column(part.To-1), column(part.From)); i++ {
			out[i] = s.mark
		}
	}
	return string(out)
}
