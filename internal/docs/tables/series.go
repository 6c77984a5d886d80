package tables

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/suite"
)

// Series is a measured page with a row for each of its cases.
type Series struct {
	Page  string // without .md
	Cases []suite.Case
	says  func(suite.Case) measured.Row // columns of a case that are known before it has run
}

// Libraries returns the libraries of the catalogue with their options, under each discipline and fault.
func Libraries() Series { return Series{"libraries-measured", cases.Libraries(), variant} }

// Adapters returns the same for libraries of other languages.
func Adapters() Series { return Series{"adapters-measured", cases.Adapters(), variant} }

// Releases returns the releases of libraries that are compared.
func Releases() Series { return Series{"releases", cases.Releases(), variant} }

// Containers returns the published failures with their servers in containers.
func Containers() Series {
	s := Series{"containers", cases.Set("published"), shows}
	for i := range s.Cases {
		s.Cases[i].Run.Provider = "container"
	}
	return s
}

// TrackRecord returns the published failures.
func TrackRecord() Series { return Series{"track-record", cases.Set("published"), shows} }

// Databases returns the claims about locks in databases.
func Databases() Series { return Series{"databases", cases.Set("databases"), shows} }

// Ensembles returns the claims about locks in sessions.
func Ensembles() Series { return Series{"ensembles", cases.Set("ensembles"), shows} }

// Power returns what is said of locks whose servers lose their power.
func Power() Series { return Series{"power", cases.Set("power"), shows} }

// variant says a case of a library: its name is that of the variant, a discipline or a release, and a fault.
func variant(c suite.Case) measured.Row {
	fault := c.Run.Nemesis[0]
	name := strings.TrimSuffix(c.Text, " under "+fault)
	between := strings.TrimSuffix(strings.TrimPrefix(c.Name, name+"/"), "/"+fault)
	return measured.Row{
		"case": c.Name, "variant": name, "discipline": c.Run.Discipline, "release": between, "fault": fault, "command": c.Run.Line(),
	}
}

// shows says a case that has a text.
func shows(c suite.Case) measured.Row {
	r := measured.Row{"case": c.Name, "shows": c.Text, "source": c.Source, "command": c.Run.Line()}
	if len(c.Expect.Exit) > 0 {
		r["exit_code"] = strconv.Itoa(c.Expect.Exit[0])
	}
	return r
}

// Table returns the data of the series in docs, updated with the measured rows in got, by the name of the case;
// missing are the cases that were never measured.
func (s Series) Table(docs string, got map[string]measured.Row) (t *measured.Table, missing []string, err error) {
	var rows measured.Rows
	for _, c := range s.Cases {
		rows = append(rows, s.says(c))
	}
	if t, err = measured.Read(filepath.Join(docs, "measured", s.Page+".csv")); err == nil {
		missing = t.Update(rows, got)
	}
	return t, missing, err
}

// Write writes a page and its data below docs.
func Write(docs, page string, t *measured.Table) error {
	text, err := Render(docs, page, t)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(docs, "measured", page+".csv"), []byte(t.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, page+".md"), []byte(text), 0o644)
}

// Render returns the page of a table.
func Render(docs, page string, t *measured.Table) (string, error) {
	dir := filepath.Join(docs, "measured")
	why, err := measured.Read(filepath.Join(dir, "why.csv"))
	if err != nil {
		return "", err
	}
	return t.Page(dir, page, template.FuncMap{
		"why":     func(rs measured.Rows) string { links, _ := explained(why.Rows, rs); return strings.Join(links, ", ") },
		"changed": changed, "others": others,
	})
}

// explained are links to the sections of docs/libraries.md that explain rows, by the lines of measured/why.csv, and what no
// section explains.
func explained(why, rows measured.Rows) (links, missing []string) {
	for _, r := range rows {
		for _, what := range open(r) {
			i := slices.IndexFunc(why, func(w measured.Row) bool { return explains(w, r, what) })
			if i < 0 {
				missing = append(missing, r["case"]+": "+what)
				continue
			}
			link := fmt.Sprintf("[%s](libraries.md#%s)", why[i]["label"], anchor(why[i]["heading"]))
			links = lists.With(links, link)
		}
	}
	return links, missing
}

// open is what a row has to explain.
func open(r measured.Row) (out []string) {
	for rule := range strings.SplitSeq(r["defect_rules"], "; ") {
		if name, _, _ := strings.Cut(rule, " "); name != "" {
			out = append(out, name)
		}
	}
	if r["blocks_runs"] != "0" {
		out = append(out, "blocks")
	}
	if r["told_late_max_ms"] != "" {
		out = append(out, "told late")
	}
	return out
}

// explains reports whether a line of measured/why.csv is about a row.
func explains(w, r measured.Row, what string) bool {
	return strings.HasPrefix(r["fault"], w["fault"]) && (w["except"] == "" || !strings.Contains(r["variant"], w["except"])) &&
		(w["of"] == "" || slices.Contains(strings.Split(w["of"], "; "), what)) &&
		slices.ContainsFunc(strings.Split(w["variants"], "; "), func(v string) bool { return strings.HasPrefix(r["variant"], v) })
}

// anchor is what a heading of a page is linked by.
func anchor(heading string) string {
	return notInAnchor.ReplaceAllString(strings.ReplaceAll(strings.ToLower(heading), " ", "-"), "")
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9_-]`)

// others are the faults of rows, each with its sign, where that is not a tick.
func others(rs measured.Rows) string {
	var out []string
	for _, g := range rs.By("fault") {
		if s := g.Rows.Sign(); s != "✅" {
			out = append(out, g.Key+" "+s)
		}
	}
	return cmp.Or(strings.Join(out, ", "), rs.Sign())
}

// changed reports whether the runs of one release ended otherwise than those of the release before it. Runs without a verdict say
// nothing.
func changed(rs measured.Rows) bool {
	was := ""
	for _, r := range rs {
		is := ""
		for _, o := range []string{"safe", "inherent", "blocks", "defect"} {
			if r[o+"_runs"] != "0" {
				is += o + " "
			}
		}
		if was != "" && is != "" && is != was {
			return true
		}
		was = cmp.Or(is, was)
	}
	return false
}
