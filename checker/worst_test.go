package checker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// A run with more overlaps than can be listed: the one that cost an update is listed, although it was the
// shortest and came last; the count and the longest are of all.
func TestTheCostlyOverlapIsListed(t *testing.T) {
	const n = 150
	b := strings.Builder{}
	b.WriteString("run ends=lease ttl=10ms tolerance=0ms discipline=trusting registers=plain bound=1s stall=1s\n")
	for i := range n {
		at, a, c := 40*i, fmt.Sprintf("lock=L grant=a%d", i), fmt.Sprintf("lock=L grant=b%d", i)
		event := func(ms, client int, text string) { fmt.Fprintf(&b, "%dms %d c%d %s\n", at+ms, client, client, text) }
		event(0, 1, "invoke acquire "+a)
		event(1, 1, fmt.Sprintf("ok acquire %s lease=a%d sent=%dms ttl=10ms deadline=%dms", a, i, at, at+10))
		event(20, 2, "invoke acquire "+c)
		event(21, 2, fmt.Sprintf("ok acquire %s lease=b%d sent=%dms ttl=10ms deadline=%dms", c, i, at+20, at+30))
		over := 29
		if i == n-1 { // both read 0, and both write 1 and 2 on top of it
			event(22, 1, "invoke read "+a+" register=plain")
			event(22, 1, "ok read "+a+" register=plain base=0")
			event(23, 2, "invoke read "+c+" register=plain")
			event(23, 2, "ok read "+c+" register=plain base=0")
			event(24, 2, "invoke write "+c+" register=plain base=0 new=1")
			event(24, 2, "ok write "+c+" register=plain base=0 new=1")
			event(25, 1, "invoke write "+a+" register=plain base=0 new=2")
			event(25, 1, "ok write "+a+" register=plain base=0 new=2")
			over = 26
		}
		event(over, 1, "invoke release "+a)
		event(over+1, 1, "fail release "+a+" error=not-held")
		event(over+2, 2, "invoke release "+c)
		event(over+3, 2, "ok release "+c)
	}
	b.WriteString("end\n")
	c := checker.Judge(checkertest.InputOf(t, b.String()), checks.Default()).Checks[checker.MutualExclusion]
	last := fmt.Sprintf("a%d", n-1)
	listed := slices.ContainsFunc(c.Findings, func(f checker.Finding) bool { return slices.Contains(f.Grants, last) && f.Lost == 1 })
	if !listed || len(c.Findings) != checker.MaxFindings || c.Figures["violations"] != n || c.Figures["overlap_max_ns"] != 8e6 {
		t.Errorf("%d listed, the costly one among them: %v; figures %v; %s", len(c.Findings), listed, c.Figures, c.Reason)
	}
}
