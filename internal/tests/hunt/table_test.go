package hunt

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table counts what came of many cases.
type Table struct {
	Histories int
	Events    int
	Rows      map[string]*Row  // by service, or by what was planted
	Kinds     map[string]*Kind // of disagreements
}

// Row counts the histories of one sort.
type Row struct {
	Histories, Struck, Must int
	Sorts                   map[string]int
}

// Kind is one kind of disagreement, and the first case that shows it.
type Kind struct {
	Count int
	First Case
}

// NewTable is an empty table.
func NewTable() *Table { return &Table{Rows: map[string]*Row{}, Kinds: map[string]*Kind{}} }

// Add counts an outcome.
func (t *Table) Add(o *Outcome) {
	name := "correct: " + o.Trace.Config.Service
	if o.Case.Plant != nil {
		name = "planted: " + o.Case.Plant.Name
	}
	row := t.Rows[name]
	if row == nil {
		row = &Row{Sorts: map[string]int{}}
		t.Rows[name] = row
	}
	t.Histories++
	t.Events += o.Events
	row.Histories++
	row.Must += o.Must
	if o.Struck {
		row.Struck++
	}
	for _, d := range o.Disagreements {
		row.Sorts[d.Sort]++
		k := t.Kinds[d.Kind()]
		if k == nil {
			k = &Kind{First: o.Case}
			t.Kinds[d.Kind()] = k
		}
		if k.Count++; o.Case.Seed < k.First.Seed {
			k.First = o.Case
		}
	}
}

// news says which kinds of disagreements an outcome is the first to show.
func (t *Table) news(o *Outcome, w io.Writer) {
	told := map[string]bool{}
	for _, d := range o.Disagreements {
		if kind := d.Kind(); t.Kinds[kind].First.Seed == o.Case.Seed && !told[kind] {
			told[kind] = true
			fmt.Fprintf(w, "seed %d: %s\n", o.Case.Seed, kind)
		}
	}
}

// Merge adds the counts of another table.
func (t *Table) Merge(o *Table) {
	t.Histories += o.Histories
	t.Events += o.Events
	for name, r := range o.Rows {
		if t.Rows[name] == nil {
			t.Rows[name] = &Row{Sorts: map[string]int{}}
		}
		row := t.Rows[name]
		row.Histories, row.Struck, row.Must = row.Histories+r.Histories, row.Struck+r.Struck, row.Must+r.Must
		for s, n := range r.Sorts {
			row.Sorts[s] += n
		}
	}
	for name, k := range o.Kinds {
		mine := t.Kinds[name]
		if mine == nil {
			mine = &Kind{First: k.First}
			t.Kinds[name] = mine
		}
		if mine.Count += k.Count; k.First.Seed < mine.First.Seed {
			mine.First = k.First
		}
	}
}

// Names are the kinds of disagreements, the most frequent first.
func (t *Table) Names() []string {
	var out []string
	for name := range t.Kinds {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Kinds[b].Count, t.Kinds[a].Count), strings.Compare(a, b))
	})
	return out
}

// Print writes the table for people. known marks kinds that are listed.
func (t *Table) Print(w io.Writer, known func(kind string) bool) {
	sorts := []string{False, Miss, Class, Cause, Unsound, Unnoticed, Doubt, Figure, Answer}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "histories\terror occurred\tto be found\t%s\t\n", strings.Join(sorts, "\t"))
	var names []string
	for name := range t.Rows {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		r := t.Rows[name]
		fmt.Fprintf(tw, "%d\t%d\t%d\t", r.Histories, r.Struck, r.Must)
		for _, s := range sorts {
			fmt.Fprintf(tw, "%d\t", r.Sorts[s])
		}
		fmt.Fprintf(tw, "  %s\n", name)
	}
	tw.Flush() //nolint:errcheck // like the lines above
	fmt.Fprintf(w, "\n%d histories, %d events, %d kinds of disagreements\n", t.Histories, t.Events, len(t.Kinds))
	for _, name := range t.Names() {
		k, note := t.Kinds[name], ""
		if known != nil && known(name) {
			note = " (known)"
		}
		fmt.Fprintf(w, "%8d  %s%s (first seed: %d)\n", k.Count, name, note, k.First.Seed)
	}
}
