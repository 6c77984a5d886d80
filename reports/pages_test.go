package reports

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

var pages = flag.String("pages", "", "write pages of several kinds of runs to this directory, for the browser's tests")

// Pages for a person, or for a browser: go test ./reports -run TestWritePages -pages DIR.
func TestWritePages(t *testing.T) {
	if *pages == "" {
		t.Skip("no -pages")
	}
	write := func(name string, r *checker.Results, rec *history.Record) {
		if err := os.WriteFile(filepath.Join(*pages, name+".html"), []byte(rendered(t, r, rec)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteFile(filepath.Join(*pages, name+".json")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append([]string{"nothing"}, told...) {
		r, rec := judged(t, name)
		write(name, r, rec)
	}
	r, rec := longRun(t, 20, 100_000)
	write("bulk", r, rec)
	r, rec = longRun(t, 5, 1_000_000)
	write("huge", r, rec)
}
