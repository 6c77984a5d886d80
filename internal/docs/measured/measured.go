// Package measured reads what the pages of docs/ show of runs: docs/measured has a data file for each page, and the template that
// renders it.
package measured

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/lockstorm/lockstorm/internal/lists"
)

// Row is a line of a table, by column. A figure that was not measured is empty.
type Row map[string]string

// Rows are lines of a table.
type Rows []Row

// Table is a data file: lines "# key: value" about its origin, the names of the columns, and the rows.
type Table struct {
	About   Row
	Columns []string
	Rows    Rows
}

// Read reads a data file.
func Read(path string) (*Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &Table{About: Row{}}
	text := string(b)
	for strings.HasPrefix(text, "# ") {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		key, value, _ := strings.Cut(line[len("# "):], ": ")
		t.About[key] = value
	}
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("%s: %w", path, cmp.Or(err, fmt.Errorf("the file has no columns")))
	}
	t.Columns = lines[0]
	for _, cells := range lines[1:] {
		r := Row{}
		for i, c := range cells {
			r[t.Columns[i]] = c
		}
		t.Rows = append(t.Rows, r)
	}
	return t, nil
}

// String returns the text of the data file.
func (t *Table) String() string {
	var b bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(t.About)) {
		fmt.Fprintf(&b, "# %s: %s\n", key, t.About[key])
	}
	w := csv.NewWriter(&b)
	lines := [][]string{t.Columns}
	for _, r := range t.Rows {
		cells := lists.Map(t.Columns, func(c string) string { return r[c] })
		lines = append(lines, cells)
	}
	if err := w.WriteAll(lines); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.String()
}

// Update replaces the rows by the cases. The figures of a case are those of got, by the name of the case, else those
// that the table has of this case and its command. It leaves out the cases that have neither and returns their names.
func (t *Table) Update(cases Rows, got map[string]Row) (missing []string) {
	had := map[string]Row{}
	for _, r := range t.Rows {
		had[r["case"]+"\n"+r["command"]] = r
	}
	t.Rows = nil
	for _, c := range cases {
		r, have := got[c["case"]]
		if !have {
			r, have = had[c["case"]+"\n"+c["command"]]
		}
		if !have {
			missing = append(missing, c["case"])
			continue
		}
		r = maps.Clone(r)
		maps.Copy(r, c)
		t.Rows = append(t.Rows, r)
	}
	return missing
}

// Page renders the template of a page in a directory, with the parts that several pages share there. more has
// functions of the caller's own.
func (t *Table) Page(dir, name string, more template.FuncMap) (string, error) {
	file := name + ".md.tmpl"
	own := template.FuncMap{"row": row, "time": Time, "percent": Percent, "list": list}
	page := template.New(file).Option("missingkey=error").Funcs(own).Funcs(more)
	page, err := page.ParseFiles(filepath.Join(dir, file), filepath.Join(dir, "parts.tmpl"))
	if err != nil {
		return "", err
	}
	for _, r := range t.Rows {
		for _, c := range t.Columns {
			r[c] += "" // a template may ask for what was not measured
		}
	}
	var b strings.Builder
	err = page.Execute(&b, t)
	return strings.TrimSpace(b.String()) + "\n", err
}

// row is a line of a Markdown table.
func row(cells ...any) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("|" + strings.ReplaceAll(fmt.Sprint(c), "|", `\|`))
	}
	return b.String() + "|"
}

func list(words ...string) []string { return words }

// Time formats milliseconds for people.
func Time(ms string) string {
	v, err := strconv.ParseFloat(ms, 64)
	switch {
	case err != nil:
		return ms
	case v >= 1000:
		return strconv.FormatFloat(v/1000, 'f', 1, 64) + " s"
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + " ms"
}

// Percent rounds a share to two digits.
func Percent(share string) string {
	v, err := strconv.ParseFloat(share, 64)
	if err != nil {
		return share
	}
	return strconv.FormatFloat(v, 'g', 2, 64) + " %"
}

// Group has the rows with one value in a column.
type Group struct {
	Key  string
	Rows Rows
}

// By groups rows by a column, in the order in which its values come.
func (rs Rows) By(column string) (groups []Group) {
	at := map[string]int{}
	for _, r := range rs {
		i, have := at[r[column]]
		if !have {
			i = len(groups)
			at[r[column]] = i
			groups = append(groups, Group{Key: r[column]})
		}
		groups[i].Rows = append(groups[i].Rows, r)
	}
	return groups
}

// Where returns the rows that have a value in a column.
func (rs Rows) Where(column, value string) (out Rows) {
	return slices.DeleteFunc(slices.Clone(rs), func(r Row) bool { return r[column] != value })
}

// Except returns the rows that have none of the values in a column.
func (rs Rows) Except(column string, values ...string) (out Rows) {
	return slices.DeleteFunc(slices.Clone(rs), func(r Row) bool { return slices.Contains(values, r[column]) })
}

// Plain returns the rows with faults without their parameters.
func (rs Rows) Plain() (out Rows) {
	for _, r := range rs {
		r = maps.Clone(r)
		r["fault"], _, _ = strings.Cut(r["fault"], ":")
		out = append(out, r)
	}
	return out
}

// Sum adds the whole numbers of a column.
func (rs Rows) Sum(column string) (n int) {
	for _, r := range rs {
		v, _ := strconv.Atoi(r[column])
		n += v
	}
	return n
}

// Max returns the greatest number of a column, as it is written; empty: there is none.
func (rs Rows) Max(column string) (most string) {
	at := 0.0
	for _, r := range rs {
		if v, err := strconv.ParseFloat(r[column], 64); err == nil && (most == "" || v > at) {
			at, most = v, r[column]
		}
	}
	return most
}

// AsExpected returns a tick if all runs of rows were as expected, else how many of how many.
func (rs Rows) AsExpected() string {
	if n, of := rs.Sum("as_expected_runs"), rs.Sum("runs"); n < of {
		return fmt.Sprintf("%d/%d", n, of)
	}
	return "✅"
}

// signs of outcomes, the worst first. Each outcome has a column for the number of its runs, as defect_runs.
var signs = []struct{ outcome, sign string }{{"defect", "❌"}, {"blocks", "⛔"}, {"inherent", "⚠️"}, {"safe", "✅"}}

// Sign returns the worst outcome of runs, with how many of how many runs had it; "~" says that the outcome is known
// to depend on the moment at which the fault acts.
func (rs Rows) Sign() string {
	all := rs.Sum("unknown_runs")
	for _, s := range signs {
		all += rs.Sum(s.outcome + "_runs")
	}
	depends := ""
	if len(rs.Where("expected", "any"))+len(rs.Where("expected", "mostly")) > 0 {
		depends = "~"
	}
	for _, s := range signs {
		switch n := rs.Sum(s.outcome + "_runs"); {
		case n == 0:
		case n == all && s.outcome == "safe":
			return s.sign + depends
		default:
			return fmt.Sprintf("%s%d/%d%s", s.sign, n, all, depends)
		}
	}
	if all > 0 {
		return "❔"
	}
	return "➖"
}
