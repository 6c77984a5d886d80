package lin

import (
	"fmt"
	"math"

	"github.com/lockstorm/lockstorm/history"
)

// Contradiction is why a check has no verdict whose order of the operations is rejected by the replay.
func Contradiction(err error) string {
	return fmt.Sprintf("bug in lockstorm (not in the lock): lockstorm found an order of the operations, but its second test "+
		"rejects this order: %v", err)
}

// Replay carries out operations in the order that is claimed for them, on a lock of the model,
// and says what is wrong with it: one that must have taken effect is missing, one stands twice,
// one stands before another that had returned when it was invoked, or the lock would not have
// allowed it. It knows nothing of how the order was found.
func Replay(m history.Model, grants []*history.Grant, ops []Op, order []int) error {
	l := replayed{model: m, grants: grants, levels: map[int]int{}, owners: map[crew]int{}}
	done := make([]bool, len(ops))
	latest := int64(math.MinInt64)
	for _, i := range order {
		if i < 0 || i >= len(ops) || done[i] {
			return fmt.Errorf("the order contains operation %d twice, or the run has no operation with this number", i)
		}
		op := &ops[i]
		if done[i] = true; op.Ret < latest {
			return fmt.Errorf("the order of operations is wrong: the %[1]s of %[2]s ended before another operation began, but is placed "+
				"after that operation", kindNames[op.Kind], op.ID)
		}
		if latest = max(latest, op.Call); !l.step(op) {
			return fmt.Errorf("a correct lock does not allow the %s of %s at its place in the order", kindNames[op.Kind], op.ID)
		}
	}
	for i := range ops {
		if !done[i] && ops[i].Kind != May {
			return fmt.Errorf("the %s of %s is missing in the order", kindNames[ops[i].Kind], ops[i].ID)
		}
	}
	return nil
}

// replayed is a lock: who holds it, with the renewals that each was given, and how many of
// these are readers and are of one owner.
type replayed struct {
	model   history.Model
	grants  []*history.Grant
	levels  map[int]int
	readers int
	owners  map[crew]int
}

// crew has all holds of an owner, or only its writers.
type crew struct {
	client, owner string
	writers       bool
}

func (l *replayed) step(op *Op) bool {
	level, mine := l.levels[op.Grant]
	switch op.Kind {
	case Acquire:
		if mine || !l.admits(l.grants[op.Grant]) {
			return false
		}
		l.levels[op.Grant] = 0
		l.count(l.grants[op.Grant], 1)
	case Renew:
		if mine {
			l.levels[op.Grant] = max(level, op.Level)
		}
		return mine || op.Loose
	case NotHeld:
		return !mine
	case Release, May:
		if !mine || (op.Kind == May && op.Level < level) {
			return op.Kind == Release && op.Loose
		}
		delete(l.levels, op.Grant)
		l.count(l.grants[op.Grant], -1)
	}
	return true
}

// admits reports whether all who hold may hold it together with g.
func (l *replayed) admits(g *history.Grant) bool {
	if !l.model.Shares() {
		return len(l.levels) == 0
	}
	if l.reads(g) {
		return len(l.levels)-l.readers == l.owners[crew{g.Client, g.Owner, true}]
	}
	return len(l.levels) == l.owners[crew{g.Client, g.Owner, false}]
}

func (l *replayed) reads(g *history.Grant) bool {
	return !l.model.Counts() && g.Mode == history.ModeShared
}

func (l *replayed) count(g *history.Grant, by int) {
	if !l.model.Shares() {
		return
	}
	l.owners[crew{g.Client, g.Owner, false}] += by
	if l.reads(g) {
		l.readers += by
	} else {
		l.owners[crew{g.Client, g.Owner, true}] += by
	}
}
