package causes_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// meeting is a history of two grants: the first works until a moment, the second is granted at
// 60 ms under a lease of its own.
func meeting(t *testing.T, line, lastUse string) (*checker.Input, *history.Grant, *history.Grant) {
	t.Helper()
	in := checkertest.InputOf(t, `
run ends=lease ttl=50ms discipline=trusting `+line+`
0ms  1 c1 invoke acquire lock=L grant=g1
1ms  1 c1 ok     acquire lock=L grant=g1 lease=a sent=0ms ttl=50ms deadline=50ms
20ms 2 c2 invoke acquire lock=L grant=g2
`+lastUse+`
end
`)
	return in, in.ByID["g1"], in.ByID["g2"]
}

// A clash has the class of the overlap that mutual-exclusion finds, whichever grant comes first.
func TestClash(t *testing.T) {
	for name, tc := range map[string]struct {
		events string
		met    bool
		class  checker.Class
	}{
		"never at once": {"30ms 1 c1 invoke release lock=L grant=g1\n31ms 1 c1 ok release lock=L grant=g1\n60ms 2 c2 ok acquire " +
			"lock=L grant=g2 lease=b sent=59ms ttl=50ms deadline=109ms\n70ms 2 c2 invoke work lock=L grant=g2\n71ms 2 c2 ok work lock=L " +
			"grant=g2", false, ""},
		"a lease over": {
			"60ms 2 c2 ok acquire lock=L grant=g2 lease=b sent=59ms ttl=50ms deadline=109ms\n70ms 1 c1 invoke work " +
				"lock=L grant=g1\n71ms 1 c1 ok work lock=L grant=g1\n80ms 2 c2 invoke work lock=L grant=g2\n" +
				"81ms 2 c2 ok work lock=L grant=g2",
			true, checker.Inherent,
		},
		"both valid": {
			"30ms 2 c2 ok acquire lock=L grant=g2 lease=b sent=29ms ttl=50ms deadline=79ms\n35ms 1 c1 invoke work " +
				"lock=L grant=g1\n36ms 1 c1 ok work lock=L grant=g1\n40ms 2 c2 invoke work lock=L grant=g2\n" +
				"41ms 2 c2 ok work lock=L grant=g2",
			true, checker.Defect,
		},
		"not granted": {"60ms 2 c2 fail acquire lock=L grant=g2 error=busy\n70ms 1 c1 invoke work lock=L grant=g1\n71ms 1 c1 ok " +
			"work lock=L grant=g1", false, ""},
	} {
		in, a, b := meeting(t, "", tc.events)
		c, met := causes.Of(in).Clash(a, b)
		back, metBack := causes.Of(in).Clash(b, a)
		if met != tc.met || c.Class != tc.class || metBack != met || back != c {
			t.Errorf("%s: %+v, %v; the other way %+v, %v", name, c, met, back, metBack)
		}
		found := checker.Judge(in, checks.Default()).Checks[checker.MutualExclusion].Findings
		if (len(found) > 0) != met || (met && found[0].Class != c.Class) {
			t.Errorf("%s: %+v, but mutual-exclusion finds %+v", name, c, found)
		}
	}
}
