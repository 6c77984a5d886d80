package reports

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Every code of docs/inconclusive.md has a remedy on the page, and the page knows no other.
func TestRemedies(t *testing.T) {
	page, err := os.ReadFile("../docs/inconclusive.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[checker.Code]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllSubmatch(page, -1) {
		codes[checker.Code(m[1])] = true
	}
	if len(codes) < 10 {
		t.Fatalf("%d codes in docs/inconclusive.md", len(codes))
	}
	for code := range codes {
		if remedies[code] == "" {
			t.Errorf("no remedy of %s", code)
		}
	}
	for code := range remedies {
		if !codes[code] {
			t.Errorf("%s is not in docs/inconclusive.md", code)
		}
	}
}

// A check that was required by name and does not apply is not the host's doing.
func TestRemedyOfWhatDoesNotApply(t *testing.T) {
	r := &checker.Results{Order: []string{checker.FencingTokens}, Checks: map[string]checker.Result{
		checker.FencingTokens: {Required: true, Verdict: checker.Unknown, Code: checker.CodeNoTokens},
	}}
	if got := whatNow(r, ""); !strings.Contains(got, "does not apply to this run, do not require it") {
		t.Error(got)
	}
}

// A restart that lost the locks of servers without a disk names the servers that have one; another fault, and servers that have
// one, do not.
func TestCureOfForgottenLocks(t *testing.T) {
	h := &happening{found: []listedFinding{{Found: checker.Found{Finding: checker.Finding{
		Rule: "overlap", Class: checker.Defect, CauseKind: checker.CauseFault, Fault: 1,
	}}}}}
	for _, c := range []struct {
		fault, onDisk string
		names         bool
	}{{"server-restart", "redis-single-aof", true}, {"server-restart", "", false}, {"server-pause", "redis-single-aof", false}} {
		rec := &history.Record{Faults: []*history.Injection{{Fault: history.Fault{ID: 1, Fault: c.fault}}}}
		got := cure(&checker.Results{Topology: "redis-single"}, rec, h, Context{OnDisk: c.onDisk})
		if strings.Contains(got, "--topology redis-single-aof") != c.names {
			t.Errorf("%s, on disk %q: %s", c.fault, c.onDisk, got)
		}
	}
}

// Only where a client died can the lock of a dead holder be in the way of the others.
func TestCureOfALockThatDoesNotComeBack(t *testing.T) {
	found := checker.Found{Check: checker.Liveness, Finding: checker.Finding{Rule: "no-recovery"}}
	h := &happening{found: []listedFinding{{Found: found}}}
	for died, want := range map[bool]string{true: "dead holder expires", false: "not woken"} {
		rec := &history.Record{}
		if died {
			rec.Kills = map[string]int64{"c1": 5}
		}
		if got := cure(&checker.Results{}, rec, h, Context{}); !strings.Contains(got, want) {
			t.Errorf("somebody died: %v: %s", died, got)
		}
	}
}
