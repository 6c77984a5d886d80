package history

import "testing"

const twoOfOne = "10ms 1 c1 invoke acquire lock=L grant=a owner=o\n12ms 1 c1 ok acquire lock=L grant=a lease=s owner=p " +
	"sent=11ms ttl=100ms deadline=111ms\n" +
	"20ms 1 c1 invoke release lock=L grant=a\n22ms 1 c1 ok release lock=L grant=a\n" +
	"30ms 9 c1 invoke renew lease=s\n32ms 9 c1 ok renew lease=s sent=31ms ttl=100ms deadline=131ms\n" +
	"40ms 1 c1 invoke acquire lock=L grant=b\n42ms 1 c1 ok acquire lock=L grant=b lease=s sent=41ms ttl=100ms deadline=141ms\n" +
	"50ms - c1 info lost lease=s\n" +
	"60ms 2 c2 invoke acquire lock=L grant=c\n62ms 2 c2 ok acquire lock=L grant=c lease=s sent=61ms ttl=100ms deadline=161ms\n"

// A renewal of a lease that is shared says nothing about a grant that was released before,
// a loss nothing about that one, nor about another client's under the same name.
func TestSharedLease(t *testing.T) {
	r := record(t, "run ends=lease\n"+twoOfOne)
	a, b, c := r.ByID["a"], r.ByID["b"], r.ByID["c"]
	if len(a.Renews) != 0 || len(b.Renews) != 0 || len(a.Losses) != 0 {
		t.Errorf("a has %d renewals and %d losses, b %d renewals: want none", len(a.Renews), len(a.Losses), len(b.Renews))
	}
	if len(b.Losses) != 1 || len(c.Losses) != 0 || a.Under != b.Under || b.Under == c.Under {
		t.Errorf("b has %d losses, c %d; leases %p %p %p", len(b.Losses), len(c.Losses), a.Under, b.Under, c.Under)
	}
	if a.Owner != "p" {
		t.Errorf("the owner is %q, want the one that was returned", a.Owner)
	}
	if len(r.Leases) != 2 || len(r.Leases[0].Renews) != 1 || len(r.Leases[0].Losses) != 1 {
		t.Errorf("%d leases", len(r.Leases))
	}
}

// The lease of one grant is that grant's: all that is said of it.
func TestOwnLease(t *testing.T) {
	r := record(t, "run ends=lease\n10ms 1 c1 invoke acquire lock=L grant=a\n12ms 1 c1 ok acquire lock=L grant=a lease=s "+
		"sent=11ms ttl=100ms deadline=111ms\n"+
		"30ms 9 c1 invoke renew lease=s\n32ms 9 c1 ok renew lease=s sent=31ms ttl=100ms deadline=131ms\n"+
		"40ms 1 c1 invoke release lock=L grant=a\n42ms 1 c1 ok release lock=L grant=a\n50ms 9 c1 invoke renew lease=s\n52ms - c1 "+
		"info lost lease=s\n")
	if a := r.ByID["a"]; len(a.Renews) != 2 || len(a.Losses) != 1 || a.RunsOut(1e6) != 130e6 {
		t.Errorf("%d renewals, %d losses, runs out at %d", len(a.Renews), len(a.Losses), a.RunsOut(1e6))
	}
}

// Acquiring does not renew a session: its grants run out with it, those that come after a
// renewal, too.
func TestSession(t *testing.T) {
	const ms = 1_000_000
	r := record(t, "run ends=session session=true\n5ms - c1 info lease lease=s sent=4ms ttl=100ms deadline=104ms\n"+twoOfOne)
	a, b, c := r.ByID["a"], r.ByID["b"], r.ByID["c"]
	if !a.InSession() || c.InSession() || len(b.Renews) != 0 || b.Under.Created == nil {
		t.Errorf("in a session: %v %v; %d renewals of its own", a.InSession(), c.InSession(), len(b.Renews))
	}
	for _, tc := range []struct {
		what      string
		got, want int64
	}{
		{"a runs out", a.RunsOut(ms), 130 * ms},
		{"b runs out", b.RunsOut(ms), 130 * ms},
		{"c runs out by itself", c.RunsOut(ms), 160 * ms},
		{"the deadline before the renewal", a.DeadlineAt(31 * ms).V, 104 * ms},
		{"the deadline after it", b.DeadlineAt(42 * ms).V, 131 * ms},
		{"b is believed in until the loss", min(b.ToldLost(), b.Lapses().Or(Forever)), 50 * ms},
		{"c is believed in until its deadline", min(c.ToldLost(), c.Lapses().Or(Forever)), 161 * ms},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %d, want %d", tc.what, tc.got, tc.want)
		}
	}
}

// A session that is joined is one lease; one that is created anew under the name is another.
func TestJoin(t *testing.T) {
	const made = "run ends=session session=true\n5ms - c1 info lease lease=s sent=4ms ttl=100ms deadline=104ms\n"
	const grants = "10ms 1 c1 invoke acquire lock=L grant=a lease=s\n11ms 2 c2 invoke acquire lock=M grant=b lease=s\n"
	r := record(t, made+"6ms - c2 info lease lease=s \"joined\"\n"+grants)
	if r.ByID["a"].Under != r.ByID["b"].Under || len(r.Leases) != 1 {
		t.Errorf("joined: %d leases", len(r.Leases))
	}
	r = record(t, made+"6ms - c2 info lease lease=s sent=5ms ttl=100ms\n"+grants)
	if r.ByID["a"].Under == r.ByID["b"].Under || len(r.Leases) != 2 {
		t.Errorf("created twice: %d leases", len(r.Leases))
	}
}
