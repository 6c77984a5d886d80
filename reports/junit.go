package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/checker"
)

// JUnit writes the checks as test cases: a gating violation is a failure, an unknown of a required check an error;
// checks that do not apply or do not gate are skipped.
func JUnit(w io.Writer, r *checker.Results) error {
	suite := junit.Testsuite{
		Name:      visible(fmt.Sprintf("lockstorm.%s.%s", r.Backend, strings.Join(r.Nemesis, "+"))),
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Time:      fmt.Sprintf("%.3f", time.Duration(r.Duration).Seconds()),
	}
	for _, p := range [][2]string{
		{"seed", fmt.Sprint(r.Seed)},
		{"command", r.Command},
		{"topology", r.Topology},
		{"verdict", string(r.Verdict)},
	} {
		suite.AddProperty(p[0], visible(p[1]))
	}
	for _, name := range listedChecks(r) {
		suite.AddTestcase(testcase(suite.Name, visible(name), r.Checks[name]))
	}
	all := junit.Testsuites{Name: "lockstorm"}
	all.AddSuite(suite)
	if err := all.WriteXML(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func testcase(suite, name string, c checker.Result) junit.Testcase {
	tc := junit.Testcase{Classname: suite, Name: name, Time: "0.000"}
	result := &junit.Result{Message: visible(oneLine(c)), Type: visible(string(c.Verdict)), Data: findingsText(c)}
	switch {
	case c.Verdict == checker.Skipped || !c.Required || (c.Verdict == checker.Fail && !gates(c)):
		if c.Verdict != checker.Pass {
			tc.Skipped = &junit.Result{Message: visible(strings.TrimSpace(mark(c) + " " + oneLine(c)))}
		}
	case c.Verdict == checker.Fail:
		tc.Failure = result
	case c.Verdict == checker.Unknown:
		tc.Error = result
	}
	return tc
}

func findingsText(c checker.Result) string {
	var b strings.Builder
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s (%s; %s): %s\n", visible(f.Rule), visible(string(f.Class)), visible(because(&f)), visible(f.Message))
	}
	return b.String()
}
