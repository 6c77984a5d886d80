package reports

import (
	"os"
	"regexp"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// Every code of docs/inconclusive.md has a remedy on the page, and the page knows no other.
func TestRemedies(t *testing.T) {
	page, err := os.ReadFile("../docs/inconclusive.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[checker.Code]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllSubmatch(page, -1) {
		codes[checker.Code(m[1])] = true
	}
	if len(codes) < 10 {
		t.Fatalf("%d codes in docs/inconclusive.md", len(codes))
	}
	for code := range codes {
		if remedies[code] == "" {
			t.Errorf("no remedy of %s", code)
		}
	}
	for code := range remedies {
		if !codes[code] {
			t.Errorf("%s is not in docs/inconclusive.md", code)
		}
	}
}
