//go:build track || ensembles || databases

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/suite"
)

// page is a page of docs/ that a series of runs writes: what is said, and how often it came out so.
type page struct {
	file  string // below docs/
	title string
	maker string // the target of make
	intro string
	seeds int
}

// write runs every case with the seeds of the page and writes it anew, a line for each case.
func (p page) write(t *testing.T, cases []suite.Case, head string, line func(i int, c suite.Case, s *shown) string) {
	all := series(t, p.seeds, cases)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- Written by `make %s`. Do not edit. -->\n\n", p.title, p.maker)
	fmt.Fprintf(&b, "%s\n`make %s` runs them all and writes this page anew; measured on a machine with %s.\n\n%s", p.intro, p.maker, cpus(), head)
	for i, c := range cases {
		b.WriteString(line(i, c, &all[i]))
	}
	if err := os.WriteFile(filepath.Join("..", "docs", p.file), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
