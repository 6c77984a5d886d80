package proof_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// What people read of a proof, of known histories: which events prove it, and what follows. Each command names a file of the
// checker's fixtures. Rewrite with -rewrite, and read the difference.
func TestStories(t *testing.T) {
	datadriven.RunTest(t, "testdata/stories", func(t *testing.T, d *datadriven.TestData) string {
		return storiesOf(t, filepath.Join("../../checker/testdata/histories", d.Cmd))
	})
}

// storiesOf tells the proof of the first finding of each check in each history of a file.
func storiesOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n, input := range inputs(string(text)) {
		in := checkertest.InputOf(t, input)
		r := checker.Judge(in, checks.Default())
		if r.Checks[checker.Assumptions].Verdict == checker.Unknown {
			continue
		}
		record := proof.New(in.Record)
		for _, name := range r.Order {
			findings := r.Checks[name].Findings
			if len(findings) == 0 || name == checker.Coverage {
				continue
			}
			f := &findings[0]
			p := record.Prove(proof.Claimed{Claim: f.Claim(name), Events: f.Events})
			story, err := record.Verify(f.Claim(name), p)
			fmt.Fprintf(&b, "%d %s %s %s (%s) events %v", n+1, name, f.Rule, f.Class, f.Reason, p.Events)
			if p.Record {
				b.WriteString(" and the record " + p.Why)
			}
			if err != nil {
				fmt.Fprintf(&b, ": %v", err)
			}
			b.WriteString("\n")
			for _, line := range story {
				b.WriteString("  " + line + "\n")
			}
		}
	}
	return b.String()
}

// inputs are the histories of a file of fixtures: each stands between the name of a check and a line of dashes.
func inputs(text string) (out []string) {
	var lines []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "----"):
			i := slices.IndexFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "run") && !strings.HasPrefix(l, "run\n") || l == "run\n"
			})
			if i >= 0 {
				if lines[i] == "run\n" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "run") {
					i++ // the check is called run, too
				}
				out = append(out, strings.Join(lines[i:], ""))
			}
			lines = nil
		default:
			lines = append(lines, line)
		}
	}
	return out
}
