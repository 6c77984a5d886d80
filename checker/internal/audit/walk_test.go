package audit

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// However many rules find something, no more findings are listed than of any check.
func TestRulesTogetherListNoMoreThanOne(t *testing.T) {
	a, other := &audit{}, &audit{}
	for range checker.MaxFindings - 3 {
		a.add("a", "", nil)
	}
	for range 5 {
		other.add("b", "", nil)
	}
	for range 2 {
		a.take(other)()
	}
	if last := checker.MaxFindings - 3; len(a.findings) != checker.MaxFindings || a.findings[last-1].Rule != "a" ||
		a.findings[last].Rule != "b" {
		t.Errorf("%d findings, want %d, the last three of the other rule", len(a.findings), checker.MaxFindings)
	}
}
