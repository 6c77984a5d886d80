package checker_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// Every check has known-good, known-bad and unknown histories, as text, with the answer
// below them. Rewrite the answers with -rewrite, and read the difference.
func TestFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		r := checker.Judge(checkertest.InputOf(t, d.Input), checks.Default())
		if d.Cmd == "run" {
			return fmt.Sprintf("%s, exit %d\n", r.Verdict, r.ExitCode)
		}
		c, ok := r.Checks[d.Cmd]
		if !ok {
			t.Fatalf("no check %q", d.Cmd)
		}
		return checkertest.Answer(c)
	})
}

// eachFixture calls f with every fixture; it answers what should stand below it.
func eachFixture(t *testing.T, f func(*testing.T, *datadriven.TestData) string) {
	datadriven.Walk(t, "testdata/histories", func(t *testing.T, path string) { datadriven.RunTest(t, path, f) })
}
