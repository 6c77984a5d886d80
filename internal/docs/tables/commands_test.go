package tables

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
)

// A command of a run stands in a block of its own, in a row of a table (without "lockstorm run"), or in a sentence.
var (
	runs      = regexp.MustCompile("(?m)(?:lockstorm run |^\\| `)(--backend [^`\\n#|]*)")
	continued = regexp.MustCompile(`\\\n\s*`)
)

// The runs on the pages parse, and nothing that they name is missing or impossible.
func TestRunsOnPages(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	cat, seen := harness.New(stores.All()...), 0
	for _, page := range append(pages, "../../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		joined := continued.ReplaceAllString(string(text), " ")
		for _, m := range runs.FindAllStringSubmatch(joined, -1) {
			line := strings.TrimSpace(m[1])
			if strings.Contains(line, "exec:") || strings.ContainsAny(line, "[<$") || strings.Contains(line, "NAME") ||
				strings.Contains(line, "...") {
				continue // an adapter's program, or a pattern
			}
			seen++
			cfg, err := harness.ParseLine(line)
			if err == nil {
				err = harness.Check(cat, cfg)
			}
			if err != nil && !strings.Contains(err.Error(), "cannot be started on this host") {
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d runs were looked at", seen)
	}
}
