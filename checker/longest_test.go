package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// pairs is a history in which two clients are granted the lock at once again and again: for so long each time.
func pairs(lengths []int) string {
	var b strings.Builder
	b.WriteString("run ends=lease\n")
	for i, ms := range lengths {
		at := 100 * i
		fmt.Fprintf(&b, "%dms 1 c1 invoke acquire lock=L grant=a%d\n", at, i)
		fmt.Fprintf(&b, "%dms 1 c1 ok acquire lock=L grant=a%d lease=a%d sent=%dms ttl=1s deadline=%dms\n", at+1, i, i, at, at+1000)
		fmt.Fprintf(&b, "%dms 2 c2 invoke acquire lock=L grant=b%d\n", at+2, i)
		fmt.Fprintf(&b, "%dms 2 c2 ok acquire lock=L grant=b%d lease=b%d sent=%dms ttl=1s deadline=%dms\n", at+3, i, i, at+2, at+1002)
		fmt.Fprintf(&b, "%dms 1 c1 invoke release lock=L grant=a%d\n", at+3+ms, i)
		fmt.Fprintf(&b, "%dms 1 c1 ok release lock=L grant=a%d\n", at+4+ms, i)
		fmt.Fprintf(&b, "%dms 2 c2 invoke release lock=L grant=b%d\n", at+5+ms, i)
		fmt.Fprintf(&b, "%dms 2 c2 ok release lock=L grant=b%d\n", at+6+ms, i)
	}
	b.WriteString("end\n")
	return b.String()
}

// Of more overlaps than can be listed the longest are, wherever they stand and however they rank; all are counted. Some short
// renewals are listed beside them.
func TestTheLongestOverlapsAreListed(t *testing.T) {
	lengths := make([]int, checker.MaxFindings+30)
	for i := range lengths {
		lengths[i] = 2
	}
	lengths[3], lengths[len(lengths)-1] = 40, 50
	var short strings.Builder
	for i := range 11 {
		at := 100*len(lengths) + 10*i
		fmt.Fprintf(&short, "%dms 1 c1 invoke acquire lock=M grant=m%d\n", at, i)
		fmt.Fprintf(&short, "%dms 1 c1 ok acquire lock=M grant=m%d lease=m%d sent=%dms ttl=1s deadline=%dms\n", at+1, i, i, at, at+1000)
		fmt.Fprintf(&short, "%dms 3 c1 invoke renew grant=m%d lease=m%d\n", at+2, i, i)
		fmt.Fprintf(&short, "%dms 3 c1 ok renew grant=m%d lease=m%d sent=%dms ttl=500ms deadline=%dms\n", at+3, i, i, at+2, at+502)
		fmt.Fprintf(&short, "%dms 1 c1 invoke release lock=M grant=m%d\n%dms 1 c1 ok release lock=M grant=m%d\n", at+4, i, at+5, i)
	}
	const longest = `20000ms 1 c1 invoke acquire lock=N grant=n
20001ms 1 c1 ok acquire lock=N grant=n lease=n sent=20000ms ttl=10ms deadline=20010ms
20020ms 2 c2 invoke acquire lock=N grant=o
20021ms 2 c2 ok acquire lock=N grant=o lease=o sent=20020ms ttl=1s deadline=21020ms
20081ms 1 c1 invoke work lock=N grant=n
20082ms 1 c1 ok work lock=N grant=n
20090ms 2 c2 invoke release lock=N grant=o
20091ms 2 c2 ok release lock=N grant=o
`
	text := strings.Replace(pairs(lengths), "end\n", short.String()+longest+"end\n", 1)
	r := checker.Judge(checkertest.InputOf(t, text), checks.Default()).Checks[checker.MutualExclusion]
	if !strings.HasPrefix(r.Reason, fmt.Sprint(len(lengths)+12, " findings in total")) {
		t.Error(r.Reason)
	}
	if len(r.Findings) != checker.MaxFindings || r.Figures["violations"] != int64(len(lengths)+1) ||
		r.Figures["overlap_max_ns"] != 60e6 {
		t.Errorf("%d findings, figures %v", len(r.Findings), r.Figures)
	}
	listed, rules := map[int64]int{}, map[string]int{}
	for _, f := range r.Findings {
		listed[f.To-f.From]++
		rules[f.Rule]++
	}
	if rules["short-renewal"] != 10 {
		t.Errorf("findings that are listed, by their rules: %v", rules)
	}
	if listed[40e6] != 1 || listed[50e6] != 1 || listed[60e6] != 1 {
		t.Errorf("overlaps that are listed, by their lengths: %v", listed)
	}
}
