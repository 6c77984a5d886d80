package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// grantsOf are the grants of a finding that are on record.
func grantsOf(rec *history.Record, f *checker.Finding) (out []*history.Grant) {
	for _, id := range f.Grants {
		if g := rec.ByID[id]; g != nil {
			out = append(out, g)
		}
	}
	return out
}

// clientsOf are the clients of a finding's grants, in the order of the grants.
func clientsOf(rec *history.Record, f *checker.Finding) (clients []string) {
	for _, g := range grantsOf(rec, f) {
		if !slices.Contains(clients, g.Client) {
			clients = append(clients, g.Client)
		}
	}
	if f.Rule == ruleDeadlocked {
		slices.SortFunc(clients, byName)
	}
	return clients
}

// listed names the first of several.
func listed(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, " and ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// and names a few.
func and(names []string) string {
	if n := len(names); n > 2 && n < 5 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return listed(names, 3)
}

// maxName is how much of a name a sentence can bear.
const maxName = 60

func lockOf(rec *history.Record, f *checker.Finding) string {
	if of := grantsOf(rec, f); len(of) > 0 {
		return "lock " + cut(of[0].Lock, maxName)
	}
	if len(rec.Locks) == 1 {
		return "lock " + cut(rec.Locks[0], maxName)
	}
	return "the lock"
}

// toldLate is how long after the end of its lease the first holder was told of the loss.
func toldLate(h *happening) (late int64, known bool) {
	over := int64(-1)
	for _, s := range h.steps {
		switch {
		case s.Kind == StepLeaseOver && over < 0:
			over = s.At
		case s.Kind == StepTold && over >= 0:
			return s.At - over, true
		}
	}
	return 0, false
}

// registers are those whose losses are told.
var registers = []string{facts.RegPlain, facts.RegFenced, regLedger}
