package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// pages are read when the first one is written.
var pages = sync.OnceValue(func() *template.Template { return template.Must(template.New("").ParseFS(assets, "list.gohtml")) })

// urlPath is a path as a link has it.
func urlPath(p string) string {
	return strings.TrimPrefix((&url.URL{Path: "/" + p}).EscapedPath(), "/")
}

// perPage is how many entries a page shows.
const perPage = 100

// listPage is the list.
type listPage struct {
	Name            string
	Query, Verdict  string
	Verdicts        []string
	Suite           string // only the runs of this one
	Suites, Entries []row
	Hidden          int // runs of suites that are not listed
	Found, From, To int
	Earlier, Later  string // links to other pages; empty: none
	Counts          []count
	Cut             bool
}

type count struct {
	Verdict string
	N       int
}

// row is an entry as it is shown.
type row struct {
	Entry
	Age   string
	Cause string // of the worst finding
}

// Word is the outcome of a suite, in its own words.
func (r row) Word() string {
	return cmp.Or(map[string]string{"pass": "as expected", violation: "not as expected"}[r.Verdict], r.Verdict)
}

// Words of the reports, the worst first.
var verdicts = []string{violation, "inconclusive", "running", "interrupted", "pass"}

const violation = "violation"

func (s *Site) list(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	all, cut := s.scan.all(now)
	q := r.URL.Query()
	p := listPage{Name: s.name, Query: q.Get("q"), Verdict: q.Get("verdict"), Suite: q.Get("suite"), Verdicts: verdicts, Cut: cut}
	asked := p.Query != "" || p.Verdict != "" || p.Suite != ""
	counts := map[string]int{}
	var found []Entry
	for _, e := range all {
		counts[e.Verdict]++
		switch of := e.Suite == p.Suite || p.Suite == ""; {
		case !of || !matches(e, p.Query, p.Verdict):
		case e.Kind == "suite":
			p.Suites = append(p.Suites, row{Entry: e, Age: age(now.Sub(e.When))})
		case !asked && e.Suite != "":
			p.Hidden++
		default:
			found = append(found, e)
		}
	}
	for _, v := range verdicts {
		if counts[v] > 0 {
			p.Counts = append(p.Counts, count{v, counts[v]})
		}
	}
	p.Found = len(found)
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || page < 0 || page*perPage >= len(found) {
		page = 0
	}
	for _, e := range found[page*perPage : min((page+1)*perPage, len(found))] {
		one := row{Entry: e, Age: age(now.Sub(e.When))}
		if e.Verdict == violation {
			one.Cause = s.cause(e.Path)
		}
		p.Entries = append(p.Entries, one)
	}
	p.Suites = p.Suites[:min(len(p.Suites), perPage)]
	p.From, p.To = page*perPage+1, page*perPage+len(p.Entries)
	to := func(n int) string {
		q.Set("page", strconv.Itoa(n))
		return "/?" + q.Encode()
	}
	if p.To < len(found) {
		p.Earlier = to(page + 1)
	}
	if page > 0 {
		p.Later = to(page - 1)
	}
	s.show(w, "list", p)
}

// matches reports whether an entry has all words of a query.
func matches(e Entry, query, verdict string) bool {
	if verdict != "" && e.Verdict != verdict {
		return false
	}
	text := strings.ToLower(strings.Join([]string{e.Path, e.Name, e.Faults, e.What, e.Kind}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// age is how long ago something was.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// events tells what changes, as server-sent events, for as long as somebody listens.
func (s *Site) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	said := map[string]Entry{}
	first := true
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		all, _ := s.scan.all(time.Now())
		for _, e := range all {
			before, known := said[e.Path]
			said[e.Path] = e
			if first || (known && before == e) {
				continue
			}
			text, err := json.Marshal(struct {
				Entry
				Href string `json:"href"`
			}{e, e.Href()})
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "event: entry\ndata: %s\n\n", text); err != nil {
				return
			}
		}
		first = false
		if _, err := fmt.Fprint(w, ": still here\n\n"); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// maxTrend is how many of the last suites of one name are compared; maxWhole how much is read of results, in bytes.
const (
	maxTrend = 12
	maxWhole = 64 << 20
)

// trendPage shows the outcomes of the cells of a suite, one suite after the other.
type trendPage struct {
	Name   string
	Suites []Entry // the oldest first
	Cells  []trendRow
}

// trendRow is a cell in each of the suites; empty where a suite does not have it.
type trendRow struct {
	Name    string
	Marks   []trendMark
	Changed bool
}

type trendMark struct{ Word, Status string }

// AsExpected reports whether the suite expected the outcome, or a baseline knows it.
func (m trendMark) AsExpected() bool {
	return m.Status == string(gate.Expected) || m.Status == string(gate.Known)
}

// whole reads results.
func (s *Site) whole(name string, into any) bool {
	f, err := s.root.Open(path.Join(name, resultsFile))
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	return json.NewDecoder(io.LimitReader(f, maxWhole)).Decode(into) == nil
}

// cause is what the results of a run say of their worst finding.
func (s *Site) cause(name string) string {
	var r checker.Results
	if !s.whole(name, &r) {
		return ""
	}
	var worst *checker.Found
	for check, c := range r.Checks {
		for _, f := range c.Findings {
			found := checker.Found{Check: check, Finding: f}
			if c.Required && c.Verdict == checker.Fail && (worst == nil || checker.RankFound(found, *worst) < 0) {
				worst = &found
			}
		}
	}
	switch {
	case worst == nil:
		return ""
	case worst.Finding.CauseKind == checker.CauseNone && worst.Finding.Lead != "":
		return worst.Finding.Lead
	}
	return worst.Finding.Cause
}

func (s *Site) trend(w http.ResponseWriter, r *http.Request) {
	p := trendPage{Name: r.URL.Query().Get("suite")}
	all, _ := s.scan.all(time.Now())
	for _, e := range all {
		if e.Kind == "suite" && e.Name == p.Name && len(p.Suites) < maxTrend {
			p.Suites = append(p.Suites, e)
		}
	}
	slices.Reverse(p.Suites)
	at := map[string]int{}
	for i, e := range p.Suites {
		var results struct {
			Cells []struct{ Name, Word, Status string }
		}
		if !s.whole(e.Path, &results) {
			continue // it still runs, or was made by another version
		}
		for _, c := range results.Cells {
			n, known := at[c.Name]
			if !known {
				n = len(p.Cells)
				at[c.Name], p.Cells = n, append(p.Cells, trendRow{Name: c.Name, Marks: make([]trendMark, len(p.Suites))})
			}
			row := &p.Cells[n]
			row.Marks[i] = trendMark{c.Word, c.Status}
			for _, before := range row.Marks[:i] {
				row.Changed = row.Changed || before.Word != "" && before.Word != c.Word
			}
		}
	}
	slices.SortStableFunc(p.Cells, func(a, b trendRow) int {
		switch {
		case a.Changed == b.Changed:
			return 0
		case a.Changed:
			return -1
		}
		return 1
	})
	s.show(w, "trend", p)
}
