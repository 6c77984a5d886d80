package hunt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

func known(t *testing.T) map[string]Known {
	t.Helper()
	list, err := ReadKnown("testdata/known.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Known{}
	for _, k := range list {
		out[k.Kind] = k
	}
	return out
}

// Judge and oracle agree on every history, but for the kinds of disagreements that are
// listed.
//
// HUNT_N and HUNT_SEED make the hunt longer; HUNT_WRITE=1 writes a fixture of every kind of
// disagreement that is not listed, for testdata/known.txt.
func TestHunt(t *testing.T) {
	listed := known(t)
	isKnown := func(kind string) bool { _, ok := listed[kind]; return ok }
	table, err := Hunt(uint64(setting.Number(t, "HUNT_SEED", 1)), setting.Random(t, "HUNT_N", 1200), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	table.Print(&text, isKnown)
	t.Log("\n" + text.String())
	for _, name := range table.Names() {
		if !isKnown(name) {
			show(t, table.Kinds[name].First, name)
		}
	}
	for name, row := range table.Rows {
		if row.Struck == 0 && row.Histories > 20 {
			t.Errorf("%s: no place was found in %d histories", name, row.Histories)
		}
	}
}

// show fails with what a new kind of disagreement is about.
func show(t *testing.T, c Case, kind string) {
	t.Helper()
	o, err := c.Play()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range o.Disagreements {
		if d.Kind() == kind {
			t.Errorf("new: %s, seed %d:\n%s", kind, c.Seed, d.Text)
			break
		}
	}
	if setting.Number(t, "HUNT_WRITE", 0) > 0 {
		write(t, c, kind)
	}
}

func write(t *testing.T, c Case, kind string) {
	t.Helper()
	f, err := Shrunk(c, kind)
	if err != nil {
		t.Fatal(err)
	}
	name, err := f.Write("testdata/known", strings.NewReplacer(" ", "-", "/", "-").Replace(kind))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s | %s | \n", kind, name)
}

// Every kind that is listed still shows by its fixture: the list can only shrink.
func TestKnown(t *testing.T) {
	for kind, k := range known(t) {
		f, err := ReadFixture(filepath.Join("testdata", "known", k.Fixture))
		if err != nil {
			t.Fatal(err)
		}
		if !f.shows(f.History) {
			t.Errorf("%q no longer shows in %s: take it out of testdata/known.txt", kind, k.Fixture)
		}
		if k.About == "" {
			t.Errorf("%q does not say what it is about", kind)
		}
	}
}
