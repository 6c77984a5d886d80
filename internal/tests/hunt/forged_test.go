package hunt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// What was found is accepted as it is, and of what was changed or invented only what the judge says, too. HUNT_FORGED is how
// many forgeries are tried; HUNT_RECORDS is a directory with runs whose records are used beside the simulated ones.
func TestForged(t *testing.T) {
	most := setting.Random(t, "HUNT_FORGED", 3000)
	records := realRecords(t)
	tried, accepted := 0, 0
	for seed := uint64(1); tried < most; seed++ {
		name := fmt.Sprintf("seed %d", seed)
		var j *forged
		if len(records) > 0 && seed%2 == 0 {
			name = records[int(seed/2)%len(records)]
			j = recorded(t, name)
		} else {
			j = simulated(t, seed)
		}
		if j == nil {
			continue
		}
		n, ok := j.forges(t, name, seed)
		tried, accepted = tried+n, accepted+ok
	}
	t.Logf("%d forgeries, %d accepted", tried, accepted)
}

// forges wants what was found to be accepted, and of ten forgeries only what the judge says, too.
func (j *forged) forges(t *testing.T, name string, seed uint64) (tried, accepted int) {
	t.Helper()
	for _, f := range j.found {
		if _, err := j.verify.Verify(f.claim, f.proof); err != nil && !errors.Is(err, proof.ErrJudge) {
			t.Errorf("%s: what was found is refused: %v\n%+v\n%+v", name, err, f.claim, *f.proof)
		}
	}
	r := rand.New(rand.NewPCG(seed, 4))
	for ; tried < 10; tried++ {
		f := j.draw(r)
		if _, err := j.verify.Verify(f.claim, f.proof); err != nil {
			continue
		}
		accepted++
		if said, known := j.said(f.claim); !said && known && !j.another(f.claim) {
			t.Errorf("%s: %s, and accepted: %+v\n%+v", name, f.how, f.claim, *f.proof)
		}
	}
	return tried, accepted
}

// simulated is the record of a seed, judged; nil where it is unsound.
func simulated(t *testing.T, seed uint64) *forged {
	t.Helper()
	h := historyOf(seed)
	if h == nil {
		return nil
	}
	return judged(t, h)
}

// historyOf is the history of a seed; nil where its record is damaged.
func historyOf(seed uint64) *history.History {
	cfg := sim.DrawVaried(seed)
	if c := Cases(seed); c.Plant != nil {
		if c.Plant.Edit != nil {
			return nil
		}
		cfg = sim.Draw(seed)
		cfg.Bug = c.Plant.Bug
		if c.Plant.Prepare != nil {
			c.Plant.Prepare(&cfg)
		}
	}
	return sim.Run(cfg).History
}

func judged(t *testing.T, h *history.History) *forged {
	t.Helper()
	r, err := Judge(h)
	if err != nil {
		t.Fatal(err)
	}
	if r.Checks[checker.Assumptions].Verdict == checker.Unknown {
		return nil
	}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	return forgedOf(rec, r)
}

// realRecords are the runs in HUNT_RECORDS.
func realRecords(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("HUNT_RECORDS")
	if dir == "" {
		return nil
	}
	runs, err := filepath.Glob(filepath.Join(dir, "*", history.File))
	if err != nil || len(runs) == 0 {
		t.Fatalf("HUNT_RECORDS: no runs in %s: %v", dir, err)
	}
	return runs
}

var read = map[string]*forged{}

func recorded(t *testing.T, path string) *forged {
	t.Helper()
	j, known := read[path]
	if !known {
		h, err := history.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		j = judged(t, h)
		read[path] = j
	}
	return j
}
