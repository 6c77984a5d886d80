package causes_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// lostAt is a lock that a fail-over lost: asked for at 100 ms, proven at 900 ms, healed at 1200 ms.
const lostAt = `run ends=lease nemesis=failover-kill recovery=1s
10ms   1 c1 invoke acquire lock=L grant=a
11ms   1 c1 ok     acquire lock=L grant=a lease=a sent=10ms ttl=2s deadline=2010ms
100ms  - nemesis invoke fault {"id":1,"fault":"failover-kill","family":"server","nodes":["redis-1"]}
501ms  2 c2 invoke acquire lock=L grant=b
511ms  2 c2 ok     acquire lock=L grant=b lease=b sent=502ms ttl=2s deadline=2502ms
800ms  1 c1 invoke work lock=L grant=a
801ms  1 c1 ok     work lock=L grant=a
900ms  - nemesis ok fault {"id":1,"fault":"failover-kill","family":"server","nodes":["redis-1"],%s"proof":"redis-1 died"}
1000ms 1 c1 invoke release lock=L grant=a
1001ms 1 c1 fail   release lock=L grant=a error=not-held
1100ms 2 c2 invoke release lock=L grant=b
1101ms 2 c2 ok     release lock=L grant=b
1200ms - nemesis ok heal {"id":1,"fault":"failover-kill","family":"server","nodes":["redis-1"]}
end
`

// The beginning, the proof and the end of a fault that is a cause are three times: in the finding, in what
// programs read of it, and in what people read. What has not struck yet is no cause.
func TestThreeTimesOfACause(t *testing.T) {
	for name, tc := range map[string]struct {
		began string
		want  [3]int64
		text  string
	}{
		"an old record": {``, [3]int64{100e6, 900e6, 1200e6}, "fault #1: failover-kill on redis-1, active from 0.100 " +
			"s to 1.200 s, effect observed at 0.900 s (redis-1 died)"},
		"it struck before the overlap": {`"began_ns":450000000,`, [3]int64{450e6, 900e6, 1200e6}, "fault #1: failover-kill on " +
			"redis-1, active from 0.450 s to 1.200 s, effect observed at 0.900 s (redis-1 died)"},
		"it struck only after it began": {`"began_ns":700000000,`, [3]int64{}, "no fault in the record explains this"},
	} {
		r := checker.Judge(checkertest.InputOf(t, fmt.Sprintf(lostAt, tc.began)), checks.Default())
		found := r.Checks[checker.MutualExclusion].Findings
		if len(found) != 1 || found[0].Class != checker.Defect {
			t.Fatalf("%s: found %+v, want one defect", name, found)
		}
		f := found[0]
		if got := [3]int64{f.CauseBegan, f.CauseProven, f.CauseEnded}; got != tc.want || f.Cause != tc.text {
			t.Errorf("%s: %v, %q; want %v, %q", name, got, f.Cause, tc.want, tc.text)
		}
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if on := strings.Contains(string(b), `"cause_began_ns"`); on != (tc.want[0] != 0) {
			t.Errorf("%s: in JSON: %s", name, b)
		}
	}
}
