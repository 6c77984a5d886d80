package proof_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

const ms = int64(1e6)

// Two grants of 100 ms; the second comes when the first has run out, and its client is still writing.
const late = `run ends=lease ttl=100ms discipline=trusting
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms token=1
110ms 2 c2 invoke acquire lock=L grant=b
112ms 2 c2 ok     acquire lock=L grant=b lease=b sent=111ms ttl=100ms deadline=211ms token=2
120ms 1 c1 invoke write   lock=L grant=a register=plain base=0 new=1
130ms 2 c2 invoke release lock=L grant=b
`

// Nothing that is not so can be claimed: each history proves the first claim, and neither of the others.
func TestClaims(t *testing.T) {
	overlap := proof.Claim{
		Check: "mutual-exclusion", Rule: "overlap", Class: "inherent", Reason: "lease-over",
		Grants: []string{"a", "b"}, From: 112 * ms, To: 120 * ms,
	}
	token := proof.Claim{
		Check: "fencing-tokens", Rule: "duplicate", Class: "defect", Grants: []string{"a", "b"}, From: 111 * ms,
		To: 112 * ms,
	}
	try := proof.Claim{Check: "bounded", Rule: "late-try", Class: "none", Grants: []string{"a"}, From: 0, To: 20 * ms}
	notice := proof.Claim{
		Check: "loss-notice", Rule: "late-notice", Class: "none", Grants: []string{"a", "b"}, From: 50 * ms,
		To: 101 * ms,
	}
	signal := proof.Claim{
		Check: "loss-notice", Rule: "late-notice", Class: "none", Grants: []string{"a"}, From: 101 * ms,
		To: 120 * ms,
	}
	twice := proof.Claim{Check: "once", Rule: "done-twice", Class: "none", Grants: []string{"a", "b"}, From: 3 * ms, To: 9 * ms}
	used := proof.Claim{
		Check: "assumptions", Rule: "used-after-release", Class: "none", Grants: []string{"a"}, From: 13 * ms,
		To: 13 * ms,
	}
	grants := func(c proof.Claim, ids ...string) proof.Claim { c.Grants = ids; return c }
	with := func(c proof.Claim, change func(c *proof.Claim)) proof.Claim { change(&c); return c }
	span := func(c proof.Claim, from, to int64) proof.Claim { c.From, c.To = from*ms, to*ms; return c }
	rule := func(c proof.Claim, rule string) proof.Claim { c.Rule = rule; return c }
	tokens := strings.Replace(late, "token=2", "token=1", 1)
	const tries = "run ends=never tolerance=5ms bounds=try:10ms\n0ms 1 c1 invoke try-acquire lock=L grant=a\n"
	const told = "run ends=lease ttl=100ms discipline=told renews=true tolerance=5ms\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms " +
		"1 c1 ok acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms\n"
	const jobs = "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a\n3ms 1 c1 invoke " +
		"work lock=L grant=a {\"period\":1}\n4ms 1 c1 ok work lock=L grant=a\n" +
		"5ms 2 c2 invoke acquire lock=L grant=b\n6ms 2 c2 ok acquire lock=L grant=b\n7ms 2 c2 invoke work lock=L grant=b " +
		"{\"period\":1}\n9ms 2 c2 ok work lock=L grant=b\n"
	for _, tc := range []struct {
		name, text string
		claim      proof.Claim
		want       string // empty: it is proven
	}{
		{"overlap", late, overlap, ""},
		{"of one grant", late, grants(overlap, "a"), "names 1 grants, but a finding of rule overlap must name 2"},
		{"of a grant that is not there", late, grants(overlap, "a", "x"), "the finding names grant x, but the events do not show the " +
			"request for this grant"},
		{"of a grant with itself", late, grants(overlap, "a", "a"), "names grant a twice"},
		{"the other way round", late, grants(overlap, "b", "a"), "grant a is earlier than grant b"},
		{
			"of a grant that was refused", strings.Replace(late, "112ms 2 c2 ok ", "112ms 2 c2 fail ", 1), overlap,
			"the finding names grant b, but the events do not show that the request for this grant succeeded",
		},
		{"of two locks", strings.ReplaceAll(late, "lock=L grant=b", "lock=M grant=b"), overlap, "belong to different locks"},
		{
			"a defect", late, with(overlap, func(c *proof.Claim) { c.Class, c.Reason = "defect", "both-valid" }),
			"according to the events the class of the finding is inherent (reason lease-over), but the finding says defect (reason " +
				"both-valid)",
		},
		{"for another reason", late, with(overlap, func(c *proof.Claim) { c.Reason = "both-valid" }), "but the finding says inherent " +
			"(reason both-valid)"},
		{"with another rule", late, rule(overlap, "late-notice"), "does not belong to the rule"},
		{"too long", late, span(overlap, 112, 121), "from 0.112 s to 0.120 s, but the finding says from 0.112 s to 0.121 s"},
		{"too early", late, span(overlap, 111, 120), "but the finding says from 0.111 s"},
		{"after its release was answered", strings.Replace(late, "120ms 1", "115ms 3 c1 invoke release lock=L grant=a\n116ms 3 c1 ok "+
			"release lock=L grant=a\n120ms 1", 1), overlap, "but the finding says from 0.112 s to 0.120 s"},
		{"after a release of unknown outcome", strings.Replace(late, "120ms 1", "115ms 3 c1 invoke release lock=L grant=a\n116ms 3 "+
			"c1 info release lock=L grant=a error=timeout\n120ms 1", 1), overlap, ""},
		{"at the answer to its release", strings.Replace(late, "120ms 1", "115ms 3 c1 invoke release lock=L grant=a\n120ms 3 c1 ok "+
			"release lock=L grant=a\n120ms 1", 1), overlap, ""},
		{"of a client that obeys its deadline", strings.Replace(late, "trusting", "obey", 1), overlap, ""},
		{"... and does nothing", strings.Replace(strings.Replace(late, "trusting", "obey", 1), "invoke write   lock=L grant=a "+
			"register=plain base=0 new=1", "invoke release lock=L grant=a", 1), overlap, "never believed at the same time"},
		{"of a client that was told", strings.Replace(strings.Replace(strings.Replace(late, "trusting", "told", 1),
			"120ms 1 c1 invoke write   lock=L grant=a register=plain base=0 new=1\n", "", 1), "110ms",
			"105ms - c1 info lost lease=a\n110ms", 1), overlap, "never believed at the same time"},
		{"of a client that was killed", strings.Replace(late, "120ms 1 c1 invoke write   lock=L grant=a register=plain base=0 new=1",
			"114ms - nemesis info kill client=c1", 1), span(overlap, 112, 114), ""},
		{"of a client of which nothing more is known", strings.Replace(late, "120ms 1 c1 invoke write   lock=L grant=a "+
			"register=plain base=0 new=1\n", "", 1), overlap, "never believed at the same time"},
		{"of readers", strings.ReplaceAll(strings.Replace(late, "ends=lease", "ends=lease model=read-write", 1), "lock=L",
			"lock=L mode=shared"), overlap, "by the rules of this lock"},
		{"touching", late + "140ms 3 c3 invoke acquire lock=L grant=c\n", grants(overlap, "a", "c"), "do not show that the request"},

		{"duplicate", tokens, token, ""},
		{"duplicate of two tokens", late, token, "the tokens are different (1 and 2)"},
		{"duplicate, inherent", tokens, with(token, func(c *proof.Claim) { c.Class = "inherent" }), "must have the class \"defect\""},
		{"duplicate, swapped", tokens, grants(token, "b", "a"), "was requested before"},
		{"no tokens", strings.ReplaceAll(tokens, " token=1", ""), token, "one of the two grants in the finding has no fencing token"},
		{"regress", strings.Replace(late, "token=1", "token=3", 1), rule(token, "regress"), ""},
		{"regress of one token", tokens, rule(token, "regress"), "the events do not show falling tokens"},
		{
			"regress of concurrent grants", strings.Replace(strings.Replace(late, "token=1", "token=3", 1), "sent=111ms", "sent=2ms", 1),
			span(rule(token, "regress"), 2, 112), "the events do not show falling tokens",
		},
		{"regress of readers", strings.ReplaceAll(strings.Replace(strings.Replace(late, "token=1", "token=3", 1), "ends=lease",
			"ends=lease model=read-write", 1), "lock=L", "lock=L mode=shared"), rule(token, "regress"), "the tokens of such readers can " +
			"come in any order"},
		{"regress of a reader and a writer", strings.ReplaceAll(strings.Replace(strings.Replace(late, "token=1", "token=3", 1),
			"ends=lease", "ends=lease model=read-write", 1), "lock=L grant=b", "lock=L grant=b mode=shared"), rule(token, "regress"), ""},

		{"late try", tries + "20ms 1 c1 fail try-acquire lock=L grant=a error=busy\n", try, ""},
		{"late try of a client that died", tries + "20ms - nemesis info kill client=c1\n", try, ""},
		{
			"just in time", tries + "15ms 1 c1 fail try-acquire lock=L grant=a error=busy\n", span(try, 0, 15),
			"answered the try-acquire within the time limit",
		},
		{
			"just late", tries + "15001us 1 c1 fail try-acquire lock=L grant=a error=busy\n",
			with(try, func(c *proof.Claim) { c.To = 15*ms + 1000 }), "",
		},
		{
			"with a class", tries + "20ms 1 c1 fail try-acquire lock=L grant=a error=busy\n",
			with(try, func(c *proof.Claim) { c.Class = "defect" }), "must have the class \"none\", but this finding has the class defect",
		},
		{
			"no try", strings.Replace(tries, "try-acquire", "acquire", 1) + "20ms 1 c1 fail acquire lock=L grant=a error=busy\n", try,
			"by an acquire that waits",
		},
		{
			"no bound", strings.Replace(tries, "bounds=try:10ms", "", 1) + "20ms 1 c1 fail try-acquire lock=L grant=a error=busy\n", try,
			"within the time limit",
		},

		{"late notice", strings.Replace(strings.Replace(late, "110ms", "48ms", 1), "112ms", "50ms", 1), notice, ""},
		{
			"never told", strings.Replace(strings.Replace(late, "110ms", "48ms", 1), "112ms", "50ms", 1), rule(notice, "no-notice"),
			"no-notice if the holder was never told",
		},
		{
			"to one client", strings.NewReplacer("110ms 2 c2", "48ms 2 c1", "112ms 2 c2", "50ms 2 c1", "c2", "c1").Replace(late), notice,
			"did not take the lock from the first",
		},
		{"given back before", strings.NewReplacer("110ms 2", "40ms 3 c1 invoke release lock=L grant=a\n48ms 2", "112ms",
			"50ms").Replace(late), notice, "had already released the lock, or stopped using it,"},
		{"in time", strings.NewReplacer("110ms", "90ms", "112ms", "97ms", "sent=111ms", "sent=91ms", "run ",
			"run tolerance=5ms ").Replace(late), span(notice, 97, 101), "could detect the loss of the lock in time"},

		{"late signal", told + "120ms - c1 info lost lease=a\n", signal, ""},
		{"no signal", told + "120ms 1 c1 invoke release lock=L grant=a\n", rule(signal, "no-notice"), ""},
		{
			"a signal that came", told + "120ms - c1 info lost lease=a\n", rule(signal, "no-notice"),
			"no-notice if the holder was never told",
		},
		{"a signal in time", told + "106ms - c1 info lost lease=a\n", span(signal, 101, 106), "the finding is no violation: either " +
			"the holder was told of the loss in time, or its library does not promise to tell the holder"},
		{"a signal before the end", told + "90ms - c1 info lost lease=a\n", signal, "the finding is no violation: either the holder " +
			"was told of the loss in time, or its library does not promise to tell the holder"},
		{
			"of who need not tell", strings.Replace(told, "renews=true", "", 1) + "120ms - c1 info lost lease=a\n", signal,
			"the finding is no violation: either the holder was told of the loss in time, or its library does not promise to tell " +
				"the holder",
		},

		{"done twice", jobs, twice, ""},
		{"done twice by one", jobs, grants(twice, "a"), "not show a job that was done twice"},
		{"done twice by three", jobs, grants(twice, "a", "b", "c"), "not show a job that was done twice"},
		{"in another order", jobs, grants(twice, "b", "a"), "not show a job that was done twice"},
		{"two periods", strings.Replace(jobs, `grant=b {"period":1}`, `grant=b {"period":2}`, 1), twice, "not show a job that"},

		{"used after release", "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a\n10ms 1 " +
			"c1 invoke release lock=L grant=a\n12ms 1 c1 ok release lock=L grant=a\n13ms 1 c1 invoke write lock=L grant=a " +
			"register=plain new=1\n", used, ""},
		{"used before the answer", "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a\n10ms " +
			"1 c1 invoke release lock=L grant=a\n13ms 2 c1 invoke write lock=L grant=a register=plain new=1\n13ms 1 c1 ok release " +
			"lock=L grant=a\n", used, "after the store had answered the client's release"},

		{"an unknown rule", late, rule(overlap, "bad-luck"), "has no rule \"bad-luck\""},
		{"a rule of another check", late, rule(overlap, "orphan"), "has no rule \"orphan\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, err := history.ParseText(strings.NewReader(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			story, err := proof.Check(h.Events, tc.claim)
			switch {
			case tc.want == "" && (err != nil || len(story) == 0):
				t.Errorf("it is not proven: %v\n%s", err, tc.text)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want %q\n%s", err, tc.want, tc.text)
			}
		})
	}
}
