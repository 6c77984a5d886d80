package models

import (
	"errors"

	"github.com/lockstorm/lockstorm/internal/operations"
)

// register holds a value. State: n: which one, by its number in the table.
func register(initial string) Model {
	name := "register"
	if initial != "" {
		name += ":initial=" + initial
	}
	return Model{
		Name: name, initial: initial, Doc: "read (value: what was read), write (value) and cas (value: [expected new]); " +
			"register:initial=VALUE if it does not begin with nil",
		names: map[string]kind{"read": read, "r": read, "write": write, "w": write, "cas": swap, "compare-and-set": swap},
		make: func(t *table, o *op) (bool, error) {
			switch o.kind {
			case read:
				if o.call.Unknown() {
					return false, nil
				}
				o.a = t.of(o.call.Out)
			case write:
				o.a = t.of(o.call.In)
			default:
				pair, ok := o.call.In.([]any)
				if !ok || len(pair) != 2 {
					return false, errors.New("the value of a cas invocation must have the form [expected new]")
				}
				o.a, o.b = t.of(pair[0]), t.of(pair[1])
			}
			o.owner = 0
			return true, nil
		},
		step: func(s state, o class) (state, bool) {
			switch o.kind {
			case read:
				return s, s.n == o.a
			case write:
				return state{n: o.a}, true
			default:
				return state{n: o.b}, s.n == o.a
			}
		},
		help: helpRegister,
		tell: func(t *table, s state) string { return "the value is " + operations.Shown(t.values[s.n]) },
	}
}

// helpRegister: a read or a compare-and-set wants one value. It is written, or swapped in from one that is.
func helpRegister(s state, goal class, known []class) (out []class) {
	if goal.kind == write {
		return nil
	}
	wanted := map[int64]bool{goal.a: true}
	for more := true; more; {
		more = false
		for _, c := range known {
			if c.kind == swap && wanted[c.b] && !wanted[c.a] {
				wanted[c.a], more = true, true
			}
		}
	}
	for _, c := range known {
		if (c.kind == write && wanted[c.a]) || (c.kind == swap && c.a == s.n && wanted[c.b]) {
			out = append(out, c)
		}
	}
	return out
}
