package hunt

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/oracle"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// overlapping is a simulation with an inherent overlap, and what is wanted of its judge.
func overlapping(t *testing.T) (*checker.Results, []oracle.Want, uint64) {
	t.Helper()
	for seed := uint64(2); seed < 4000; seed += 2 {
		tr := sim.Run(sim.Draw(seed))
		wants := oracle.Wants(tr)
		i := slices.IndexFunc(wants, func(w oracle.Want) bool {
			return w.Must && w.Check == checker.MutualExclusion && w.Blame != nil && len(w.Blame.Right) > 0
		})
		if i < 0 {
			continue
		}
		r, err := Judge(tr.History)
		if err != nil {
			t.Fatal(err)
		}
		if len(Compare(wants, r)) == 0 && len(r.Checks[checker.MutualExclusion].Findings) == 1 {
			return r, wants, seed
		}
	}
	t.Fatal("no simulation has an overlap that a fault explains")
	return nil, nil, 0
}

// A judge that errs is caught, in each of the ways in which it can err.
func TestCompareFindsErrors(t *testing.T) {
	r, wants, seed := overlapping(t)
	right := r.Checks[checker.MutualExclusion]
	for sort, err := range map[string]func(*checker.Result){
		Miss:  func(c *checker.Result) { c.Findings = nil },
		Class: func(c *checker.Result) { c.Findings[0].Class = checker.Defect },
		Cause: func(c *checker.Result) { c.Findings[0].CauseKind, c.Findings[0].Fault = checker.CauseOverrun, 0 },
		False: func(c *checker.Result) {
			c.Findings = append(c.Findings, checker.Finding{Rule: "overlap", Grants: []string{"c1-1", "c9-9"}})
		},
		Doubt: func(c *checker.Result) { c.Verdict, c.Code = checker.Unknown, checker.CodePanicked },
	} {
		wrong := right
		wrong.Findings = slices.Clone(right.Findings)
		err(&wrong)
		r.Checks[checker.MutualExclusion] = wrong
		d := Compare(wants, r)
		if !slices.ContainsFunc(d, func(d Disagreement) bool { return d.Sort == sort }) {
			t.Errorf("seed %d: an error of sort %q was not seen: %v", seed, sort, d)
		}
	}
}

// A figure that is not the true one, a check that finds nothing and answers wrongly, and one of many findings that is
// missing are disagreements, too.
func TestCompareFindsWrongAnswers(t *testing.T) {
	many := make([]checker.Finding, 100)
	for i := range many {
		many[i] = checker.Finding{Rule: "overlap", Grants: []string{"c1-1", "c2-1"}}
	}
	r := &checker.Results{
		Order: []string{checker.Once, checker.Coverage, checker.MutualExclusion},
		Checks: map[string]checker.Result{
			checker.Assumptions:     {Verdict: checker.Pass},
			checker.Once:            {Verdict: checker.Pass, Figures: checker.Figures{"jobs_twice": 1}},
			checker.Coverage:        {Verdict: checker.Unknown},
			checker.MutualExclusion: {Verdict: checker.Fail, Findings: many},
		},
	}
	listed := oracle.Want{Check: checker.MutualExclusion, Rules: []string{"overlap"}, Grants: []string{"c1-1", "c2-1"}, Must: true}
	for want, w := range map[string]oracle.Want{
		"figure once jobs_twice":  {Check: checker.Once, Figure: "jobs_twice", Value: 2},
		"figure once periods":     {Check: checker.Once, Figure: "periods", Value: 2},
		"answer coverage unknown": {Check: checker.Coverage, Verdicts: []string{"pass"}},
		"miss mutual-exclusion overlap": {
			Check: checker.MutualExclusion, Rules: []string{"overlap"}, Grants: []string{"c1-1", "c3-1"},
			Must: true,
		},
		"": {Check: checker.Once, Figure: "jobs_twice", Value: 1},
	} {
		d := Compare([]oracle.Want{listed, w}, r)
		if want == "" && len(d) > 0 || want != "" && (len(d) != 1 || d[0].Kind() != want) {
			t.Errorf("%q: got %v", want, d)
		}
	}
}

// A sound record that is not believed is a disagreement of its own.
func TestCompareFindsDisbelief(t *testing.T) {
	r, wants, _ := overlapping(t)
	r.Checks[checker.Assumptions] = checker.Result{Verdict: checker.Unknown, Findings: []checker.Finding{{Rule: "seq"}}}
	if d := Compare(wants, r); len(d) != 1 || d[0].Kind() != "unsound assumptions seq" {
		t.Errorf("got %v", d)
	}
}
