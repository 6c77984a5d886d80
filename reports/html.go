package reports

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

//go:embed page.gohtml style.css
var assets embed.FS

var page = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
	"sec": at, "ms": func(ns int64) string { return fmt.Sprintf("%.1f ms", float64(ns)/1e6) },
	"join": strings.Join, "len64": func(from, to int64) int64 { return to - from },
}).ParseFS(assets, "page.gohtml"))

// pageData is what the page shows.
type pageData struct {
	Results   *checker.Results
	Style     template.CSS
	Headline  string
	Class     string
	Facts     [][2]string
	Story     []storyLine
	Timelines []*Timeline
	Checks    []checkRow
	Events    []eventRow
	Stats     [][2]string
	Faults    []faultRow
	Roles     bool // servers said what they are
}

// AtEdge reports whether a label beside x would leave the picture.
func (pageData) AtEdge(x float64) bool { return x > rightEdge-90 }

type storyLine struct {
	Time, Text string
	Bad        bool
}

type checkRow struct {
	Name   string
	Line   string
	Mark   string
	Result checker.Result
}

type eventRow struct {
	Index int64
	Line  string
}

// HTML writes one self-contained page without scripts or network access: the verdict,
// what happened in plain words, timelines, the findings with their events.
func HTML(w io.Writer, r *checker.Results, rec *history.Record) error {
	style, err := assets.ReadFile("style.css")
	if err != nil {
		return err
	}
	d := pageData{
		Results: r, Style: template.CSS(style), Headline: Headline(r), Class: string(r.Verdict), //nolint:gosec // our own file
		Facts: facts(r, rec), Timelines: timelines(r, rec), Events: eventRows(r, rec), Stats: statRows(r),
		Faults: faultRows(r, rec), Roles: len(rec.Roles) > 0,
	}
	for _, l := range Story(r, rec) {
		d.Story = append(d.Story, splitStory(l))
	}
	for _, name := range r.Order {
		c := r.Checks[name]
		d.Checks = append(d.Checks, checkRow{Name: name, Line: oneLine(c), Mark: mark(c), Result: c})
	}
	return page.Execute(w, d)
}

// splitStory parts a line of the story into its time, if it has one, and its text.
func splitStory(l string) storyLine {
	text := strings.TrimSpace(l)
	bad := strings.Contains(text, "LOST:")
	if num, rest, ok := strings.Cut(text, " s  "); ok {
		if _, err := strconv.ParseFloat(num, 64); err == nil {
			return storyLine{Time: num + " s", Text: rest, Bad: bad}
		}
	}
	return storyLine{Text: text, Bad: bad}
}

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

// timelines are the surroundings of the finding that the story tells, and the whole run.
func timelines(r *checker.Results, rec *history.Record) []*Timeline {
	var out []*Timeline
	var end int64
	for _, t := range rec.Last {
		end = max(end, t)
	}
	if f := firstFinding(r); f != nil && len(f.Grants) > 1 {
		from, to := f.From, f.To
		var clients []string
		for _, id := range f.Grants {
			g := rec.ByID[id]
			if g == nil || g.Acquire == nil {
				continue
			}
			clients = append(clients, g.Client)
			from = min(from, g.Sent())
			for _, c := range slices.Concat(g.Uses, g.Releases) {
				to = max(to, c.Start())
			}
		}
		margin := (to - from) / 12
		out = append(out, newTimeline("Around the violation", r, rec, max(0, from-margin), min(to+margin, end), clients))
	}
	return append(out, newTimeline("The whole run", r, rec, 0, end, nil))
}

// eventRows are the events that findings name.
func eventRows(r *checker.Results, rec *history.Record) []eventRow {
	wanted := map[int64]bool{}
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
