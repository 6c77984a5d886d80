package site

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// maxTrend is how many of the last suites of one name are compared; maxWhole how much is read of results, in bytes.
const (
	maxTrend = 12
	maxWhole = 64 << 20
)

// trendPage shows what the cells of a suite came to, one suite after the other.
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
