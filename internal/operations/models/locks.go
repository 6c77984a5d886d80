package models

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/operations"
)

// The names that locks' operations have.
var lockNames = map[string]kind{"acquire": acquire, "lock": acquire, "try-lock": acquire, "release": release, "unlock": release}

func always(*table, *op) (bool, error) { return true, nil }

// nobody owns a free lock. An operation of anyone is one of some client.
const (
	nobody = iota
	anyone
)

// mutex: one holds it at a time, and anybody may free it. State: n is 1 while it is held.
func mutex() Model {
	return Model{
		Name: "mutex", Doc: "one holder at a time; any process can release", names: lockNames,
		make: func(_ *table, o *op) (bool, error) { o.owner = 0; return true, nil },
		step: func(s state, o class) (state, bool) {
			if o.kind == acquire {
				return state{n: 1}, s.n == 0
			}
			return state{}, s.n == 1
		},
		help: func(s state, _ class, _ []class) []class {
			if s.n == 1 {
				return []class{{kind: release}}
			}
			return []class{{kind: acquire}}
		},
		tell: func(_ *table, s state) string {
			if s.n == 1 {
				return "the lock is held"
			}
			return "the lock is free"
		},
	}
}

// owned: only its owner may free it. State: owner.
func owned() Model {
	return Model{
		Name: "owned-mutex", Doc: "only the holder can release: the client in the value's field `client`, else the one that its " +
			"process names elsewhere, else any (the process, if none is named)", names: lockNames,
		make: always,
		step: func(s state, o class) (state, bool) {
			if o.kind == acquire {
				return state{owner: o.owner}, s.owner == nobody
			}
			return state{}, s.owner == o.owner
		},
		help: helpOwner,
		tell: tellOwner,
	}
}

// helpOwner: who holds it gives it back; whoever shall give it back must hold it.
func helpOwner(s state, goal class, _ []class) []class {
	if s.owner != nobody {
		return []class{{kind: release, owner: s.owner}}
	}
	return []class{{kind: acquire, owner: goal.owner}}
}

func tellOwner(t *table, s state) string {
	if s.owner == nobody {
		return "the lock is free"
	}
	return operations.Shown(t.owners[s.owner]) + " holds the lock"
}

// reentrant: its owner may hold it several times. State: owner, n: how often.
func reentrant() Model {
	return Model{
		Name: "reentrant-mutex", Doc: "like owned-mutex; the holder may acquire again, and must release as often", names: lockNames,
		make: always,
		step: func(s state, o class) (state, bool) {
			switch {
			case o.kind == acquire:
				return state{owner: o.owner, n: s.n + 1}, s.owner == nobody || s.owner == o.owner
			case s.owner != o.owner:
				return s, false
			case s.n == 1:
				return state{}, true
			}
			return state{owner: s.owner, n: s.n - 1}, true
		},
		help: helpOwner,
		tell: func(t *table, s state) string {
			if s.n > 1 {
				return fmt.Sprintf("%s holds the lock %d times", operations.Shown(t.owners[s.owner]), s.n)
			}
			return tellOwner(t, s)
		},
	}
}

// fenced: each grant has a token greater than all before. State: owner, n: one more than the highest token so far, as
// uint64; 0: there was none. Likewise a of an operation; 0: nobody saw its token.
func fenced() Model {
	return Model{
		Name: "fenced-mutex", Doc: "like owned-mutex; the value of an acquire is a token (a number, or a map with `fence` or " +
			"`token`), larger than all before", names: lockNames, rises: true,
		make: func(_ *table, o *op) (bool, error) {
			if o.kind == release || o.call.Unknown() {
				return true, nil
			}
			token, ok := tokenOf(o.call.Out)
			if !ok {
				return false, fmt.Errorf("the value of the acquire is %s, but it must be a whole number (0 or more), or a map with such a "+
					"number in the field `fence` or `token`", operations.Text(o.call.Out))
			}
			o.a = token + 1
			return true, nil
		},
		step: func(s state, o class) (state, bool) {
			switch {
			case o.kind == release:
				return state{n: s.n}, s.owner == o.owner
			case o.a == 0: // its token was one more at least
				return state{owner: o.owner, n: s.n + 1}, s.owner == nobody && uint64(s.n) <= math.MaxInt64
			}
			return state{owner: o.owner, n: o.a}, s.owner == nobody && uint64(o.a) > uint64(s.n)
		},
		help: func(s state, goal class, known []class) []class {
			if goal.kind == acquire && (s.owner == nobody || (goal.a != 0 && uint64(goal.a) <= uint64(s.n))) {
				return nil // nothing takes a token back
			}
			if s.owner != nobody {
				return helpOwner(s, goal, known)
			}
			var out []class
			for _, c := range known {
				if c.kind == acquire && (c.owner == goal.owner || c.owner == anyone) {
					c.owner = goal.owner
					out = append(out, c)
				}
			}
			return out
		},
		tell: func(t *table, s state) string {
			if s.n == 0 {
				return tellOwner(t, s) + ", and the lock has not issued a fencing token yet"
			}
			return fmt.Sprintf("%s, and the highest token is %d", tellOwner(t, s), s.n-1)
		},
	}
}

func tokenOf(v any) (int64, bool) {
	if m, ok := v.(map[string]any); ok {
		v = m["fence"]
		if v == nil {
			v = m["token"]
		}
	}
	n, ok := v.(int64)
	return n, ok && n >= 0
}

// semaphore: so many permits are held at once, and only who holds one gives one back. State: n: how many are held; more:
// by whom.
func semaphore(permits int) Model {
	name := "semaphore"
	if permits > 1 {
		name += ":permits=" + strconv.Itoa(permits)
	}
	return Model{
		Name: name, Doc: "semaphore:permits=N: at most N permits at once; only a process that holds one can release one",
		names: lockNames,
		make: func(_ *table, o *op) (bool, error) {
			value := o.call.In
			if m, ok := value.(map[string]any); ok {
				value = cmp.Or(m["permits"], m["count"])
			}
			switch value.(type) {
			case int64, float64, operations.Number:
				if operations.Canonical(value) != "1" {
					return false, errors.New("the operation acquires or releases several permits at once: this model does not judge such " +
						"operations")
				}
			}
			return true, nil
		},
		step: func(s state, o class) (state, bool) {
			held := holders(s)
			i, found := slices.BinarySearch(held, o.owner)
			if o.kind == acquire {
				return holding(slices.Insert(held, i, o.owner)), s.n < int64(permits)
			}
			if !found {
				return s, false
			}
			return holding(slices.Delete(held, i, i+1)), true
		},
		help: func(s state, goal class, _ []class) (out []class) {
			held := holders(s)
			if _, found := slices.BinarySearch(held, goal.owner); goal.kind == release && !found && s.n < int64(permits) {
				return []class{{kind: acquire, owner: goal.owner}}
			}
			for _, owner := range slices.Compact(held) {
				out = append(out, class{kind: release, owner: owner})
			}
			return out
		},
		tell: func(t *table, s state) string {
			var names []string
			for _, owner := range holders(s) {
				names = append(names, operations.Shown(t.owners[owner]))
			}
			if len(names) == 0 {
				return fmt.Sprintf("none of the %d permits is held", permits)
			}
			return fmt.Sprintf("%d of %d permits are held (%s)", s.n, permits, strings.Join(names, ", "))
		},
	}
}

// holders are who holds a permit, sorted, each as often as it holds one.
func holders(s state) (out []int32) {
	for b := []byte(s.more); len(b) > 0; b = b[4:] {
		out = append(out, int32(binary.BigEndian.Uint32(b)))
	}
	return out
}

func holding(owners []int32) state {
	var b []byte
	for _, o := range owners {
		b = binary.BigEndian.AppendUint32(b, uint32(o))
	}
	return state{n: int64(len(owners)), more: string(b)}
}
