package campaign

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// Searches of a cell read what the others have learnt, once, and nothing of other cells; one that begins again is read from its
// start.
func TestShare(t *testing.T) {
	c := begun(t, "share", 2, 3)
	of := func(cell int, seed uint64) search.Share {
		s := &gate.Suite{}
		c.share(s, Task{cell, seed})
		return s.Share(c.Definition.Cells[cell], seed)
	}
	ctx := t.Context()
	first, second, third, elsewhere := of(0, 1), of(0, 2), of(0, 3), of(1, 1)
	entry := func(clients int) *search.Entry {
		return &search.Entry{Genome: search.Genome{Clients: clients}, Features: []uint64{uint64(clients)}}
	}
	give := func(s search.Share, all ...*search.Entry) {
		t.Helper()
		if err := s.Give(ctx, all); err != nil {
			t.Fatal(err)
		}
	}
	reads := func(s search.Share, want ...int) {
		t.Helper()
		all, err := s.Others(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, e := range all {
			got = append(got, e.Genome.Clients)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("read %v, want %v", got, want)
		}
	}
	reads(first)
	give(first, entry(2))
	give(elsewhere, entry(9))
	reads(second, 2)
	reads(second)
	give(first, entry(2), entry(3))
	give(second, entry(4))
	reads(second, 3)
	reads(third, 2, 3, 4)
	reads(first, 4)
	give(of(0, 1), entry(5))
	reads(third, 5)
	reads(elsewhere)
}

// A violation that several searches of a cell found is one, in what is said of the campaign too; one machine that was lost loses
// nothing.
func TestFoundOnce(t *testing.T) {
	c := begun(t, "found", 1, 3)
	w := worker(t, c, "w", 1, time.Millisecond)
	do := w.Do
	w.Do = func(ctx context.Context, s *gate.Suite, cell plan.Cell, seed uint64, attempt int) (*gate.RunResult, error) {
		if s.Share == nil {
			t.Error("a search of a campaign learns alone")
		}
		o, err := do(ctx, s, cell, seed, attempt)
		if err == nil {
			o.Search = &gate.Searched{Violations: [][]string{{"a", "b"}, {"b"}, nil}[seed-1]}
		}
		return o, err
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := c.State(t.Context(), catalogue())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Found["cell-0"]; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("found %v", s.Found)
	}
	if n := ended(t, c, filepath.Join(t.TempDir(), "out")); n != 3 {
		t.Errorf("%d attempts", n)
	}
}
