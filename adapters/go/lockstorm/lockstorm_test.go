package lockstorm

import "testing"

type lease struct{ plain }

func (lease) Extend() (Fields, error) { return Fields{"sent": 7}, nil }
func (lease) Held() (bool, error)     { return true, nil }

type plain struct{}

func (plain) Release() error { return nil }

// What a hold can do is asked of it; what it cannot is unsupported, as is what is asked of a hold that was released.
func TestCalls(t *testing.T) {
	p := &Program{holds: map[int64]Hold{1: lease{}, 2: plain{}}}
	for _, tc := range []struct {
		op     string
		hold   int64
		answer string
		field  string
		value  any
	}{
		{"extend", 1, "ok", "sent", 7},
		{"ask", 1, "ok", "held", true},
		{"extend", 2, "unsupported", "", nil},
		{"ask", 2, "unsupported", "", nil},
		{"ask", 3, "unsupported", "", nil},
	} {
		answer, more, err := p.call(Request{Op: tc.op, Hold: tc.hold})
		if err != nil || answer != tc.answer || (tc.field != "" && more[tc.field] != tc.value) {
			t.Errorf("%s of %d: %s %v (%v)", tc.op, tc.hold, answer, more, err)
		}
	}
}
