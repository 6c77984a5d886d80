package hunt

import (
	"errors"
	"math/rand/v2"
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
	j := judged(t, h)
	if j == nil {
		return 0, 0
	}
	for _, f := range j.found {
		if _, err := j.verify.Verify(f.claim, f.proof); err != nil && !errors.Is(err, proof.ErrJudge) {
			t.Errorf("seed %d, step %d: what was found is refused: %v\n%+v\n%+v", seed, step, err, f.claim, *f.proof)
		}
	}
	r := rand.New(rand.NewPCG(seed, 4))
	for range 10 {
		f := j.draw(r)
		tried++
		if _, err := j.verify.Verify(f.claim, f.proof); err != nil {
			continue
		}
		accepted++
		if said, known := j.said(f.claim); !said && known && !j.another(f.claim) {
			t.Errorf("seed %d, step %d: %s, and accepted: %+v\n%+v", seed, step, f.how, f.claim, *f.proof)
		}
	}
	return tried, accepted
}

// another reports whether a claim is as true as what the judge says of the same grant: where a lock was given while two others
// held it, the judge names one of them.
func (j *forged) another(c proof.Claim) bool {
	said := j.results.Checks[c.Check].Findings
	return c.Check == checker.LockLinearizability && slices.ContainsFunc(said, func(f checker.Finding) bool {
		return f.Rule == c.Rule && f.From == c.From && len(c.Grants) > 1 && f.Grants[len(f.Grants)-1] == c.Grants[len(c.Grants)-1]
	})
}
