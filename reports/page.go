package reports

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

//go:embed page.gohtml style.css
var assets embed.FS

var page = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
	"sec": moment, "ms": func(ns int64) string { return fmt.Sprintf("%.1f ms", float64(ns)/1e6) },
	"join": strings.Join, "len64": func(from, to int64) int64 { return to - from },
	"moment": moment, "shortly": shortly, "remark": remark, "also": also, "noted": noted, "cause": causeText, "more": moreText,
}).ParseFS(assets, "page.gohtml"))

// pageData is what the page shows.
type pageData struct {
	Results   *checker.Results
	Style     template.CSS
	Headline  string
	Class     string
	Facts     [][2]string
	Story     *Story
	Told      []tale // of the story's incidents that are told
	Withstood tale
	Timelines []*Timeline
	Checks    []checkRow
	Evidence  *evidence
	Stats     [][2]string
	Faults    faultTable
	Notes     notes
	Servers   bool // some have rows
}

// AtEdge reports whether a label beside x would leave the picture.
func (pageData) AtEdge(x float64) bool { return x > rightEdge-90 }

// HasFindings reports whether any check has one.
func (d pageData) HasFindings() bool {
	return slices.ContainsFunc(d.Checks, func(c checkRow) bool { return len(c.Result.Findings) > 0 })
}

// HTML writes one self-contained page without scripts or network access: the verdict,
// what happened in plain words, timelines, the findings with their events. Its length is
// bounded, whatever the length of the record: what is not shown is counted.
func HTML(w io.Writer, r *checker.Results, rec *history.Record) error {
	style, err := assets.ReadFile("style.css")
	if err != nil {
		return err
	}
	story := Tell(r, rec)
	ev := evidenceOf(r, rec, story)
	d := pageData{
		Results: r, Style: template.CSS(style), Headline: Headline(r), Class: string(r.Verdict), //nolint:gosec // our own file
		Facts: whatRan(r, rec), Story: story, Timelines: timelines(r, rec, story), Checks: checkRows(r, ev), Evidence: ev,
		Stats: statRows(r), Faults: faultsTable(faultRows(r, rec)), Notes: notesOf(r), Servers: len(serversOf(rec)) > 0,
	}
	for i, in := range story.Told() {
		d.Told = append(d.Told, ev.tale(fmt.Sprintf("s%d", i), in.Steps))
	}
	if story.Withstood != nil {
		d.Withstood = ev.tale("w", story.Withstood.Steps)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return err
	}
	_, err = io.WriteString(w, Visible(b.String(), "\n\t"))
	return err
}
