// Package checkertest is what tests of checks share: a record out of a text, an answer as a text, and how many random
// histories a twin is tried with.
package checkertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// InputOf are the facts of a history that is written as a text.
func InputOf(t testing.TB, text string) *checker.Input {
	t.Helper()
	h, err := history.ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	in, err := checker.NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Answer is what a check answered, as fixtures have it.
func Answer(c checker.Result) string {
	var b strings.Builder
	b.WriteString(string(c.Verdict))
	if c.Reason != "" {
		fmt.Fprintf(&b, ": %s", c.Reason)
	}
	b.WriteString("\n")
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s %s gating=%v grants=%s events=%v [%s, %s] cause: %s\n  %s\n",
			f.Class, f.Rule, f.Gating, strings.Join(f.Grants, ","), f.Events, checker.Seconds(f.From), checker.Seconds(f.To), f.Cause,
			f.Message)
	}
	return b.String()
}

// Histories is how many random histories a twin is tried with: the usual number, or what the environment asks for, as make
// hunt does.
func Histories(t testing.TB, usual uint64) uint64 {
	t.Helper()
	return uint64(setting.Random(t, "LOCKSTORM_HISTORIES", int(usual)))
}
