package exclusion

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/plant"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// What is listed of many overlaps is what explaining all of them and ranking them would list.
func TestWorstOverlapsAreTheWorst(t *testing.T) {
	several := 0
	for _, p := range plant.Services() {
		for seed := range uint64(25) {
			cfg := sim.Draw(seed)
			if cfg.Bug = p.Bug; p.Prepare != nil {
				p.Prepare(&cfg)
			}
			facts, err := checker.NewInput(sim.Run(cfg).History)
			if err != nil {
				t.Fatal(err)
			}
			in := of(facts)
			all, want := in.Overlaps(""), []checker.Finding(nil)
			for _, lock := range in.Locks {
				of := in.Overlaps(lock)
				all = append(all, of...)
				for _, o := range of {
					class, reason, why := in.Classify(o)
					f := in.overlapFinding(o, class, reason, why)
					in.Settle(&f)
					want = append(want, f)
				}
			}
			if len(all) > 3 {
				several++
			}
			slices.SortStableFunc(want, checker.Rank)
			for _, most := range []int{1, 3, checker.MaxFindings} {
				got := in.worstOverlaps(all, most)
				w := withLongest(want, min(most, len(want)))
				if len(got) != len(w) || (len(w) > 0 && !reflect.DeepEqual(got, w)) {
					t.Fatalf("%s, seed %d: of %d overlaps these are listed:\n%v\nwant:\n%v", p.Name, seed, len(all), got, w)
				}
			}
		}
	}
	if several < 10 {
		t.Errorf("only %d records have several overlaps", several)
	}
}

// withLongest are the first of some findings, the last one replaced by the longest of all if none is as long.
func withLongest(all []checker.Finding, most int) []checker.Finding {
	out := slices.Clone(all[:most])
	length := func(f checker.Finding) int64 { return f.To - f.From }
	longer := func(a, b checker.Finding) int { return int(length(a) - length(b)) }
	if most < 2 || length(slices.MaxFunc(out, longer)) == length(slices.MaxFunc(all, longer)) {
		return out
	}
	out[most-1] = slices.MaxFunc(all, longer)
	return out
}
