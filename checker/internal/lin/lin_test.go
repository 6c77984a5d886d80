package lin

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// grants are four: 0 and 1 of one owner, 2 and 3 of two others; 1 and 3 are readers.
var grants = []*history.Grant{
	{ID: "a", Client: "c1", Owner: "o"},
	{ID: "b", Client: "c1", Owner: "o", Mode: history.ModeShared},
	{ID: "c", Client: "c2", Owner: "p"},
	{ID: "d", Client: "c3", Owner: "q", Mode: history.ModeShared},
}

// seq makes operations that follow each other.
func seq(steps ...any) []Op {
	var ops []Op
	for i := 0; i < len(steps); i += 2 {
		at := int64(10 * len(ops))
		ops = append(ops, Op{Kind: steps[i].(Kind), Grant: steps[i+1].(int), Call: at, Ret: at + 5})
	}
	return ops
}

// What each model makes of the same operations, one after the other.
func TestModels(t *testing.T) {
	const yes, no = Legal, Illegal
	for _, tc := range []struct {
		what                            string
		ops                             []Op
		exclusive, readWrite, reentrant Answer
	}{
		{"twice, by one owner", seq(Acquire, 0, Acquire, 1), no, yes, yes},
		{"two owners", seq(Acquire, 0, Acquire, 2), no, no, no},
		{"two readers", seq(Acquire, 1, Acquire, 3), no, yes, no},
		{"a writer after one of two is gone", seq(Acquire, 0, Acquire, 1, Release, 1, Acquire, 2), no, no, no},
		{"a writer after both are gone", seq(Acquire, 0, Acquire, 1, Release, 1, Release, 0, Acquire, 2), no, yes, yes},
		{"released and released again", seq(Acquire, 0, Release, 0, Release, 0), no, no, no},
		{"the release of an end takes the other one", seq(Acquire, 0, Acquire, 1, May, 0, Release, 0, Acquire, 2), no, no, yes},
		{"renewed while the owner holds", seq(Acquire, 0, May, 1, Renew, 1), no, no, yes},
		{"not held, and held", seq(Acquire, 0, NotHeld, 0), no, no, no},
		{"not held by another", seq(Acquire, 0, NotHeld, 2, Renew, 0), yes, yes, yes},
		{"may have ended", seq(Acquire, 0, May, 0, Acquire, 2), yes, yes, yes},
	} {
		for kind, want := range map[string]Answer{
			"": tc.exclusive, history.ModelReadWrite: tc.readWrite,
			history.ModelReentrant: tc.reentrant,
		} {
			if got := For(history.Model{Kind: kind}, grants).Judge(tc.ops, time.Minute); got != want {
				t.Errorf("%s, %q: %v, want %v", tc.what, kind, got, want)
			}
		}
	}
}

// An end that may be is one of the lease as it was: a renewal that counts puts it off.
func TestLevels(t *testing.T) {
	m := For(history.Model{Kind: history.ModelReentrant}, grants)
	ops := seq(Acquire, 0, Renew, 0, May, 0, Acquire, 2)
	for level, want := range []Answer{Illegal, Legal} {
		ops[1].Level, ops[2].Level = 1, level
		if got := m.Judge(ops, time.Minute); got != want {
			t.Errorf("renewed once, an end of level %d: %v, want %v", level, got, want)
		}
	}
	ops = seq(Release, 0, Renew, 0, Acquire, 2)
	for _, loose := range []bool{false, true} {
		ops[0].Loose, ops[1].Loose = loose, loose
		if got := m.Judge(ops, time.Minute); (got == Legal) != loose {
			t.Errorf("loose %v: %v", loose, got)
		}
	}
}

// Without time there is no answer, and never a wrong one.
func TestTimeout(t *testing.T) {
	for kind := range map[string]bool{"": true, history.ModelReadWrite: true, history.ModelReentrant: true} {
		e := For(history.Model{Kind: kind}, grants)
		var ops []Op
		for i := range 400 { // all at once, and no order of them is legal
			ops = append(ops, Op{
				Kind: []Kind{Acquire, NotHeld}[i/2%2], Grant: i % 2 * 2, ID: fmt.Sprint(i), Call: int64(i % 7),
				Ret: 1000,
			})
		}
		if got := e.Judge(ops, time.Nanosecond); got == Legal {
			t.Errorf("%q: %v", kind, got)
		}
	}
}
