package reports

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
)

// pages is where pages of several kinds of runs are written to, for the browser's tests.
var pages = os.Getenv("PAGES")

// Pages for a person, or for a browser: PAGES=DIR go test ./reports -run TestWritePages. Those of long runs are written for them
// alone.
func TestWritePages(t *testing.T) {
	dir := cmp.Or(pages, t.TempDir())
	for _, name := range append([]string{"nothing", "slept", "job", "optimistic", "readers", "deadlock"}, told...) {
		r, rec := judged(t, name)
		writePage(t, dir, name, r, rec)
	}
	if pages == "" {
		return
	}
	r, rec := longRun(t, 20, 100_000)
	writePage(t, dir, "bulk", r, rec)
}

// The page of a million events, for benchmarks in the browser.
func TestWriteHugePage(t *testing.T) {
	if pages == "" {
		return
	}
	r, rec := longRun(t, 5, 1_000_000)
	writePage(t, pages, "huge", r, rec)
}

func writePage(t *testing.T, dir, name string, r *checker.Results, rec *history.Record) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".html"), []byte(rendered(t, r, rec)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFile(filepath.Join(dir, name+".json")); err != nil {
		t.Fatal(err)
	}
}

// What making the page costs, as a part of decoding and judging the record of a run, whose directory BENCH_RUN names:
// make bench makes one.
func BenchmarkHTML(b *testing.B) {
	dir := os.Getenv("BENCH_RUN")
	if dir == "" {
		b.Skip("BENCH_RUN names no run: make bench does")
	}
	var page, judged time.Duration
	for b.Loop() {
		began := time.Now()
		h, err := history.ReadFile(filepath.Join(dir, history.File))
		if err != nil {
			b.Fatal(err)
		}
		in, err := checker.NewInput(h)
		if err != nil {
			b.Fatal(err)
		}
		r := checker.Judge(in, checks.Default())
		judged += time.Since(began)
		began = time.Now()
		if err := HTML(io.Discard, r, in.Record, Context{}); err != nil {
			b.Fatal(err)
		}
		page += time.Since(began)
	}
	ratio := float64(page) / float64(judged)
	b.ReportMetric(ratio, "of-judging")
	b.ReportMetric(float64(page.Milliseconds())/float64(b.N), "ms-page")
}
