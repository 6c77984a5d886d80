package matrix

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"sync"
)

//go:embed index.gohtml index.css index.js
var assets embed.FS

// page is read when the first one is written.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("index.gohtml").Funcs(template.FuncMap{
		"verbed": Verbed,
	}).ParseFS(assets, "index.gohtml"))
})

// pageData is what the page shows.
type pageData struct {
	*Table

	Style   template.CSS
	Script  template.JS
	Columns []string
	Plots   []plotted
}

// Width is that of the matrix, in columns.
func (d pageData) Width() int { return 1 + len(d.Columns) + len(d.Measures()) }

// HTML writes the page: one file, without anything from elsewhere, with links to the reports of the runs.
func (t *Table) HTML(w io.Writer) error {
	style, errStyle := assets.ReadFile("index.css")
	script, errScript := assets.ReadFile("index.js")
	if errStyle != nil || errScript != nil {
		return fmt.Errorf("assets: %w, %w", errStyle, errScript)
	}
	d := pageData{Table: t, Style: template.CSS(style), Script: template.JS(script), Plots: t.plots()} //nolint:gosec // our own files
	_, d.Columns = t.axes()
	var b bytes.Buffer
	if err := page().Execute(&b, d); err != nil {
		return err
	}
	_, err := io.WriteString(w, visible(b.String()))
	return err
}
