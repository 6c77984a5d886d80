package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/history"
)

func inputOf(t testing.TB, text string) *Input {
	t.Helper()
	h, err := history.ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Every check has known-good, known-bad and unknown histories, as text, with the answer
// below them. Rewrite the answers with -rewrite, and read the difference.
func TestFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		r := Judge(inputOf(t, d.Input), Default())
		if d.Cmd == "run" {
			return fmt.Sprintf("%s, exit %d\n", r.Verdict, r.ExitCode)
		}
		c, ok := r.Checks[d.Cmd]
		if !ok {
			t.Fatalf("no check %q", d.Cmd)
		}
		return answer(c)
	})
}

// eachFixture calls f with every fixture; it answers what should stand below it.
func eachFixture(t *testing.T, f func(*testing.T, *datadriven.TestData) string) {
	datadriven.Walk(t, "testdata/histories", func(t *testing.T, path string) { datadriven.RunTest(t, path, f) })
}

func answer(c Result) string {
	var b strings.Builder
	b.WriteString(string(c.Verdict))
	if c.Reason != "" {
		fmt.Fprintf(&b, ": %s", c.Reason)
	}
	b.WriteString("\n")
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s %s gating=%v grants=%s events=%v [%s, %s] cause: %s\n  %s\n",
			f.Class, f.Rule, f.Gating, strings.Join(f.Grants, ","), f.Events, Seconds(f.From), Seconds(f.To), f.Cause, f.Message)
	}
	return b.String()
}
