package gate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// What is to be found is found, made smaller, and stands in the place of a run; a search that finds nothing has the run that came
// nearest. Each is judged, linked and repeated as any other run.
func TestSearchedCells(t *testing.T) {
	t.Parallel()
	cells := expand(t, `
name: searched
run: {ttl: 400ms}
include:
  - explore: {for: 8s, only: client-pause}
    run: {backend: none}
    outcome: defect
  - explore: {for: 8s, only: client-pause}
    run: {backend: file-flock, fail-on: defect}
`)
	s := suiteOf(t, cells)
	cat := harness.New(stores.All()...)
	if err := (&Runner{Catalogue: cat}).Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r := keptBy(t, s)
	if r.Answer != nil {
		t.Errorf("locks are ranked by runs that a search has chosen: %+v", r.Answer)
	}
	for _, j := range r.Cells {
		if j.Control {
			continue
		}
		o := j.Runs[0]
		if o.Exit == harness.ExitUnknown && o.Checks == nil { // a busy host: no run had ended in time
			t.Logf("%s: %s", j.Name, j.Why)
			continue
		}
		switch {
		case j.Column != "explore" || o.Search == nil || o.Search.Runs == 0 || o.Search.Features == 0:
			t.Errorf("%s: column %s, search %+v", j.Name, j.Column, o.Search)
		case j.Status == Inconclusive: // a busy host
			t.Logf("%s: %s", j.Name, j.Why)
			continue
		case j.Status != Expected:
			t.Errorf("%s: %s: %v", j.Name, j.Status, j.Why)
		case (j.Row == "none") != (len(o.Search.Violations) > 0):
			t.Errorf("%s: violations %v", j.Name, o.Search.Violations)
		}
		dir := filepath.Join(s.Dir, o.Dir)
		for _, name := range []string{harness.ReportFile, harness.TrialFile, filepath.Join(searchDir, "corpus.jsonl")} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		if _, err := harness.JudgeDir(cat, dir); err != nil {
			t.Error(err)
		}
		kept := expand(t, "include:\n  - {trial: "+dir+", outcome: any, seeds: [3, 7]}\n")
		i := slices.IndexFunc(kept, func(c plan.Cell) bool { return !c.Control })
		if kept[i].Case.Seeded(7).Run.Seed != seedIn(t, dir) ||
			len(kept[i].Seeds) != 2 {
			t.Errorf("%s: a kept trial of seeds %v has seed %d", j.Name, kept[i].Seeds, kept[i].Case.Seeded(7).Run.Seed)
		}
	}
	again, err := Load(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if second := judged(t, again); !slices.Equal(verdicts(r), verdicts(second)) {
		t.Errorf("read again: %v, was %v", verdicts(second), verdicts(r))
	}
}

// seedIn is the seed of the run in a directory.
func seedIn(t *testing.T, dir string) uint64 {
	t.Helper()
	cfg, err := madeWith(dir)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Seed
}
