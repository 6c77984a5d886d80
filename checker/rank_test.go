package checker

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The findings of all checks have one order: what is certain, defects, root causes, losses, lengths.
func TestRank(t *testing.T) {
	want := []Found{
		{Ownership, Finding{Rule: "foreign-release", Class: Defect, Gating: true}},
		{LockLinearizability, Finding{Rule: "foreign-release", Class: Defect, Gating: true}},
		{Ownership, Finding{Rule: "foreign-release", Class: Defect, Gating: true, Lost: 5, CauseKind: CauseRelease}},
		{MutualExclusion, Finding{Rule: "overlap", Class: Defect, Gating: true, Lost: 2, To: 1}},
		{MutualExclusion, Finding{Rule: "overlap", Class: Defect, Gating: true, Lost: 1, To: 99}},
		{MutualExclusion, Finding{Rule: "overlap", Class: Defect, Gating: true, From: 10, To: 30}},
		{MutualExclusion, Finding{Rule: "overlap", Class: Defect, Gating: true, From: 1, To: 2}},
		{LockLinearizability, Finding{Rule: "double-grant", Class: Defect, Gating: true}},
		{FencingTokens, Finding{Rule: "duplicate", Class: Defect, Gating: true}},
		{DataPlain, Finding{Rule: "lost-update", Class: Defect, Gating: true, Lost: 9}},
		{Liveness, Finding{Rule: "no-recovery", Class: NoClass, Gating: true}},
		{MutualExclusion, Finding{Rule: "overlap", Class: Inherent, Gating: true}},
		{DataPlain, Finding{Rule: "lost-update", Class: Inherent, Gating: true, Lost: 9}},
		{Ownership, Finding{Rule: "foreign-release", Class: Defect, Gating: true, Doubtful: true}},
		{MutualExclusion, Finding{Rule: "overlap", Class: Inherent}},
	}
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, RankFound)
	for i := range want {
		if got[i].Check != want[i].Check || Rank(got[i].Finding, want[i].Finding) != 0 {
			t.Errorf("place %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// The longest overlap is among what is listed, however many there are: the figure of it has its finding.
func TestTheLongestIsListed(t *testing.T) {
	var all []Finding
	for i := range int64(500) {
		all = append(all, Finding{Rule: "overlap", Class: Defect, Gating: true, From: i, To: i + 1 + i%7})
	}
	all = append(all, Finding{Rule: "overlap", Class: Defect, Gating: true, From: 1000, To: 2000})
	r := Conclude("m", all, len(all))
	if last := r.Findings[len(r.Findings)-1]; last.From != 1000 {
		t.Errorf("listed up to %+v", last)
	}
}
