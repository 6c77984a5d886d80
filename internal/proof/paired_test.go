package proof

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// Where a proof needs the grants around those of its claim, the last events of clients are looked at, too. An answer among them
// whose request is not is left out: else nothing fits, and the proof found would be refused.
func TestPaired(t *testing.T) {
	h, err := history.ParseText(strings.NewReader(`run ends=never
0ms 1 c1 invoke acquire lock=L grant=a
2ms 1 c1 ok     acquire lock=L grant=a
3ms 1 c1 invoke release lock=L grant=a
4ms 1 c1 ok     release lock=L grant=a
end
`))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	var some, kept []history.Event
	for _, e := range rec.Events {
		if e.F() != history.FRelease || e.Type() != history.Invoke {
			some = append(some, e)
		}
		if e.F() != history.FRelease {
			kept = append(kept, e)
		}
	}
	if err := built(rec.Run, some).fits(); err == nil {
		t.Error("an answer without its request fits")
	}
	got := paired(some, built(rec.Run, some).Unpaired)
	if err := built(rec.Run, got).fits(); err != nil || len(got) != len(kept) {
		t.Errorf("%d events, want %d: %v", len(got), len(kept), err)
	}
}
