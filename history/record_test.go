package history

import (
	"strings"
	"testing"
)

func record(t *testing.T, text string) *Record {
	t.Helper()
	h, err := ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Build(h)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBuildListsWhatDoesNotFit(t *testing.T) {
	r := record(t, "run\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 1 c1 invoke acquire lock=L grant=b\n2ms 1 c1 ok release "+
		"grant=b\n")
	if len(r.Twice) != 1 || len(r.Unpaired) != 1 {
		t.Fatalf("%d overlapping, %d unpaired returns", len(r.Twice), len(r.Unpaired))
	}
}
