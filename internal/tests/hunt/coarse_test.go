package hunt

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// Judge and verifier agree where times are equal, too, and where clients do and are told anything. HUNT_COARSE is how many
// histories are hunted.
func TestCoarse(t *testing.T) {
	tried, accepted := 0, 0
	for seed := uint64(1); seed <= uint64(setting.Random(t, "HUNT_COARSE", 100)); seed++ {
		n, ok := agrees(t, sim.Grid(seed), seed, 0)
		tried, accepted = tried+n, accepted+ok
		h := historyOf(seed)
		if h == nil {
			continue
		}
		rec, err := history.Build(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []int64{rec.Run.Tolerance / 2, rec.Run.Tolerance, 2 * rec.Run.Tolerance, rec.Run.TTL / 10} {
			if step <= 0 {
				continue
			}
			n, ok := agrees(t, sim.Coarse(h, step), seed, step)
			tried, accepted = tried+n, accepted+ok
		}
	}
	t.Logf("%d forgeries, %d accepted", tried, accepted)
}

func agrees(t *testing.T, h *history.History, seed uint64, step int64) (tried, accepted int) {
	t.Helper()
	if j := judged(t, h); j != nil {
		return j.forges(t, fmt.Sprintf("seed %d, step %d", seed, step), seed)
	}
	return 0, 0
}

// another reports whether a claim is as true as what the judge says of the same grant: where a lock was given while two others
// held it, the judge names one of them.
func (j *forged) another(c proof.Claim) bool {
	said := j.results.Checks[c.Check].Findings
	return c.Check == checker.LockLinearizability && slices.ContainsFunc(said, func(f checker.Finding) bool {
		return f.Rule == c.Rule && f.From == c.From && len(c.Grants) > 1 && f.Grants[len(f.Grants)-1] == c.Grants[len(c.Grants)-1]
	})
}
