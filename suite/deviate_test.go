package suite

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// mixed are results of a lock whose runs have findings that every lease has, and others: as a lock that frees
// what others hold.
func mixed() *checker.Results {
	certain := func(rule string, class checker.Class) checker.Finding {
		return checker.Finding{Rule: rule, Class: class, Gating: true, Message: rule + " " + string(class)}
	}
	doubtful := certain("overlap", checker.Undetermined)
	doubtful.Doubtful = true
	return &checker.Results{
		Verdict: checker.Fail, ExitCode: 1, Stats: checker.Figures{"grants": 9},
		Checks: map[string]checker.Result{
			checker.DataPlain: {
				Verdict: checker.Fail, Required: true,
				Findings: []checker.Finding{certain("lost-update", checker.Inherent)},
			},
			checker.MutualExclusion: {
				Verdict: checker.Fail, Required: true,
				Findings: []checker.Finding{certain("overlap", checker.Inherent), certain("overlap", checker.Defect), doubtful},
			},
			checker.Ownership: {
				Verdict: checker.Fail, Required: true,
				Findings: []checker.Finding{certain("foreign-release", checker.Defect)},
			},
			// not required
			checker.LossNotice: {Verdict: checker.Fail, Findings: []checker.Finding{certain("late-notice", checker.Defect)}},
		},
	}
}

// What makes a run other than expected are the findings that the expectation does not allow, and no others.
func TestDeviating(t *testing.T) {
	for name, c := range map[string]struct {
		expect Expectation
		want   []Deviation
	}{
		"a defect where leases may overlap": {
			Expectation{Outcome: Inherent},
			[]Deviation{{Check: checker.Ownership, Class: checker.Defect}, {Check: checker.MutualExclusion, Class: checker.Defect}},
		},
		"safe": {Expectation{Outcome: Safe}, []Deviation{
			{Check: checker.Ownership, Class: checker.Defect},
			{Check: checker.MutualExclusion, Class: checker.Defect},
			{Check: checker.MutualExclusion, Class: checker.Inherent},
			{Check: checker.DataPlain, Class: checker.Inherent},
		}},
		"as expected": {Expectation{Outcome: Defect}, nil},
		"a check": {
			Expectation{Verdicts: map[string]checker.Verdict{checker.DataPlain: checker.Pass}},
			[]Deviation{{Check: checker.DataPlain, Class: checker.Inherent}},
		},
		"a class": {
			Expectation{Classes: map[string]checker.Class{checker.MutualExclusion: checker.Inherent}},
			[]Deviation{
				{Check: checker.MutualExclusion, Class: checker.Defect},
				{Other: "mutual-exclusion: undetermined, expected inherent"},
			},
		},
		"an exit code": {Expectation{Exit: []int{0}}, []Deviation{
			{Check: checker.Ownership, Class: checker.Defect},
			{Check: checker.MutualExclusion, Class: checker.Defect},
			{Check: checker.MutualExclusion, Class: checker.Inherent},
			{Check: checker.DataPlain, Class: checker.Inherent},
		}},
		"a figure": {
			Expectation{Figures: map[string]Bound{"grants": AtMost(3)}},
			[]Deviation{{Other: "figure grants: expected at most 3"}},
		},
		"a rule": {
			Expectation{Rules: map[string][]string{checker.Ownership: {"release-of-none"}}},
			[]Deviation{{Other: "ownership: foreign-release, expected release-of-none"}},
		},
		"a check that was skipped": {
			Expectation{Verdicts: map[string]checker.Verdict{checker.FencingTokens: checker.Pass}},
			[]Deviation{{Other: "fencing-tokens: none, expected pass"}},
		},
	} {
		r := mixed()
		if got := c.expect.Deviations(r, c.expect.Compare(r.ExitCode, r)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	e := Expectation{Outcome: Inherent}
	if first := e.Deviating(mixed(), e.Compare(1, mixed()))[0]; first.Finding.Rule != "foreign-release" {
		t.Errorf("the first is %+v", first)
	}
	if got := e.Deviating(nil, e.Compare(4, nil)); got != nil {
		t.Errorf("of a run without results: %v", got)
	}
}
