package plan

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// A restart is not among the first faults of a lock whose servers keep nothing: the lock would be right, and red.
func TestForgets(t *testing.T) {
	cat := harness.New(stores.All()...)
	for name, want := range map[string]bool{
		"redis-lua": true, "sql-for-update": false, "file-flock": false,
		"zk-sequential": false,
	} {
		if got := forgets(cat, []string{"file-flock", name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// InitOwn is for the tests that know the book of lockstorm, from outside.
var InitOwn = initOwn

// The points of a lock are tried, one cell each.
func TestInitTriesPoints(t *testing.T) {
	cat := harness.New(stores.All()...)
	points := pointsOf(cat, []string{"redis-lua", "redis-setnx-expire"})
	if len(points) == 0 || points[0].Backend != "redis-setnx-expire" {
		t.Fatalf("%+v", points)
	}
	text, err := initOwn("mylock", []string{"redis-setnx-expire"}, []string{"none", "client-pause"}, points)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read("own", text)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(&suite.Collection{Catalogue: cat})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := "client-pause:at=" + points[0].Name
	if !slices.ContainsFunc(cells, func(c Cell) bool { return slices.Contains(c.Case.Run.Nemesis, want) }) {
		t.Errorf("no cell with %s\n%s", want, text)
	}
}
