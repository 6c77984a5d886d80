package proof_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/proof"
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

// At the very moment at which a rule begins to hold, or ends.
func TestBoundaries(t *testing.T) {
	swap := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	overlap := func(class, reason string, from, to int64) proof.Claim {
		return proof.Claim{Check: "mutual-exclusion", Rule: "overlap", Class: class, Reason: reason, Grants: []string{"a", "b"}, From: from, To: to}
	}
	tooLate := func(to int64) proof.Claim {
		c := overlap("defect", "told-late", 98*ms, to)
		c.Rule = "late-notice"
		return c
	}
	signal := proof.Claim{Check: "loss-notice", Rule: "late-notice", Class: "none", Grants: []string{"a"}, From: 101 * ms, To: 120 * ms}
	loss := proof.Claim{Check: "data-plain", Rule: "lost-update", Class: "inherent", Reason: "lease-over", Grants: []string{"b", "a"}, From: 114 * ms, To: 121 * ms}
	rob := proof.Claim{Check: "ownership", Rule: "foreign-release", Class: "defect", Reason: "not-owner", Grants: []string{"a", "b"}, From: 120 * ms, To: 121 * ms}
	unknown := overlap("undetermined", "connection-unknown", 7*ms, 20*ms)
	later := swap(toldOf, "106ms -", "120ms -")
	// As robbed, but the second holder is not told: that the first lease was over has to show.
	untold := swap(robbed, "130ms 2 c2 invoke release lock=L grant=b\n131ms 2 c2 fail   release lock=L grant=b error=not-held\n", "130ms 2 c2 invoke write lock=L grant=b register=plain new=1\n")
	for _, w := range []wrong{
		{"both are granted at once", "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 2 c2 invoke acquire lock=L grant=b\n5ms 1 c1 ok acquire lock=L grant=a\n5ms 2 c2 ok acquire lock=L grant=b\n10ms 1 c1 invoke release lock=L grant=a\n11ms 2 c2 invoke release lock=L grant=b\n", overlap("defect", "no-lease", 5*ms, 10*ms), ""},

		{"told within the tolerance", toldOf, overlap("inherent", "lease-over", 98*ms, 106*ms), ""},
		{"told just too late", swap(toldOf, "106ms -", "106001us -"), tooLate(106*ms + 1000), ""},
		{"told too late", later, tooLate(120 * ms), ""},
		{"... because it was kept at a point", swap(later, "120ms -", "110ms - c1 invoke point\n120ms -"), overlap("inherent", "lease-over", 98*ms, 120*ms), ""},
		{"... after it had left a point", swap(later, "120ms -", "110ms - c1 ok point\n120ms -"), tooLate(120 * ms), ""},
		{"of a lease whose end nobody knows", "run ends=lease ttl=100ms discipline=told renews=true tolerance=5ms\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a lease=a\n120ms - c1 info lost lease=a\n", signal, "or its library does not promise to tell it"},

		{"a connection that may have ended", connected, unknown, ""},
		{"... from that moment on", "run ends=connection\n0ms 1 c1 invoke acquire lock=L grant=a\n1ms 2 c2 invoke acquire lock=L grant=b\n2ms 1 c1 ok acquire lock=L grant=a sent=2ms\n2ms 2 c2 ok acquire lock=L grant=b sent=1ms\n20ms 1 c1 invoke release lock=L grant=a\n21ms 1 c1 info release lock=L grant=a error=timeout\n30ms 2 c2 invoke release lock=L grant=b\n31ms 2 c2 ok release lock=L grant=b\n", overlap("undetermined", "connection-unknown", 2*ms, 20*ms), ""},

		{"a write at the answer to its release", swap(lost, "120ms 1 c1", "117ms 3 c1 invoke release lock=L grant=a\n120ms 3 c1 ok release lock=L grant=a\n120ms 1 c1"), loss, ""},
		{"a release among readers", strings.ReplaceAll(swap(robbed, "ends=lease", "ends=lease model=read-write"), "lock=L", "lock=L mode=shared"), rob, "may be held together"},
		{"a release at the end of the other lease", swap(robbed, "ttl=100ms deadline=211ms", "ttl=11ms deadline=122ms"), rob, "the lease of grant b had run out"},
		{"a release just before it", swap(robbed, "ttl=100ms deadline=211ms", "ttl=11001us deadline=122001us"), rob, ""},
		{"a release when the lease may still run", swap(untold, "ttl=100ms deadline=101ms", "ttl=118ms deadline=119ms"), rob, "may still have been in force"},
		{"... and just after", swap(untold, "ttl=100ms deadline=101ms", "ttl=117999us deadline=118999us"), rob, ""},
	} {
		t.Run(w.name, w.check)
	}
}
