package reports

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// A page that cannot list all findings lists the worst, in order; those stand open.
func TestTheWorstIsListed(t *testing.T) {
	var all []checker.Finding
	for i := range 3 * maxFindings {
		class := checker.Inherent
		if i%50 == 49 {
			class = checker.Defect
		}
		all = append(all, finding("overlap", class, int64(i)))
	}
	r := failed(map[string][]checker.Finding{checker.MutualExclusion: all})
	for _, row := range checkRows(r, evidenceOf(r, &history.Record{}, nil, nil), nil) {
		if row.Name != checker.MutualExclusion {
			continue
		}
		if len(row.Open) != openFindings || len(row.Open)+len(row.Folded) != maxFindings || row.More != 2*maxFindings {
			t.Errorf("%d open, %d folded, %d more", len(row.Open), len(row.Folded), row.More)
		}
		defects := 0
		for i, f := range row.Open {
			if f.Class == checker.Defect {
				defects++
			}
			if i > 0 && f.From < row.Open[i-1].From {
				t.Errorf("%d after %d", f.From, row.Open[i-1].From)
			}
		}
		if defects != 2 {
			t.Errorf("%d of 2 defects stand open", defects)
		}
	}
}

// Notes, steps and faults are bounded; what is left out is counted.
func TestBoundedTables(t *testing.T) {
	r := failed(nil)
	r.Notes = make([]string, maxNotes+5)
	if n := fold(r.Notes, maxNotes, maxNotes); len(n.Open) != maxNotes || n.More != 5 {
		t.Errorf("%d notes, %d more", len(n.Open), n.More)
	}
	f := fold(make([]faultRow, maxFaults+7), openFaults, maxFaults)
	if len(f.Open) != openFaults || len(f.Open)+len(f.Folded) != maxFaults || f.More != 7 {
		t.Errorf("%d and %d faults, %d more", len(f.Open), len(f.Folded), f.More)
	}
	e := evidenceOf(r, &history.Record{}, nil, nil)
	tale := e.tale("s0", make([]Step, maxSteps+9))
	if len(tale.Open) != openSteps || len(tale.Open)+len(tale.Folded) != maxSteps || tale.More != 9 {
		t.Errorf("%d and %d steps, %d more", len(tale.Open), len(tale.Folded), tale.More)
	}
}
