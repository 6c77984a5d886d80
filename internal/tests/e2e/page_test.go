//go:build series

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
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

// write runs every case with the seeds of the page and writes it anew, a line for each case. Where -run
// chooses single cases, the others keep the lines that they have.
func (p page) write(t *testing.T, cases []suite.Case, head string, line func(i int, c suite.Case, s *shown) string) {
	path := filepath.Join("..", "..", "..", "docs", p.file)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	all := series(t, p.seeds, cases)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- Written by `make %s`. Do not edit. -->\n\n", p.title, p.maker)
	fmt.Fprintf(&b, "%s\n`make %s` repeats all runs of this page, and writes the page again. The runs of this page were made on a machine with %s.\n\n%s", p.intro, p.maker, cpus(), head)
	for i, c := range cases {
		text := line(i, c, &all[i])
		if all[i].runs == 0 {
			text = lineOf(string(before), c.Run, text)
		}
		b.WriteString(text)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command is that of a line of a page.
var command = regexp.MustCompile("`(--[^`]*)`")

// lineOf is the line of a page that has the command of a run, in whatever order, or another text.
func lineOf(page string, run harness.Config, other string) string {
	for l := range strings.Lines(page) {
		if m := command.FindStringSubmatch(l); m != nil {
			if cfg, err := harness.ParseLine(m[1]); err == nil && reflect.DeepEqual(cfg, run) {
				return l
			}
		}
	}
	return other
}
