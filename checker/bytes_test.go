package checker

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/history"
)

// Judging the same record again gives the same bytes: no order of a map decides a reason or a finding.
func TestTheSameBytes(t *testing.T) {
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		var first []byte
		for n := range 6 {
			b, err := json.MarshalIndent(Judge(inputOf(t, d.Input), Default()), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				first = b
			} else if !bytes.Equal(first, b) {
				t.Fatalf("%s: judged %d times, the results differ:\n%s\n%s", d.Pos, n+1, first, b)
			}
		}
		return d.Expected
	})
}

// Two locks that one client holds at once are no reentry; the same lock twice is.
func TestReentriesAreOfOneLock(t *testing.T) {
	const record = `run ends=lease model=reentrant
0ms 1 c1 invoke acquire lock=L1 grant=a owner=o
2ms 1 c1 ok acquire lock=L1 grant=a owner=o lease=a sent=1ms ttl=1s deadline=1001ms
10ms 1 c1 invoke acquire lock=L2 grant=b owner=o
12ms 1 c1 ok acquire lock=L2 grant=b owner=o lease=b sent=11ms ttl=1s deadline=1011ms
`
	const again = `14ms 1 c1 invoke acquire lock=L1 grant=c owner=o
15ms 1 c1 ok acquire lock=L1 grant=c owner=o lease=c sent=14ms ttl=1s deadline=1014ms
`
	for text, want := range map[string]int64{record + "end\n": 0, record + again + "end\n": 1} {
		if got := Judge(inputOf(t, text), Default()).Stats["reentries"]; got != want {
			t.Errorf("%d reentries, want %d:\n%s", got, want, text)
		}
	}
}

// Stalls and faults that overlap hold a client up once: what is left of a try is not made shorter by counting
// them twice.
func TestHeldBackCountsOnce(t *testing.T) {
	in := inputOf(t, `run ends=lease workload=try ttl=1s
0ms 1 c1 invoke try-acquire lock=L grant=a
300ms - controller info stall {"late_ns":200000000}
350ms - controller info stall {"late_ns":200000000}
1000ms 1 c1 fail try-acquire lock=L grant=a error=held
end
`)
	c := in.Grants[0].Acquire
	if got := in.heldBack("c1", history.Interval{From: c.Start(), To: c.End()}); got != 250e6 {
		t.Errorf("held back for %s, want 250 ms", Millis(got))
	}
}
