package tables

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
)

var rewrite = flag.Bool("rewrite", false, "write the files anew")

// The docs say what the catalogue says.
func TestDocsAreNotStale(t *testing.T) {
	cat := harness.Default()
	for path, text := range map[string]string{
		"../faults.md": Faults(cat), "../backends.md": Backends(cat),
	} {
		if *rewrite {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(old) != text {
			t.Errorf("%s is stale: run `make docs` and read the difference", path)
		}
	}
}

// Every fault says how it is proven, and every cell of the table says something.
func TestNothingIsMissing(t *testing.T) {
	cat := harness.Default()
	for _, f := range cat.Nemeses.All() {
		if f.Fault != nil && f.Proven == "" {
			t.Errorf("fault %s does not say how it is proven", f.Name)
		}
	}
	if text := Backends(cat); strings.Contains(text, "| ? |") {
		t.Error("docs/backends.md has cells that nobody has filled: see suite/table.go")
	}
}
