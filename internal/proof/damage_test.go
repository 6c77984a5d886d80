package proof_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// c1 reads, c2 reads and writes, then c1 writes what it computed from its read.
const lost = `run ends=lease ttl=100ms discipline=trusting fencing=off registers=plain
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms
3ms   - register ok read  lock=L grant=a register=plain base=0 client=c1
110ms 2 c2 invoke acquire lock=L grant=b
112ms 2 c2 ok     acquire lock=L grant=b lease=b sent=111ms ttl=100ms deadline=211ms
113ms 2 c2 invoke write   lock=L grant=b register=plain base=0 new=1
114ms - register ok write lock=L grant=b register=plain base=0 new=1 client=c2
115ms 2 c2 ok     write   lock=L grant=b register=plain base=0 new=1
120ms 1 c1 invoke write   lock=L grant=a register=plain base=0 new=1
121ms - register ok write lock=L grant=a register=plain base=0 new=1 client=c1
130ms 2 c2 invoke release lock=L grant=b
`

// The same of a resource that keeps no log.
const unlogged = `run ends=lease ttl=100ms discipline=trusting fencing=off registers=plain
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms
3ms   1 c1 invoke read    lock=L grant=a register=plain
4ms   1 c1 ok     read    lock=L grant=a register=plain base=0
110ms 2 c2 invoke acquire lock=L grant=b
112ms 2 c2 ok     acquire lock=L grant=b lease=b sent=111ms ttl=100ms deadline=211ms
113ms 2 c2 invoke read    lock=L grant=b register=plain
114ms 2 c2 ok     read    lock=L grant=b register=plain base=0
115ms 2 c2 invoke write   lock=L grant=b register=plain base=0 new=1
116ms 2 c2 ok     write   lock=L grant=b register=plain base=0 new=1
120ms 1 c1 invoke write   lock=L grant=a register=plain base=0 new=1
121ms 1 c1 ok     write   lock=L grant=a register=plain base=0 new=1
130ms 2 c2 invoke release lock=L grant=b
`

// The fence accepts token 2, and then token 1.
const fenced = `run ends=never fencing=on registers=fenced
10ms - register ok write lock=L grant=b register=fenced base=0 new=1 token=2 client=c2
20ms - register ok write lock=L grant=a register=fenced base=1 new=2 token=1 client=c1
`

// c1's lease has run out, c2 holds the lock, and c1's release is carried out.
const robbed = `run ends=lease ttl=100ms discipline=trusting tolerance=1ms
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms
110ms 2 c2 invoke acquire lock=L grant=b
112ms 2 c2 ok     acquire lock=L grant=b lease=b sent=111ms ttl=100ms deadline=211ms
120ms 1 c1 invoke release lock=L grant=a
121ms 1 c1 ok     release lock=L grant=a
130ms 2 c2 invoke release lock=L grant=b
131ms 2 c2 fail   release lock=L grant=b error=not-held
`

// The lock is granted twice, without a lease.
const double = `run ends=never
0ms  1 c1 invoke acquire lock=L grant=a
2ms  1 c1 ok     acquire lock=L grant=a
10ms 2 c2 invoke acquire lock=L grant=b
12ms 2 c2 ok     acquire lock=L grant=b
20ms 1 c1 invoke release lock=L grant=a
`

type wrong struct {
	name, text string
	claim      proof.Claim
	want       string // empty: it is proven
}

func (w wrong) check(t *testing.T) {
	t.Helper()
	h, err := history.ParseText(strings.NewReader(w.text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = proof.Check(h.Events, w.claim)
	switch {
	case w.want == "" && err != nil:
		t.Errorf("it is not proven: %v\n%s", err, w.text)
	case w.want != "" && (err == nil || !strings.Contains(err.Error(), w.want)):
		t.Errorf("error %v, want %q\n%s", err, w.want, w.text)
	}
}

// What is claimed of data, of releases and of the lock itself.
func TestClaimsOfDamage(t *testing.T) {
	loss := proof.Claim{
		Check: "data-plain", Rule: "lost-update", Class: "inherent", Reason: "lease-over",
		Grants: []string{"b", "a"}, From: 114 * ms, To: 121 * ms,
	}
	both := proof.Claim{
		Check: "data-plain", Rule: "lost-update", Class: "inherent", Reason: "lease-over",
		Grants: []string{"b", "a"}, From: 116 * ms, To: 121 * ms,
	}
	rob := proof.Claim{
		Check: "ownership", Rule: "foreign-release", Class: "defect", Reason: "not-owner", Grants: []string{"a", "b"},
		From: 120 * ms, To: 121 * ms,
	}
	lock := proof.Claim{
		Check: "lock-linearizability", Rule: "double-grant", Class: "defect", Reason: "not-over",
		Grants: []string{"a", "b"}, From: 12 * ms, To: 12 * ms,
	}
	with := func(c proof.Claim, change func(c *proof.Claim)) proof.Claim { change(&c); return c }
	rule := func(c proof.Claim, rule, reason string) proof.Claim { c.Rule, c.Reason = rule, reason; return c }
	swap := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	grants := func(c proof.Claim, ids ...string) proof.Claim { c.Grants = ids; return c }
	const ack = "115ms 2 c2 ok     write   lock=L grant=b register=plain base=0 new=1\n"
	const w2 = "114ms - register ok write lock=L grant=b register=plain base=0 new=1 client=c2\n"
	const write = "120ms 1 c1 invoke write   lock=L grant=a register=plain base=0 new=1\n"
	apart := swap(swap(lost, write, ""), "110ms 2", strings.Replace(write, "120ms", "105ms", 1)+"110ms 2")
	fence := proof.Claim{
		Check: "data-fenced", Rule: "stale-accepted", Class: "none", Grants: []string{"a"}, From: 20 * ms,
		To: 20 * ms,
	}
	for _, w := range []wrong{
		{"stale accepted", fenced, fence, ""},
		{"stale, as a defect", fenced, with(fence, func(c *proof.Claim) { c.Class = "defect" }), "must have the class \"none\", but " +
			"this finding has the class defect"},
		{"stale, longer", fenced, with(fence, func(c *proof.Claim) { c.From -= ms }), "but the finding says from 0.019 s"},
		{"stale, at another time", fenced, with(fence, func(c *proof.Claim) { c.To += ms }), "accepted a request under the grant of " +
			"the finding at the time of the finding"},
		{"stale, of two", fenced, grants(fence, "a", "b"), "the finding must name exactly one grant"},
		{
			"stale, of the newer one", fenced, with(grants(fence, "b"), func(c *proof.Claim) { c.From, c.To = 10*ms, 10*ms }),
			"had accepted no earlier request",
		},
		{
			"stale, of another lock", swap(fenced, "10ms - register ok write lock=L", "10ms - register ok write lock=M"), fence,
			"had accepted no earlier request",
		},
		{
			"stale, of another register", swap(fenced, "register=fenced base=0 new=1", "register=plain base=0 new=1"), fence,
			"had accepted no earlier request",
		},
		{
			"stale, of one that was refused", swap(fenced, "10ms - register ok write", "10ms - register fail write"), fence,
			"had accepted no earlier request",
		},
		{"stale, of the plain one", swap(fenced, "register=fenced", "register=plain"), fence, "does not check fencing tokens"},
		{"one token of two", swap(fenced, "token=1", "token=2"), rule(fence, "equal-token", ""), ""},
		{
			"one token of one", swap(fenced, "token=1", "token=2", "lock=L grant=b", "lock=L grant=a"), rule(fence, "equal-token", ""),
			"had accepted no earlier request",
		},
		{"two tokens of two", fenced, rule(fence, "equal-token", ""), "had accepted no earlier request"},
		{"no token", swap(fenced, " token=1", ""), rule(fence, "no-token", ""), ""},
		{"no token, with one", fenced, rule(fence, "no-token", ""), "but the request had a token"},
		{"mismatch", swap(fenced, "20ms - register ok write lock=L grant=a register=fenced base=1 new=2",
			"20ms - register ok read lock=L grant=a register=fenced base=5"), rule(fence, "log-mismatch", ""), ""},
		{"mismatch with the start", swap(fenced, "20ms - register ok write lock=L grant=a register=fenced base=1 new=2",
			"20ms - register ok read lock=L grant=a register=fenced base=5", "10ms - register ok write lock=L",
			"10ms - register ok write lock=M"), rule(fence, "log-mismatch", ""), ""},
		{"a match", swap(fenced, "20ms - register ok write lock=L grant=a register=fenced base=1 new=2", "20ms - register ok read "+
			"lock=L grant=a register=fenced base=1"), rule(fence, "log-mismatch", ""), "the read in the finding correctly returned the " +
			"last written value"},
		{"a match with the start", swap(fenced, "20ms - register ok write lock=L grant=a register=fenced base=1 new=2",
			"20ms - register ok read lock=L grant=a register=fenced base=0", "10ms - register ok write lock=L",
			"10ms - register ok write lock=M"), rule(fence, "log-mismatch", ""), "the read in the finding correctly returned the last " +
			"written value"},
		{"mismatch of a write", fenced, rule(fence, "log-mismatch", ""), "the read in the finding correctly returned the last " +
			"written value"},

		{"lost update", lost, loss, ""},
		{
			"as a defect", lost, with(loss, func(c *proof.Claim) { c.Class, c.Reason = "defect", "both-valid" }),
			"according to the events the class of the finding is inherent (reason lease-over)",
		},
		{"as a late write", lost, rule(loss, "late-write", "applied-late"), "the rule cannot be late-write"},
		{"the other way round", lost, grants(loss, "a", "b"), "do not show that the register accepted the two requests of the finding"},
		{"at another time", lost, with(loss, func(c *proof.Claim) { c.To += ms }), "do not show that the register accepted the two " +
			"requests of the finding"},
		{"of another register", swap(lost, "121ms - register ok write lock=L grant=a register=plain", "121ms - register ok write "+
			"lock=L grant=a register=fenced"), loss, "were sent to different registers"},
		{
			"without a read", swap(lost, "3ms   - register ok read  lock=L grant=a register=plain base=0 client=c1\n", ""), loss,
			"had not read the register before",
		},
		{"after a read of it", swap(lost, "120ms 1", "118ms - register ok read  lock=L grant=a register=plain base=1 "+
			"client=c1\n120ms 1"), loss, "had already read the value that c2 wrote"},
		{"from another read", swap(lost, "121ms - register ok write lock=L grant=a register=plain base=0",
			"121ms - register ok write lock=L grant=a register=plain base=1"), loss, "is not based on the value that this client " +
			"had read"},
		{"of an update that was not acknowledged", swap(lost, ack, ""), loss, "was not acknowledged"},
		{
			"of an update that was refused", swap(lost, ack, swap(ack, " ok ", " fail ", "\n", " error=other\n")), loss,
			"was not acknowledged",
		},
		{"of another value", swap(lost, w2, swap(w2, "new=1", "new=2")), loss, "was not acknowledged"},
		{"after its own write", swap(lost, "3ms   - register ok read  lock=L grant=a register=plain base=0",
			"3ms   - register ok write lock=L grant=a register=plain new=0"), loss, ""},
		{
			"under one transaction", swap(lost, "ends=lease", "ends=lease own-fence=true"),
			with(loss, func(c *proof.Claim) { c.Class, c.Reason = "defect", "own-fence" }), "",
		},
		{"under one transaction, inherent", swap(lost, "ends=lease", "ends=lease own-fence=true"), loss, "according to the events " +
			"the class of the finding is defect (reason own-fence)"},
		{"by a client that is wrong", swap(lost, "120ms 1 c1", "117ms 3 c1 invoke release lock=L grant=a\n118ms 3 c1 ok release "+
			"lock=L grant=a\n120ms 1 c1"), loss, "the client is at fault, not the lock"},
		{"a late write", apart, rule(loss, "late-write", "applied-late"), ""},
		{"a late write as a loss", apart, rule(loss, "lost-update", "applied-late"), "the write came late"},
		{
			"a late write as a defect", apart, with(rule(loss, "late-write", "applied-late"), func(c *proof.Claim) { c.Class = "defect" }),
			"according to the events the class of the finding is inherent (reason applied-late)",
		},
		{"by nobody", swap(apart, "105ms 1 c1 invoke write   lock=L grant=a register=plain base=0 new=1\n",
			"105ms 1 c1 invoke release lock=L grant=a\n"), rule(loss, "late-write", "applied-late"), "no write came late"},

		{"split", lost, rule(loss, "split-section", "lease-over"), ""},
		{"split by a read", swap(lost, "121ms - register ok write lock=L grant=a register=plain base=0 new=1",
			"121ms - register ok read lock=L grant=a register=plain base=1"), rule(loss, "split-section", "lease-over"), ""},
		{
			"split without a read", swap(lost, "3ms   - register ok read  lock=L grant=a register=plain base=0 client=c1\n", ""),
			rule(loss, "split-section", "lease-over"), "had not read the register before",
		},
		{"lost by a read", swap(lost, "121ms - register ok write lock=L grant=a register=plain base=0 new=1",
			"121ms - register ok read lock=L grant=a register=plain base=1"), loss, "do not show that the register accepted the two " +
			"requests of the finding"},

		{"unlogged", unlogged, both, ""},
		{"unlogged, not read by one", swap(unlogged, "4ms   1 c1 ok     read    lock=L grant=a register=plain base=0",
			"4ms   1 c1 ok     read    lock=L grant=a register=plain base=5"), both, "two acknowledged writes that replaced the " +
			"same value"},
		{"unlogged, not read by the other", swap(unlogged, "114ms 2 c2 ok     read    lock=L grant=b register=plain base=0",
			"114ms 2 c2 ok     read    lock=L grant=b register=plain base=5"), both, "two acknowledged writes that replaced the " +
			"same value"},
		{
			"unlogged, of two registers", swap(unlogged, "grant=b register=plain", "grant=b register=stock"), both,
			"two acknowledged writes that replaced the same value",
		},
		{"unlogged, not acknowledged", swap(unlogged, "116ms 2 c2 ok     write   lock=L grant=b register=plain base=0 new=1",
			"116ms 2 c2 info   write   lock=L grant=b register=plain error=timeout"), both, "two acknowledged writes that replaced the " +
			"same value"},

		{"foreign release", robbed, rob, ""},
		{
			"foreign release, inherent", robbed, with(rob, func(c *proof.Claim) { c.Class = "inherent" }),
			"must have the class \"defect\"",
		},
		{"... that was not carried out", swap(robbed, "121ms 1 c1 ok     release lock=L grant=a", "121ms 1 c1 info   release lock=L "+
			"grant=a error=timeout"), rob, "carried out a release of the first grant at the time of the finding"},
		{"... at another time", robbed, with(rob, func(c *proof.Claim) { c.To += ms }), "carried out a release of the first grant at " +
			"the time of the finding"},
		{"... of the earlier one", robbed, grants(rob, "b", "a"), "carried out a release of the first grant at the time of the " +
			"finding"},
		{"... while its lease ran", swap(robbed, "ttl=100ms deadline=101ms", "ttl=119ms deadline=120ms", "130ms 2 c2 invoke release "+
			"lock=L grant=b\n131ms 2 c2 fail   release lock=L grant=b error=not-held\n", "130ms 2 c2 invoke write lock=L grant=b "+
			"register=plain new=1\n"), rob, "may still have been valid"},
		{
			"... while its lease ran, and the other one was told", swap(robbed, "ttl=100ms deadline=101ms", "ttl=119ms deadline=120ms"),
			rob, "",
		},
		{
			"... after it had been renewed", swap(robbed, "110ms 2", "90ms 3 c1 invoke renew lock=L grant=a lease=a\n91ms 3 c1 info "+
				"renew lock=L grant=a lease=a error=timeout\n110ms 2", "130ms 2 c2 invoke release lock=L grant=b\n131ms 2 c2 fail   release "+
				"lock=L grant=b error=not-held\n", "130ms 2 c2 invoke write lock=L grant=b register=plain new=1\n"), rob,
			"may still have been valid",
		},
		{"... told before it", swap(robbed, "ttl=100ms deadline=101ms", "ttl=119ms deadline=120ms", "120ms 1",
			"118ms 2 c2 invoke renew lock=L grant=b lease=b\n119ms 2 c2 fail renew lock=L grant=b lease=b error=not-held\n120ms 1",
			"130ms 2 c2 invoke release lock=L grant=b\n131ms 2 c2 fail   release lock=L grant=b error=not-held\n",
			"130ms 2 c2 invoke write lock=L grant=b register=plain new=1\n"), rob, "may still have been valid"},
		{"... and told when its own lease was over", swap(robbed, "ttl=100ms deadline=101ms", "ttl=119ms deadline=120ms",
			"ttl=100ms deadline=211ms", "ttl=19ms deadline=130ms"), rob, "may still have been valid"},
		{"... and told something else", swap(robbed, "ttl=100ms deadline=101ms", "ttl=119ms deadline=120ms", "error=not-held",
			"error=other"), rob, "may still have been valid"},
		{
			"... after it had been renewed off the record", swap(robbed, "110ms 2", "90ms 3 c1 invoke renew lock=L grant=a "+
				"lease=a\n91ms 3 c1 ok renew lock=L grant=a lease=a\n110ms 2", "130ms 2 c2 invoke release lock=L grant=b\n131ms 2 c2 fail   "+
				"release lock=L grant=b error=not-held\n", "130ms 2 c2 invoke write lock=L grant=b register=plain new=1\n"), rob,
			"may still have been valid",
		},
		{
			"... of a lock that its holder gives back at that moment",
			swap(robbed, "130ms 2 c2 invoke release", "121ms 2 c2 invoke release",
				"131ms 2 c2 fail   release lock=L grant=b error=not-held", "131ms 2 c2 ok     release lock=L grant=b"),
			rob, "had already begun to release the lock",
		},
		{
			"... of a lock that its holder was refused before", swap(robbed, "130ms 2 c2 invoke release lock=L grant=b\n"+
				"131ms 2 c2 fail   release lock=L grant=b error=not-held", "131ms 2 c2 invoke renew lock=L grant=b",
				"120ms 1", "118ms 2 c2 invoke release lock=L grant=b\n119ms 2 c2 fail   release lock=L grant=b error=not-held\n120ms 1"),
			rob, "had already begun to release the lock",
		},
		{
			"... of a lock that was over", swap(robbed, "ttl=100ms deadline=211ms", "ttl=10ms deadline=121ms"), rob,
			"the lease of grant b had run out",
		},
		{
			"... of a lock that its holder gave back", swap(robbed, "130ms 2 c2 invoke release lock=L grant=b\n131ms 2 c2 fail   "+
				"release lock=L grant=b error=not-held\n", "", "120ms 1", "119ms 2 c2 invoke release lock=L grant=b\n120ms 1",
				"121ms 1 c1 ok     release lock=L grant=a", "121ms 1 c1 ok     release lock=L grant=a\n125ms - c2 invoke point"), rob,
			"had already begun to release the lock",
		},
		{"... of a holder of whom nothing more is known", swap(robbed, "130ms 2 c2 invoke release lock=L grant=b\n131ms 2 c2 fail   "+
			"release lock=L grant=b error=not-held\n", ""), rob, "no event shows that c2 held the lock at the time of the release"},

		{"double grant", double, lock, ""},
		{
			"after a release", swap(double, "10ms 2", "5ms 1 c1 invoke release lock=L grant=a\n6ms 1 c1 ok release lock=L grant=a\n10ms 2",
				"20ms 1 c1 invoke release lock=L grant=a\n", ""), with(lock, func(c *proof.Claim) { c.To = 12 * ms }),
			"a correct lock could have given these answers",
		},
		{"after a release of unknown outcome", swap(double, "10ms 2", "5ms 1 c1 invoke release lock=L grant=a\n10ms 2",
			"20ms 1 c1 invoke release lock=L grant=a\n", ""), lock, "a correct lock could have given these answers"},
		{
			"of a client of which nothing more is known", swap(double, "20ms 1 c1 invoke release lock=L grant=a\n", ""), lock,
			"a correct lock could have given these answers",
		},
		{"of an acquire of unknown outcome", swap(double, "12ms 2 c2 ok     acquire lock=L grant=b", "12ms 2 c2 info   acquire "+
			"lock=L grant=b error=timeout"), lock, "the finding names grant b, but no event shows that the request for this grant " +
			"succeeded"},
		{
			"... that was released later", swap(double, "12ms 2 c2 ok     acquire lock=L grant=b", "12ms 2 c2 info   acquire lock=L "+
				"grant=b error=timeout", "20ms 1", "14ms 3 c2 invoke release lock=L grant=b\n15ms 3 c2 ok release lock=L grant=b\n20ms 1"),
			with(lock, func(c *proof.Claim) { c.From, c.To = 15*ms, 15*ms }), "",
		},
		{"of a refused one", swap(double, "12ms 2 c2 ok     acquire lock=L grant=b", "12ms 2 c2 fail   acquire lock=L grant=b "+
			"error=busy"), lock, "grant b, but the lock refused"},
		{"as another rule", double, rule(lock, "lost-lease", "gone-early"), "the events show a violation of rule double-grant"},
		{"as inherent", double, with(lock, func(c *proof.Claim) { c.Class = "inherent" }), "must have the class \"defect\""},
		{
			"of readers", strings.ReplaceAll(swap(double, "ends=never", "ends=never model=read-write"), "lock=L", "lock=L mode=shared"),
			lock, "a correct lock could have given these answers",
		},
		{"of a reader and a writer", strings.ReplaceAll(swap(double, "ends=never", "ends=never model=read-write"), "lock=L grant=b",
			"lock=L grant=b mode=shared"), lock, ""},
		{"of nobody", double, grants(lock), "the finding must name at least one grant"},
		{"of one twice", double, grants(lock, "a", "a"), "twice"},
		{"lost lease", swap(double, "10ms 2 c2 invoke acquire lock=L grant=b\n12ms 2 c2 ok     acquire lock=L grant=b\n", "",
			"20ms 1 c1 invoke release lock=L grant=a\n", "20ms 1 c1 invoke release lock=L grant=a\n21ms 1 c1 fail release lock=L "+
				"grant=a error=not-held\n22ms 1 c1 invoke point\n"), with(grants(rule(lock, "lost-lease", "gone-early"), "a"),
			func(c *proof.Claim) { c.From, c.To = 21*ms, 21*ms }), ""},
		{
			"revived lease", swap(double, "ends=never", "ends=lease ttl=10ms tolerance=1ms", "2ms  1 c1 ok     acquire lock=L grant=a",
				"2ms  1 c1 ok     acquire lock=L grant=a lease=a sent=0ms ttl=10ms deadline=10ms", "10ms 2", "11ms 2",
				"12ms 2 c2 ok     acquire lock=L grant=b", "12ms 2 c2 ok     acquire lock=L grant=b lease=b sent=11ms ttl=10ms deadline=21ms",
				"20ms 1 c1 invoke release lock=L grant=a\n", "13ms 3 c1 invoke renew lock=L grant=a lease=a\n14ms 3 c1 ok renew lock=L "+
					"grant=a lease=a sent=13ms ttl=10ms deadline=23ms\n15ms - c2 invoke point\n"), rule(lock, "revived-lease", "renewed-late"),
			"",
		},
	} {
		t.Run(w.name, w.check)
	}
}

// What is not a proof at all is refused.
func TestNoProof(t *testing.T) {
	h, err := history.ParseText(strings.NewReader(double))
	if err != nil {
		t.Fatal(err)
	}
	claim := proof.Claim{
		Check: "lock-linearizability", Rule: "double-grant", Class: "defect", Reason: "not-over",
		Grants: []string{"a", "b"}, From: 12 * ms, To: 12 * ms,
	}
	for want, events := range map[string][]history.Event{
		"the first event of a proof must be": h.Events[1:],
		"must be the run event":              nil,
		"are not in the order of the record": append([]history.Event{h.Events[0], h.Events[2], h.Events[1]},
			h.Events[3:]...),
		"is an answer, but the proof does not contain its request": append([]history.Event{h.Events[0]}, h.Events[2:]...),
	} {
		if _, err := proof.Check(events, claim); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := proof.Minimal(h.Events, claim); err != nil {
		t.Errorf("none of these can be left out: %v", err)
	}
	more, err := history.ParseText(strings.NewReader(double + "30ms - c1 invoke point\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := proof.Minimal(more.Events, claim); err == nil || !strings.Contains(err.Error(), "are enough to prove the finding") {
		t.Errorf("one event too many: %v", err)
	}
	claim.Check, claim.Rule = "liveness", "orphan"
	if _, err := proof.Check(h.Events, claim); !errors.Is(err, proof.ErrRecord) {
		t.Errorf("a rule of absence: %v", err)
	}
}
