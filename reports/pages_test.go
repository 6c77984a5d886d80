package reports

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var pages = flag.String("pages", "", "write pages of several kinds of runs to this directory, for the browser's tests")

// Pages for a person, or for a browser: go test ./reports -run TestWritePages -pages DIR.
func TestWritePages(t *testing.T) {
	if *pages == "" {
		t.Skip("no -pages")
	}
	write := func(name, page string) {
		if err := os.WriteFile(filepath.Join(*pages, name+".html"), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range told {
		r, rec := judged(t, name)
		write(name, rendered(t, r, rec))
	}
	r, rec := longRun(t, 20, 100_000)
	write("bulk", rendered(t, r, rec))
	r, rec = longRun(t, 5, 1_000_000)
	write("huge", rendered(t, r, rec))
}
