package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// checkRow is one check in the table of checks.
type checkRow struct {
	Name   string
	Line   string
	Mark   string
	Result checker.Result
}

func checkRows(r *checker.Results) []checkRow {
	var out []checkRow
	for _, name := range r.Order {
		c := r.Checks[name]
		out = append(out, checkRow{Name: name, Line: oneLine(c), Mark: mark(c), Result: c})
	}
	return out
}

// eventRow is an event of the record as it is.
type eventRow struct {
	Index int64
	Line  string
}

// eventRows are the events that findings and the steps of the story name.
func eventRows(r *checker.Results, rec *history.Record, s *Story) []eventRow {
	wanted := s.events()
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			for _, i := range f.Events {
				wanted[i] = true
			}
		}
	}
	var out []eventRow
	for i := range rec.Events {
		e := &rec.Events[i]
		if wanted[e.Index] {
			out = append(out, eventRow{Index: e.Index, Line: string(e.AppendJSON(nil, true))})
		}
	}
	return out
}

// facts are what was run.
func facts(r *checker.Results, rec *history.Record) [][2]string {
	out := [][2]string{
		{"backend", r.Backend},
		{"topology", r.Topology + " (" + r.Provider + ")"},
		{"nemesis", strings.Join(r.Nemesis, " + ")},
		{"workload", r.Workload},
		{"fencing", r.Fencing},
		{"discipline", r.Discipline},
		{"ttl", dur(r.TTL).String()},
		{"clients", fmt.Sprint(r.Clients)},
		{"seed", fmt.Sprint(r.Seed)},
		{"started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"tolerance", dur(rec.Run.Tolerance).String()},
	}
	var names []string
	for name := range r.Versions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, [2]string{name, r.Versions[name]})
	}
	return out
}

// statRows are all figures by name.
func statRows(r *checker.Results) [][2]string {
	var out [][2]string
	for name, v := range r.Stats {
		text := strconv.FormatInt(v, 10)
		if strings.HasSuffix(name, "_ns") {
			text = dur(v).String()
		}
		out = append(out, [2]string{name, text})
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}
