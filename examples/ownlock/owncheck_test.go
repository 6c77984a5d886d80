package ownlock_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// answer judges a history with the check, and returns the result as text: the verdict, and the class and rule of each
// finding.
func answer(t *testing.T, events string) (string, checker.Result) {
	t.Helper()
	h, err := history.ParseText(strings.NewReader("run workload=ledger resource=false ends=lease discipline=trusting ttl=50ms\n" +
		events + "\nend\n"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := checker.NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	r := checker.Judge(in, ownlock.Catalogue().Checks).Checks[ownlock.LedgerWhole]
	said := []string{string(r.Verdict)}
	for _, f := range r.Findings {
		said = append(said, fmt.Sprintf("%s %s", f.Class, f.Rule))
	}
	return strings.Join(said, ", "), r
}

// granted makes two events: a client requests a lock at a time in ms, and gets it with a lease of 50 ms.
func granted(at int, client, grant, lock string) string {
	return fmt.Sprintf("%[1]dms %[2]s c%[2]s invoke acquire lock=%[4]s grant=%[3]s\n"+
		"%[1]dms %[2]s c%[2]s ok acquire lock=%[4]s grant=%[3]s lease=%[3]s sent=%[1]dms ttl=50ms deadline=%[5]dms\n", at, client,
		grant, lock, at+50)
}

// wrote makes two events: a client writes an entry, and gets the answer 1 ms later.
func wrote(at int, client, grant, lock, outcome string, number, total int) string {
	why := ""
	if outcome == "fail" {
		why = " error=other"
	}
	return fmt.Sprintf("%[1]dms %[2]s c%[2]s invoke work lock=%[4]s grant=%[3]s {\"number\":%[6]d,\"total\":%[7]d}\n"+
		"%[8]dms %[2]s c%[2]s %[5]s work lock=%[4]s grant=%[3]s%[9]s {\"number\":%[6]d,\"total\":%[7]d}\n", at, client, grant, lock,
		outcome, number, total, at+1, why)
}

// released makes two events: a client releases its lock, and gets the answer.
func released(at int, client, grant, lock string) string {
	return fmt.Sprintf("%[1]dms %[2]s c%[2]s invoke release lock=%[4]s grant=%[3]s\n%[1]dms %[2]s c%[2]s ok release lock=%[4]s "+
		"grant=%[3]s\n", at, client, grant, lock)
}

// histories are small test histories, each with the right result.
var histories = map[string]struct{ events, want string }{
	"nobody": {granted(0, "1", "g1", "L"), "pass"},
	"one after the other": {
		granted(0, "1", "g1", "L") + wrote(5, "1", "g1", "L", "ok", 1, 9) + released(10, "1", "g1", "L") +
			granted(20, "2", "g2", "L") + wrote(25, "2", "g2", "L", "ok", 2, 9) + released(30, "2", "g2", "L"), "pass",
	},
	"a lock each": {
		granted(0, "1", "g1", "L") + wrote(5, "1", "g1", "L", "ok", 1, 9) + released(10, "1", "g1", "L") +
			granted(20, "2", "g2", "M") + wrote(25, "2", "g2", "M", "ok", 1, 8) + released(30, "2", "g2", "M"), "pass",
	},
	"perhaps not written": {
		granted(0, "1", "g1", "L") + wrote(5, "1", "g1", "L", "info", 1, 9) +
			granted(60, "2", "g2", "L") + wrote(65, "2", "g2", "L", "ok", 1, 9) + released(70, "2", "g2", "L"), "pass",
	},
	"certainly not written": {
		granted(0, "1", "g1", "L") + wrote(5, "1", "g1", "L", "fail", 1, 9) + released(10, "1", "g1", "L") +
			granted(20, "2", "g2", "L") + wrote(25, "2", "g2", "L", "ok", 1, 9) + released(30, "2", "g2", "L"), "pass",
	},
	"both valid": {
		granted(0, "1", "g1", "L") + granted(10, "2", "g2", "L") +
			wrote(20, "2", "g2", "L", "ok", 1, 9) + wrote(30, "1", "g1", "L", "ok", 1, 9), "fail, defect entry-twice",
	},
	"a lease over": {
		granted(0, "1", "g1", "L") + granted(60, "2", "g2", "L") +
			wrote(70, "2", "g2", "L", "ok", 1, 9) + wrote(80, "1", "g1", "L", "ok", 1, 9), "fail, inherent entry-twice",
	},
	"three times": {
		granted(0, "1", "g1", "L") + granted(10, "2", "g2", "L") + granted(11, "3", "g3", "L") +
			wrote(20, "2", "g2", "L", "ok", 1, 9) + wrote(30, "1", "g1", "L", "ok", 1, 9) + wrote(32, "3", "g3", "L", "ok", 1, 9),
		"fail, defect entry-twice, defect entry-twice",
	},
	"who goes on from a stale book is not to blame": {
		granted(0, "1", "g1", "L") + granted(60, "2", "g2", "L") + wrote(62, "2", "g2", "L", "ok", 1, 9) + released(64, "2", "g2",
			"L") +
			granted(66, "3", "g3", "L") + wrote(68, "3", "g3", "L", "ok", 2, 9) + released(70, "3", "g3", "L") +
			wrote(80, "1", "g1", "L", "ok", 1, 9) + released(82, "1", "g1", "L") +
			granted(90, "2", "g4", "L") + wrote(92, "2", "g4", "L", "ok", 2, 9) + released(94, "2", "g4", "L") +
			granted(96, "3", "g5", "L") + wrote(98, "3", "g5", "L", "ok", 3, 9) + released(99, "3", "g5", "L"),
		"fail, inherent entry-twice",
	},
	"a stale book that nobody was told of": {
		granted(0, "1", "g1", "L") + granted(60, "2", "g2", "L") + wrote(62, "2", "g2", "L", "ok", 1, 9) + released(64, "2", "g2",
			"L") +
			wrote(80, "1", "g1", "L", "info", 1, 9) + granted(90, "3", "g3", "L") + wrote(92, "3", "g3", "L", "ok", 1, 9) + released(94,
			"3", "g3", "L"),
		"unknown, none entry-twice",
	},
	"after its release": {
		granted(0, "1", "g1", "L") + released(5, "1", "g1", "L") + granted(10, "2", "g2", "L") +
			wrote(20, "2", "g2", "L", "ok", 1, 9) + wrote(30, "1", "g1", "L", "ok", 1, 9), "fail, none entry-twice",
	},
	"money": {
		granted(0, "1", "g1", "L") + wrote(5, "1", "g1", "L", "ok", 1, 9) + wrote(8, "1", "g1", "L", "ok", 2, 7),
		"fail, none money-changed",
	},
	"no entry": {granted(0, "1", "g1", "L") + wrote(5, "1", "g1", "L", "ok", 0, 9), "unknown, none strange-entry"},
}

func TestLedgerWhole(t *testing.T) {
	for name, h := range histories {
		if got, _ := answer(t, h.events); got != h.want {
			t.Errorf("%s: %s, want %s", name, got, h.want)
		}
	}
}

// The proof counts the entries, and can be read from results.json in its own type.
func TestLedgerProof(t *testing.T) {
	_, r := answer(t, histories["three times"].events)
	var proof ownlock.LedgerProof
	if err := r.ProofInto(&proof); err != nil {
		t.Fatal(err)
	}
	want := ownlock.LedgerSeen{Entries: 3, Lost: 2}
	if proof["L"] != want || r.Figures["ledger_entries"] != 3 || r.Figures["ledger_entries_lost"] != 2 {
		t.Errorf("proof %+v, figures %v", proof, r.Figures)
	}
}

// The check does not apply to runs of other workloads.
func TestLedgerDoesNotApply(t *testing.T) {
	h, err := history.ParseText(strings.NewReader("run workload=counter\n" + granted(0, "1", "g1", "L") + "end\n"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := checker.NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	if r := checker.Judge(in, ownlock.Catalogue().Checks).Checks[ownlock.LedgerWhole]; r.Verdict != checker.Skipped ||
		r.Reason != "workload counter keeps no ledger" {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

// mutants stand for versions of the check with one bug each: each function changes a history in the way in which the buggy check
// would misread it.
var mutants = map[string]func(string) string{
	"treats unknown outcomes as done":       strings.NewReplacer("info work", "ok work").Replace,
	"treats failed writes as done":          strings.NewReplacer("fail work", "ok work").Replace,
	"mixes up the locks":                    strings.NewReplacer("lock=M", "lock=L").Replace,
	"ignores the ends of leases":            strings.NewReplacer("ttl=50ms deadline=50ms", "ttl=500ms deadline=500ms").Replace,
	"ignores releases":                      strings.NewReplacer("ok release", "info release").Replace,
	"ignores the sum of the accounts":       strings.NewReplacer(`"total":7`, `"total":9`).Replace,
	"accepts an invalid entry":              strings.NewReplacer(`"number":0`, `"number":1`).Replace,
	"ignores acknowledged writes":           strings.NewReplacer("ok work", "info work").Replace,
	"misses the writes of the third client": strings.NewReplacer("3 c3 ok work", "3 c3 fail work").Replace,
}

// Each mutant must give a wrong verdict for at least one history.
func TestMutantsOfTheCheck(t *testing.T) {
	for name, mutate := range mutants {
		wrong := 0
		for _, h := range histories {
			if got, _ := answer(t, mutate(h.events)); got != h.want {
				wrong++
			}
		}
		if wrong == 0 {
			t.Errorf("no history detects the mutant that %s: add a history for which this mutant gives a wrong verdict", name)
		}
	}
}
