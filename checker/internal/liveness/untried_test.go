package liveness_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
)

// A client that ran and never tried the lock makes liveness unknown. In a record of the harness neither the
// beginning nor the end of a log names a client, so this one has no event that does.
func TestAClientThatNeverTried(t *testing.T) {
	const record = `run ends=lease party=controller
run ends=lease party=c1
run ends=lease party=c2
0ms - controller info phase "final"
1ms 1 c1 invoke acquire lock=L grant=a
3ms 1 c1 ok acquire lock=L grant=a lease=a sent=2ms ttl=1s deadline=1002ms
4ms 1 c1 invoke release lock=L grant=a
5ms 1 c1 ok release lock=L grant=a
`
	const tried = `6ms 2 c2 invoke acquire lock=L grant=b
8ms 2 c2 ok acquire lock=L grant=b lease=b sent=7ms ttl=1s deadline=1007ms
`
	for _, tc := range []struct {
		text string
		want checker.Verdict
	}{{record + "end\n", checker.Unknown}, {record + tried + "end\n", checker.Pass}} {
		h, err := history.ParseText(strings.NewReader(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		lines := history.Lines(h.Events)
		for i := range lines {
			if l := &lines[i]; l.F == history.FRun || l.F == history.FEnd {
				l.Client = ""
			}
		}
		h.Events = history.Events(lines...)
		in, err := checker.NewInput(h)
		if err != nil {
			t.Fatal(err)
		}
		r := checker.Judge(in, checks.Default()).Checks[checker.Liveness]
		if r.Verdict != tc.want || (tc.want == checker.Unknown && r.Code != checker.CodeUntried) {
			t.Errorf("%s %s (%s), want %s:\n%s", r.Verdict, r.Code, r.Reason, tc.want, tc.text)
		}
	}
}
