package campaign

import (
	"encoding/json"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// What is said of a campaign counts tasks where they are done, attempts where they were made, and no control. The rate is that of
// the last minutes, and of what the host did not disturb.
func TestStateCounts(t *testing.T) {
	m := manifest(t, "counts", 3, 2)
	m.Definition.Cells[2].Control = true
	b := &board{m: m, results: map[owner]map[int]*Result{}}
	now := time.Now()
	put := func(cell int, seed uint64, attempt int, machine string, status gate.Status, ago time.Duration) {
		t.Helper()
		r := Result{Machine: machine, Outcome: gate.RunResult{
			Cell: m.Definition.Cells[cell].Case.Name, Seed: seed, Status: status, Host: status == gate.Inconclusive,
			Exit: map[gate.Status]int{gate.Broken: harness.ExitEnvironment}[status], Began: now.Add(-ago), Took: time.Minute,
		}}
		value, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		control := ""
		if m.Definition.Cells[cell].Control {
			control = machine
		}
		if err := b.add(m.key(Task{cell, seed}, control, attempt), value); err != nil {
			t.Fatal(err)
		}
	}
	count := func() *State {
		s := &State{Of: 4, Done: b.count(), Statuses: map[gate.Status]int{}}
		s.count(b)
		return s
	}
	if s := count(); s.Attempts != 0 || s.Rate != 0 || s.Left != 0 || s.Done != 0 {
		t.Errorf("of nothing: %+v", s)
	}
	put(0, 1, 0, "a", gate.Inconclusive, 4*time.Minute) // the host disturbed it: it was made again
	put(0, 1, 1, "a", gate.Violation, 3*time.Minute)
	put(0, 2, 0, "a", gate.Inconclusive, 3*time.Minute) // and is to be made again
	put(1, 1, 0, "a", gate.Broken, 2*time.Minute)       // what is missing on two machines is missing
	put(1, 1, 1, "b", gate.Broken, 2*time.Minute)
	put(1, 2, 0, "a", gate.Expected, time.Hour)    // too long ago for the rate
	put(2, 1, 0, "a", gate.Violation, time.Minute) // a control
	s := count()
	want := map[gate.Status]int{gate.Violation: 1, gate.Broken: 1, gate.Expected: 1}
	if s.Done != 3 || s.Attempts != 6 || s.Disturbed != 4 || !maps.Equal(s.Statuses, want) {
		t.Errorf("done %d, attempts %d, disturbed %d, %v", s.Done, s.Attempts, s.Disturbed, s.Statuses)
	}
	if math.Abs(s.Rate-1.0/3) > 0.01 || math.Abs(s.Left.Minutes()-3) > 0.1 {
		t.Errorf("%.3f runs per minute, %v left", s.Rate, s.Left)
	}
}
