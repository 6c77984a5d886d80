package checker

import "testing"

// What a finding cost is the greatest loss of data between two of its own grants, of which one is the writer; a loss
// of others, one that shares a single grant, and one by a third grant between two of its own are not its.
func TestLossOf(t *testing.T) {
	lost := func(n int64, grants ...string) Finding { return Finding{Rule: "lost-update", Lost: n, Grants: grants} }
	overlap := &Finding{Rule: "overlap", Grants: []string{"a", "b"}}
	for _, c := range []struct {
		name          string
		plain, fenced []Finding
		want          int64
	}{
		{"nothing was lost", nil, nil, 0},
		{"between its grants", []Finding{lost(2, "a", "b")}, nil, 2},
		{"either wrote", []Finding{lost(2, "b", "a")}, nil, 2},
		{"among more", []Finding{lost(3, "b", "c", "a")}, nil, 3},
		{"of others", []Finding{lost(2, "c", "d")}, nil, 0},
		{"one grant is no pair", []Finding{lost(2, "a", "c")}, nil, 0},
		{"a third one wrote", []Finding{lost(2, "c", "a", "b")}, nil, 0},
		{"a finding without a loss", []Finding{lost(0, "a", "b")}, nil, 0},
		{"the greatest", []Finding{lost(1, "a", "b"), lost(4, "b", "a"), lost(2, "a", "b")}, []Finding{lost(3, "a", "b")}, 4},
		{"of both registers", []Finding{lost(1, "a", "b")}, []Finding{lost(3, "a", "b")}, 3},
		{"the greatest of others is not its", []Finding{lost(1, "a", "b"), lost(9, "c", "d")}, nil, 1},
	} {
		r := &Results{Checks: map[string]Result{
			DataPlain: {Findings: c.plain}, DataFenced: {Findings: c.fenced}, MutualExclusion: {Findings: []Finding{*overlap}},
		}}
		var got int64
		if d := r.LossOf(overlap); d != nil {
			got = d.Lost
			if c.want == 0 {
				t.Errorf("%s: a finding without a loss is given as one", c.name)
			}
		}
		if got != c.want {
			t.Errorf("%s: %d lost, want %d", c.name, got, c.want)
		}
		r.cost()
		if told := r.Checks[MutualExclusion].Findings[0].Lost; told != c.want {
			t.Errorf("%s: the finding says %d lost, want %d", c.name, told, c.want)
		}
	}
}

// Of two equal losses the first one is told.
func TestLossOfTheFirst(t *testing.T) {
	two := []Finding{{Lost: 1, Grants: []string{"a", "b"}}, {Lost: 1, Grants: []string{"b", "a"}}}
	r := &Results{Checks: map[string]Result{DataPlain: {Findings: two}}}
	if got := r.LossOf(&Finding{Grants: []string{"a", "b"}}); got != &two[0] {
		t.Errorf("%+v is told", got)
	}
}
