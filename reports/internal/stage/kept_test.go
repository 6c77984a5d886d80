package stage

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// The lease of a grant ends where its last renewal under the grant says: a session may be renewed for long after that.
func TestLeaseOfAGrant(t *testing.T) {
	const (
		granted = "run ends=lease ttl=100ms\n0ms 1 c1 invoke acquire lock=L grant=g\n" +
			"2ms 1 c1 ok acquire lock=L grant=g sent=0ms ttl=100ms deadline=100ms lease=g\n"
		renewed = "50ms 2 c1 invoke renew grant=g lease=g\n" +
			"52ms 2 c1 ok renew grant=g lease=g sent=50ms ttl=100ms deadline=150ms\n"
		released = "60ms 1 c1 invoke release grant=g\n61ms 1 c1 ok release grant=g\n"
		later    = "70ms 2 c1 invoke renew grant=g lease=g\n" +
			"72ms 2 c1 ok renew grant=g lease=g sent=70ms ttl=100ms deadline=170ms\n"
	)
	for text, want := range map[string]time.Duration{
		granted + released:           100 * time.Millisecond,
		granted + renewed + released: 150 * time.Millisecond,
		granted + released + later:   100 * time.Millisecond,
	} {
		in := checkertest.InputOf(t, text)
		if _, due, _ := Kept(in, in.Grants[0], nil); due != want.Nanoseconds() {
			t.Errorf("until %v, want %v:\n%s", time.Duration(due), want, text)
		}
	}
}
