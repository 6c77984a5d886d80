package proof_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/proof"
)

// c1 is granted L for 100 ms by a library that renews and tells; c2 is granted it 3 ms before that is over.
const toldOf = `run ends=lease ttl=100ms discipline=told renews=true tolerance=5ms
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms
97ms  2 c2 invoke acquire lock=L grant=b
98ms  2 c2 ok     acquire lock=L grant=b lease=b sent=98ms ttl=100ms deadline=198ms
106ms - c1 info lost lease=a
130ms 2 c2 invoke release lock=L grant=b
`

// Two clients hold L by their connections; c1 got no answer to its release, so its connection may have ended at any time before.
const connected = `run ends=connection
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a sent=1ms
5ms   2 c2 invoke acquire lock=L grant=b
7ms   2 c2 ok     acquire lock=L grant=b sent=6ms
20ms  1 c1 invoke release lock=L grant=a
21ms  1 c1 info   release lock=L grant=a error=timeout
30ms  2 c2 invoke release lock=L grant=b
`

// c1 holds L by b; its first grant a has run out, and what a release under a gives back is b.
const counted = `run ends=lease model=reentrant ttl=10ms tolerance=1ms
0ms  1 c1 invoke acquire lock=L grant=a
1ms  1 c1 ok     acquire lock=L grant=a lease=a sent=0ms ttl=10ms deadline=10ms
5ms  1 c1 invoke acquire lock=L grant=b
6ms  1 c1 ok     acquire lock=L grant=b lease=b sent=5ms ttl=100ms deadline=105ms
RELEASE30ms 2 c2 invoke acquire lock=L grant=c
32ms 2 c2 ok     acquire lock=L grant=c lease=c sent=31ms ttl=100ms deadline=131ms
40ms 1 c1 invoke release lock=L grant=b
`

// c1's session was last known to be alive 99 ms after it began, which is as long as it lasts for certain.
const session = `run ends=session session=true ttl=100ms discipline=trusting tolerance=1ms
1ms   - c1 info lease lease=s sent=0ms ttl=100ms deadline=100ms
1ms   - c2 info lease lease=t sent=0ms ttl=500ms deadline=500ms
97ms  1 c1 invoke acquire lock=L grant=a
100ms 1 c1 ok     acquire lock=L grant=a lease=s sent=99ms
110ms 2 c2 invoke acquire lock=L grant=b
112ms 2 c2 ok     acquire lock=L grant=b lease=t sent=111ms
120ms 1 c1 invoke release lock=L grant=a
121ms 1 c1 ok     release lock=L grant=a
130ms 2 c2 invoke write   lock=L grant=b register=plain new=1
`

// At the very moment at which a rule begins to hold, or ends.
func TestBoundaries(t *testing.T) {
	swap := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	overlap := func(class, reason string, from, to int64) proof.Claim {
		return proof.Claim{
			Check: "mutual-exclusion", Rule: "overlap", Class: class, Reason: reason, Grants: []string{"a", "b"},
			From: from, To: to,
		}
	}
	lock := func(grants ...string) proof.Claim {
		return proof.Claim{
			Check: "lock-linearizability", Rule: "double-grant", Class: "defect", Reason: "not-over", Grants: grants,
			From: 12 * ms, To: 12 * ms,
		}
	}
	with32 := func(c proof.Claim) proof.Claim { c.From, c.To = 32*ms, 32*ms; return c }
	tooLate := func(to int64) proof.Claim {
		c := overlap("defect", "told-late", 98*ms, to)
		c.Rule = "late-notice"
		return c
	}
	signal := proof.Claim{
		Check: "loss-notice", Rule: "late-notice", Class: "none", Grants: []string{"a"}, From: 101 * ms,
		To: 120 * ms,
	}
	loss := proof.Claim{
		Check: "data-plain", Rule: "lost-update", Class: "inherent", Reason: "lease-over",
		Grants: []string{"b", "a"}, From: 114 * ms, To: 121 * ms,
	}
	rob := proof.Claim{
		Check: "ownership", Rule: "foreign-release", Class: "defect", Reason: "not-owner", Grants: []string{"a", "b"},
		From: 120 * ms, To: 121 * ms,
	}
	unknown := overlap("undetermined", "connection-unknown", 7*ms, 20*ms)
	later := swap(toldOf, "106ms -", "120ms -")
	// As robbed, but the second holder is not told: that the first lease was over has to show.
	untold := swap(robbed, "130ms 2 c2 invoke release lock=L grant=b\n131ms 2 c2 fail   release lock=L grant=b error=not-held\n",
		"130ms 2 c2 invoke write lock=L grant=b register=plain new=1\n")
	for _, w := range []wrong{
		{"both are granted at once", "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 2 c2 invoke acquire lock=L " +
			"grant=b\n5ms 1 c1 ok acquire lock=L grant=a\n5ms 2 c2 ok acquire lock=L grant=b\n10ms 1 c1 invoke release lock=L " +
			"grant=a\n11ms 2 c2 invoke release lock=L grant=b\n", overlap("defect", "no-lease", 5*ms, 10*ms), ""},

		{"told within the tolerance", toldOf, overlap("inherent", "lease-over", 98*ms, 106*ms), ""},
		{
			"told as late as the host may be unseen", swap(toldOf, "106ms -", "111ms -"), overlap("inherent", "lease-over", 98*ms, 111*ms),
			"",
		},
		{"told just too late", swap(toldOf, "106ms -", "111001us -"), tooLate(111*ms + 1000), ""},
		{"told too late", later, tooLate(120 * ms), ""},
		{
			"... because it was kept at a point", swap(later, "120ms -", "110ms - c1 invoke point\n120ms -"),
			overlap("inherent", "lease-over", 98*ms, 120*ms), "",
		},
		{"... after it had left a point", swap(later, "120ms -", "110ms - c1 ok point\n120ms -"), tooLate(120 * ms), ""},
		{
			"of a lease whose end nobody knows", "run ends=lease ttl=100ms discipline=told renews=true tolerance=5ms\n0ms 1 c1 invoke " +
				"acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a lease=a\n120ms - c1 info lost lease=a\n", signal,
			"or its library does not promise to tell the holder",
		},

		{"a connection that may have ended", connected, unknown, ""},
		{"... from that moment on", "run ends=connection\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 2 c2 invoke acquire lock=L " +
			"grant=b\n2ms 1 c1 ok acquire lock=L grant=a sent=2ms\n2ms 2 c2 ok acquire lock=L grant=b sent=1ms\n20ms 1 c1 invoke " +
			"release lock=L grant=a\n21ms 1 c1 info release lock=L grant=a error=timeout\n30ms 2 c2 invoke release lock=L grant=b\n31ms " +
			"2 c2 ok release lock=L grant=b\n", overlap("undetermined", "connection-unknown", 2*ms, 20*ms), ""},

		{"a write at the answer to its release", swap(lost, "120ms 1 c1", "117ms 3 c1 invoke release lock=L grant=a\n120ms 3 c1 ok "+
			"release lock=L grant=a\n120ms 1 c1"), loss, ""},
		{"a release among readers", strings.ReplaceAll(swap(robbed, "ends=lease", "ends=lease model=read-write"), "lock=L",
			"lock=L mode=shared"), rob, "by the rules of this lock"},
		{
			"a release at the end of the other lease", swap(robbed, "ttl=100ms deadline=211ms", "ttl=11ms deadline=122ms"), rob,
			"the lease of grant b had run out",
		},
		{"a release just before it", swap(robbed, "ttl=100ms deadline=211ms", "ttl=11001us deadline=122001us"), rob, ""},
		{
			"a release when the lease may still run", swap(untold, "ttl=100ms deadline=101ms", "ttl=118ms deadline=119ms"), rob,
			"may still have been valid",
		},
		{"... and just after", swap(untold, "ttl=100ms deadline=101ms", "ttl=117999us deadline=118999us"), rob, ""},
		{"a release that is one of another grant of its owner", strings.ReplaceAll(counted, "RELEASE", "20ms 1 c1 invoke release "+
			"lock=L grant=a\n21ms 1 c1 ok release lock=L grant=a\n"), with32(lock("a", "b", "c")), "a correct lock could have given " +
			"these answers"},
		{"... and without it", strings.ReplaceAll(counted, "RELEASE", ""), with32(lock("a", "b", "c")), ""},
		{"a release of one that holds, among two", "run ends=never model=reentrant\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 1 c1 " +
			"ok acquire lock=L grant=a\n2ms 1 c1 invoke acquire lock=L grant=b\n3ms 1 c1 ok acquire lock=L grant=b\n4ms 1 c1 invoke " +
			"release lock=L grant=a\n5ms 1 c1 ok release lock=L grant=a\n10ms 2 c2 invoke acquire lock=L grant=c\n12ms 2 c2 ok acquire " +
			"lock=L grant=c\n20ms 1 c1 invoke release lock=L grant=b\n", lock("b", "c"), ""},
		{"a release when the session is over", session, rob, ""},
		{
			"... unless it was alive after that", strings.Replace(session, "sent=99ms", "sent=100ms", 1), rob,
			"may still have been valid",
		},
		{"a span of one nanosecond", double, proof.Claim{
			Check: "lock-linearizability", Rule: "double-grant", Class: "defect",
			Reason: "not-over", Grants: []string{"a", "b"}, From: 1, To: 1,
		}, "but the finding says from 0.000 s to 0.000 s"},
		{
			"a release after one of somebody who held it before", "run ends=lease ttl=100ms discipline=trusting tolerance=1ms\n0ms 3 c3 " +
				"invoke acquire lock=L grant=c\n0ms 3 c3 ok acquire lock=L grant=c lease=c sent=0ms ttl=100ms deadline=100ms\n0ms 3 c3 " +
				"invoke release lock=L grant=c\n0ms 3 c3 ok release lock=L grant=c\n" +
				strings.SplitN(swap(untold, "ttl=100ms deadline=101ms", "ttl=119ms deadline=120ms"), "\n", 2)[1], rob,
			"may still have been valid",
		},
		{
			"given back at that moment", swap(late, "110ms 2", "48ms 2", "112ms 2", "50ms 3 c1 invoke release lock=L grant=a\n50ms 2"),
			proof.Claim{Check: "loss-notice", Rule: "late-notice", Class: "none", Grants: []string{"a", "b"}, From: 50 * ms, To: 101 * ms},
			"had already released the lock, or stopped using it,",
		},
	} {
		t.Run(w.name, w.check)
	}
}
