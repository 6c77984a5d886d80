package checker

import "testing"

// What is left out of the list cannot change the answer.
func TestConcludeListsTheWorst(t *testing.T) {
	many := func(f Finding) []Finding {
		out := make([]Finding, 150)
		for i := range out {
			out[i] = f
			out[i].From = int64(i)
		}
		return out
	}
	quiet := Finding{Class: Inherent}
	doubtful := Finding{Class: Inherent, Gating: true, Doubtful: true}
	certain := Finding{Class: Defect, Gating: true, From: 1 << 40}
	for name, tc := range map[string]struct {
		findings []Finding
		want     Verdict
		worst    Finding
	}{
		"nothing":                   {nil, Pass, Finding{}},
		"a defect behind the quiet": {append(many(quiet), certain), Fail, certain},
		"certain behind doubt":      {append(many(doubtful), certain), Fail, certain},
		"doubt alone":               {many(doubtful), Unknown, doubtful},
		"quiet and doubtful":        {append(many(quiet), doubtful), Unknown, doubtful},
		"quiet alone":               {many(quiet), Fail, quiet},
		"quiet doubt":               {[]Finding{{Class: Inherent, Doubtful: true}}, Fail, Finding{Class: Inherent, Doubtful: true}},
	} {
		r := Conclude("m", tc.findings, len(tc.findings))
		if r.Verdict != tc.want || len(r.Findings) > MaxFindings {
			t.Errorf("%s: %s with %d findings, want %s", name, r.Verdict, len(r.Findings), tc.want)
		}
		found := len(tc.findings) == 0
		for _, f := range r.Findings {
			found = found || f.severity() == tc.worst.severity()
		}
		if !found {
			t.Errorf("%s: the worst finding is not listed", name)
		}
	}
}
