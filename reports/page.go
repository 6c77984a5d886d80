package reports

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

//go:embed page.gohtml style.css
var assets embed.FS

var page = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
	"sec": at, "ms": func(ns int64) string { return fmt.Sprintf("%.1f ms", float64(ns)/1e6) },
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
	Timelines []*Timeline
	Checks    []checkRow
	Events    []eventRow
	Stats     [][2]string
	Faults    []faultRow
	Roles     bool // servers said what they are
}

// AtEdge reports whether a label beside x would leave the picture.
func (pageData) AtEdge(x float64) bool { return x > rightEdge-90 }

// HTML writes one self-contained page without scripts or network access: the verdict,
// what happened in plain words, timelines, the findings with their events.
func HTML(w io.Writer, r *checker.Results, rec *history.Record) error {
	style, err := assets.ReadFile("style.css")
	if err != nil {
		return err
	}
	story := Tell(r, rec)
	var b bytes.Buffer
	err = page.Execute(&b, pageData{
		Results: r, Style: template.CSS(style), Headline: Headline(r), Class: string(r.Verdict), //nolint:gosec // our own file
		Facts: facts(r, rec), Story: story, Timelines: timelines(r, rec, story.Worst()), Checks: checkRows(r),
		Events: eventRows(r, rec, story), Stats: statRows(r), Faults: faultRows(r, rec), Roles: len(rec.Roles) > 0,
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, escaped(b.String(), "\n\t"))
	return err
}
