package lin

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// Orders that are not one of the lock, or not one in time, are rejected.
func TestReplayRejects(t *testing.T) {
	ops := seq(Acquire, 0, Renew, 0, Release, 0, NotHeld, 0, Acquire, 2)
	for _, order := range [][]int{
		{0, 1, 2, 3},
		{0, 1, 1, 2, 3, 4},
		{1, 0, 2, 3, 4},
		{0, 1, 3, 2, 4},
		{0, 1, 2, 4, 9},
		{4, 0, 1, 2, 3},
	} {
		if Replay(history.Model{}, grants, ops, order) == nil {
			t.Errorf("order %v is accepted", order)
		}
	}
	if err := Replay(history.Model{}, grants, ops, []int{0, 1, 2, 3, 4}); err != nil {
		t.Error(err)
	}
	for i := range ops { // all at one time: only the lock forbids
		ops[i].Call, ops[i].Ret = 0, 0
	}
	for _, kind := range []string{history.ModelExclusive, history.ModelReadWrite, history.ModelReentrant} {
		for _, order := range [][]int{{1, 0, 2, 3, 4}, {0, 1, 3, 2, 4}, {0, 4, 1, 2, 3}, {0, 2, 1, 3, 4}} {
			if Replay(history.Model{Kind: kind}, grants, ops, order) == nil {
				t.Errorf("%s: order %v is accepted", kind, order)
			}
		}
	}
}
