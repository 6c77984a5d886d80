package mutants

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const source = `package p

func (x *T) low(a, b int) bool {
	for {
		if a < b {
			continue
		}
		if b <= a {
			continue
		}
		a -= 1
	}
}

var v = 1 - 2
`

func located(t *testing.T, places ...Place) []Mutant {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := Locate(root, places)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A mutant is the file with one token changed; its key says what, and which of several that look the same.
func TestLocate(t *testing.T) {
	all := located(t,
		Place{"p.go", 5, 8, "CONDITIONALS_BOUNDARY"},
		Place{"p.go", 6, 4, "INVERT_LOOPCTRL"},
		Place{"p.go", 8, 8, "CONDITIONALS_NEGATION"},
		Place{"p.go", 9, 4, "INVERT_LOOPCTRL"},
		Place{"p.go", 11, 5, "REMOVE_SELF_ASSIGNMENTS"},
		Place{"p.go", 15, 11, "ARITHMETIC_BASE"},
		Place{"p.go", 15, 11, "INVERT_NEGATIVES"},
	)
	want := []struct{ key, line string }{
		{"p.go: (*T).low: CONDITIONALS_BOUNDARY\n- if a < b {\n+ if a <= b {", "\t\tif a <= b {\n"},
		{"p.go: (*T).low: INVERT_LOOPCTRL\n- continue\n+ break", "\t\tif a < b {\n\t\t\tbreak\n"},
		{"p.go: (*T).low: CONDITIONALS_NEGATION\n- if b <= a {\n+ if b > a {", "\t\tif b > a {\n"},
		{"p.go: (*T).low: INVERT_LOOPCTRL #2\n- continue\n+ break", "\t\tif b <= a {\n\t\t\tbreak\n"},
		{"p.go: (*T).low: REMOVE_SELF_ASSIGNMENTS\n- a -= 1\n+ a = 1", "\t\ta = 1\n"},
		{"p.go: package: ARITHMETIC_BASE\n- var v = 1 - 2\n+ var v = 1 + 2", "var v = 1 + 2\n"},
	}
	if len(all) != len(want) {
		t.Fatalf("%d mutants, want %d: one change of two kinds is one mutant", len(all), len(want))
	}
	for i, w := range want {
		if key := all[i].Key(); key != w.key {
			t.Errorf("key:\n%s\nwant:\n%s", key, w.key)
		}
		if changed := string(all[i].Apply([]byte(source))); !strings.Contains(changed, w.line) || changed == source {
			t.Errorf("%s:\n%s", w.key, changed)
		}
	}
	if _, err := Locate(t.TempDir(), []Place{{"p.go", 1, 1, "INVERT_LOGICAL"}}); err == nil {
		t.Error("a file that is not there was located")
	}
}

// A place without the token is an error: list and file are not of one version.
func TestLocateElsewhere(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Place{{"p.go", 5, 7, "CONDITIONALS_BOUNDARY"}, {"p.go", 99, 1, "INVERT_LOGICAL"}, {"p.go", 5, 8, "ELSE"}} {
		if m, err := Locate(root, []Place{p}); err == nil {
			t.Errorf("%v: located %v", p, m)
		}
	}
}

// One seed draws one order; another seed another; and what goes leaves the order of the rest.
func TestDraw(t *testing.T) {
	var all []Mutant
	for _, f := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		all = append(all, Mutant{Place: Place{File: f}})
	}
	names := func(ms []Mutant) string {
		var out string
		for _, m := range ms {
			out += m.File
		}
		return out
	}
	first := names(Draw(all, 1))
	if again := names(Draw(all, 1)); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	if other := names(Draw(all, 2)); other == first {
		t.Errorf("seeds 1 and 2 both draw %s", first)
	}
	less := slices.DeleteFunc(slices.Clone(all), func(m Mutant) bool { return m.File == "c" })
	if got, want := names(Draw(less, 1)), strings.ReplaceAll(first, "c", ""); got != want {
		t.Errorf("without c: %s, want %s", got, want)
	}
}

// Each entry of the list has a reason, and none stands twice.
func TestEntries(t *testing.T) {
	entries, err := ReadEntries("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if len(e.Why) < 20 {
			t.Errorf("%s\nhas no reason: %q", e.Key, e.Why)
		}
		if seen[e.Key] {
			t.Errorf("%s\nstands twice", e.Key)
		}
		seen[e.Key] = true
	}
	bad := filepath.Join(t.TempDir(), "bad.txt")
	if err := os.WriteFile(bad, []byte("a: b: C\n- x\n+ y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadEntries(bad); err == nil {
		t.Error("an entry without a reason was read")
	}
}
