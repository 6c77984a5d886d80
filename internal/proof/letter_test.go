package proof_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

func recordOf(t *testing.T, text string) *proof.Record {
	t.Helper()
	h, err := history.ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	return proof.New(rec)
}

// A letter is read as it was written, holds, and is refused once it is not.
func TestLetter(t *testing.T) {
	claim := proof.Claim{
		Check: "mutual-exclusion", Rule: "overlap", Class: "inherent", Reason: "lease-over",
		Grants: []string{"a", "b"}, From: 112 * ms, To: 120 * ms,
	}
	record := recordOf(t, late)
	p := record.Prove(proof.Claimed{Claim: claim})
	if all := record.ProveAll([]proof.Claimed{{Claim: claim}, {Claim: claim}, {Claim: claim}}); len(all) != 3 ||
		!reflect.DeepEqual(all[0], p) || !reflect.DeepEqual(all[2], p) {
		t.Fatalf("several at once: %v, one: %v", all, p)
	}
	l, err := record.Letter(claim, p, "c2 got L", "digest")
	if err != nil || l.NeedsRecord || len(l.Events) != len(p.Events) {
		t.Fatalf("%v: %+v", err, l)
	}
	write := func(l *proof.Letter) string {
		path := filepath.Join(t.TempDir(), "proof.json")
		text, err := json.MarshalIndent(l, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	again, err := proof.ReadLetter(write(l))
	if err != nil {
		t.Fatal(err)
	}
	if story, err := again.Verify(); err != nil || len(story) != len(p.Events)+1 {
		t.Errorf("%v: %q", err, story)
	}
	if _, err := again.Against(record, "digest"); err != nil {
		t.Error(err)
	}
	if _, err := again.Against(record, "another"); err == nil || !strings.Contains(err.Error(), "another record") {
		t.Errorf("another record: %v", err)
	}
	other := recordOf(t, strings.Replace(late, "130ms", "131ms", 1))
	if _, err := again.Against(other, "digest"); err == nil || !strings.Contains(err.Error(), "differs between the proof and "+
		"the record") {
		t.Errorf("an altered record: %v", err)
	}
	if _, err := again.Against(recordOf(t, late[:strings.LastIndex(late, "130ms")]), "digest"); err == nil ||
		!strings.Contains(err.Error(), "differs between the proof and the record") {
		t.Errorf("a shorter record: %v", err)
	}
	again.Claim.Class = "defect"
	for _, verify := range []func() ([]string, error){
		again.Verify,
		func() ([]string, error) { return again.Against(record, "digest") },
	} {
		if _, err := verify(); err == nil || !strings.Contains(err.Error(), "the checksum in the field \"seal\" does not match") {
			t.Errorf("a letter that was tampered with: %v", err)
		}
	}
	l.Schema = 2
	if _, err := proof.ReadLetter(write(l)); err == nil || !strings.Contains(err.Error(), "schema version 2") {
		t.Errorf("a later schema: %v", err)
	}
	for name, text := range map[string]string{
		"empty": "", "another file": `{"schema":1}`, "no number": `{}`,
		"cut off": `{"lockstorm_proof":1,`,
	} {
		path := filepath.Join(t.TempDir(), "proof.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := proof.ReadLetter(path); !errors.Is(err, proof.ErrNoLetter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := record.Letter(claim, &proof.Certificate{Events: []int64{0, 99}}, "", ""); err == nil {
		t.Error("a letter of events that are not there")
	}
	sum, err := proof.Digest(write(l))
	if err != nil || len(sum) != 64 {
		t.Errorf("%q %v", sum, err)
	}
	if _, err := proof.Digest(filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("the digest of nothing")
	}
}

// Rules of absence are held against the whole record: each history proves its claim, and not one of the others.
func TestAbsences(t *testing.T) {
	const inVain = "run ends=never bound=20ms\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a\n3ms - " +
		"nemesis info kill client=c1\n" +
		"10ms 2 c2 invoke acquire lock=L grant=b\n20ms - controller info phase \"final\"\n45ms 2 c2 info acquire lock=L grant=b " +
		"error=timeout\nend\n"
	const refused = "run ends=lease ttl=100ms fencing=on tokens=true registers=fenced\n0ms 1 c1 invoke acquire lock=L " +
		"grant=a\n2ms 1 c1 ok acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms token=1\n" +
		"5ms - register fail write lock=L grant=a register=fenced token=1 error=stale-token client=c1\nend\n"
	const ofNone = "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 fail acquire lock=L grant=a error=busy\n5ms " +
		"1 c1 invoke release lock=L grant=a\n6ms 1 c1 ok release lock=L grant=a\nend\n"
	const wait = "run ends=never locks=L,M\n0ms 1 c1 invoke acquire lock=M grant=m\n1ms 1 c1 ok acquire lock=M grant=m\n2ms 2 c2 " +
		"invoke acquire lock=L grant=l\n3ms 2 c2 ok acquire lock=L grant=l\n" +
		"4ms 1 c1 invoke acquire lock=L grant=a\n5ms 2 c2 invoke acquire lock=M grant=b\n30ms 1 c1 fail acquire lock=L grant=a " +
		"error=deadlock\n31ms 1 c1 invoke release lock=M grant=m\n" +
		"32ms 1 c1 ok release lock=M grant=m\n33ms 2 c2 ok acquire lock=M grant=b\nend\n"
	const queue = "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=o\n1ms 1 c1 ok acquire lock=L grant=o\n2ms 2 c2 invoke " +
		"acquire lock=L grant=a\n3ms 3 c3 invoke acquire lock=L grant=b\n30ms 1 c1 invoke release lock=L grant=o\n31ms 1 c1 ok " +
		"release lock=L grant=o\nend\n"
	const overtakes = "run ends=never fair=true\n0ms 1 c1 invoke acquire lock=L grant=a\n1002ms 2 c2 invoke acquire lock=L " +
		"grant=b\n1005ms 2 c2 ok acquire lock=L grant=b sent=1002ms\n1006ms 2 c2 invoke release lock=L grant=b\n" +
		"1007ms 2 c2 ok release lock=L grant=b\n1009ms 1 c1 ok acquire lock=L grant=a sent=1008ms\nend\n"
	const stock = "run ends=never registers=stock,ledger\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L " +
		"grant=a\n3ms 1 c1 invoke write lock=L grant=a register=stock base=0 new=9\n4ms 1 c1 ok write lock=L grant=a register=stock " +
		"base=0 new=9\n" +
		"5ms 1 c1 invoke release lock=L grant=a\n6ms 1 c1 ok release lock=L grant=a\n10ms 2 c2 invoke acquire lock=L grant=b\n12ms 2 " +
		"c2 ok acquire lock=L grant=b\n13ms 2 c2 invoke read lock=L grant=b register=stock\n14ms 2 c2 ok read lock=L grant=b " +
		"register=stock base=0\nend\n"
	claim := func(check, rule, class string, from, to int64, grants ...string) proof.Claim {
		reason := map[string]string{"orphan": "never-released", "release-of-none": "not-owner"}[rule]
		return proof.Claim{Check: check, Rule: rule, Class: class, Reason: reason, Grants: grants, From: from * ms, To: to * ms}
	}
	swap := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	back := swap(inVain, "45ms 2 c2 info acquire lock=L grant=b error=timeout", "30ms 2 c2 ok acquire lock=L grant=b")
	const cameBack, noTest, noWait, notOlder = "the lock came back in the recovery test, or not as the finding says",
		"does not contain the recovery test", "does not show that each of the two clients held the lock",
		"clients with later requests got lock"
	for _, w := range []wrong{
		{"orphan", inVain, claim("liveness", "orphan", "none", 20, 40, "a"), ""},
		{"orphan as a defect", inVain, claim("liveness", "orphan", "defect", 20, 40, "a"), "must have the class \"none\", but this " +
			"finding has the class defect"},
		{"orphan without its grant", inVain, claim("liveness", "orphan", "none", 20, 40), cameBack},
		{"no recovery, where a grant is in the way", inVain, claim("liveness", "no-recovery", "none", 20, 40), cameBack},
		{
			"no recovery", swap(inVain, "2ms 1 c1 ok acquire lock=L grant=a", "2ms 1 c1 fail acquire lock=L grant=a error=busy",
				"info acquire lock=L grant=b error=timeout", "fail acquire lock=L grant=b error=busy"),
			claim("liveness", "no-recovery", "none", 20, 40), "",
		},
		{"in a window of 1 ms", inVain, claim("liveness", "orphan", "none", 20, 21, "a"), cameBack},
		{"in a window before", inVain, claim("liveness", "orphan", "none", 4, 9, "a"), cameBack},
		{
			"without a test", swap(inVain, "20ms - controller info phase \"final\"\n", ""),
			claim("liveness", "orphan", "none", 20, 40, "a"), noTest,
		},
		{"in a record that is cut off", swap(inVain, "\nend\n", "\n"), claim("liveness", "orphan", "none", 20, 40, "a"), noTest},
		{"by another rule", inVain, claim("liveness", "bad-luck", "none", 20, 40, "a"), "has no rule \"bad-luck\""},
		{"a recovery", back, claim("liveness", "no-recovery", "none", 20, 40), cameBack},
		{"a recovery, in a window of 1 ms", back, claim("liveness", "no-recovery", "none", 20, 21), cameBack},
		// it followed the dead one
		{
			"granted too late", swap(inVain, "info acquire lock=L grant=b error=timeout", "ok acquire lock=L grant=b"),
			claim("liveness", "orphan", "none", 20, 40, "a"), cameBack,
		},
		{"refused", refused, claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), ""},
		{
			"refused, inherent", refused, claim("fencing-tokens", "refused-valid", "inherent", 5, 5, "a"),
			"this finding has the class inherent",
		},
		{"refused by a run without tokens", swap(refused, "tokens=true ", ""), claim("fencing-tokens", "refused-valid", "defect", 5, 5,
			"a"), "does not apply to this run"},
		{
			"refused at another time", refused, claim("fencing-tokens", "refused-valid", "defect", 6, 6, "a"),
			"was refused at the time of the finding",
		},
		{
			"refused for some time", refused, claim("fencing-tokens", "refused-valid", "defect", 5, 6, "a"),
			"was refused at the time of the finding",
		},
		{
			"refused when it was over", swap(refused, "ttl=100ms deadline=101ms", "ttl=4ms deadline=5ms"),
			claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), "its lease had run out",
		},
		{
			"refused for one that is asked for at that moment", swap(refused, "5ms - ", "2ms 2 c2 invoke acquire lock=L grant=b\n5ms - ",
				"end\n", "6ms 2 c2 ok acquire lock=L grant=b lease=b sent=5ms ttl=100ms deadline=105ms token=2\nend\n"),
			claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), "grant b is newer than grant a",
		},
		{
			"refused at that very moment", swap(refused, "ttl=100ms deadline=101ms", "ttl=5ms deadline=6ms", "run ", "run tolerance=1ms "),
			claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), "its lease had run out",
		},
		{"refused for a newer one", swap(refused, "5ms - ", "2ms 2 c2 invoke acquire lock=L grant=b\n4ms 2 c2 ok acquire lock=L "+
			"grant=b lease=b sent=3ms ttl=100ms deadline=103ms token=2\n5ms - "), claim("fencing-tokens", "refused-valid", "defect", 5, 5,
			"a"), "grant b is newer than grant a"},
		{"refused for one with a lower token", swap(refused, "deadline=101ms token=1", "deadline=101ms token=3", "5ms - ",
			"2ms 2 c2 invoke acquire lock=L grant=b\n4ms 2 c2 ok acquire lock=L grant=b lease=b sent=3ms ttl=100ms deadline=103ms "+
				"token=2\n5ms - "), claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), ""},
		{"release of none", ofNone, claim("ownership", "release-of-none", "defect", 5, 6, "a"), ""},
		{
			"release of none, inherent", ofNone, claim("ownership", "release-of-none", "inherent", 5, 6, "a"),
			"must have the class \"defect\"",
		},
		{
			"release of none, too late", ofNone, claim("ownership", "release-of-none", "defect", 5, 7, "a"),
			"carried out a release of grant",
		},
		{
			"release of none, too early", ofNone, claim("ownership", "release-of-none", "defect", 4, 6, "a"),
			"carried out a release of grant",
		},
		{
			"release of one", swap(ofNone, "fail acquire lock=L grant=a error=busy", "ok acquire lock=L grant=a"),
			claim("ownership", "release-of-none", "defect", 5, 6, "a"), "that the store had refused",
		},
		{"mutual wait", wait, claim("deadlock", "mutual-wait", "none", 5, 30, "a", "b"), ""},
		{"mutual wait, too long", wait, claim("deadlock", "mutual-wait", "none", 5, 31, "a", "b"), noWait},
		{"mutual wait, too early", wait, claim("deadlock", "mutual-wait", "none", 4, 30, "a", "b"), noWait},
		{"mutual wait of a holder", wait, claim("deadlock", "mutual-wait", "none", 5, 30, "m", "b"), noWait},
		{"mutual wait of two in one queue", queue, claim("deadlock", "mutual-wait", "none", 3, 30, "a", "b"), noWait},
		{"overtaken", overtakes, claim("fairness", "overtaken", "none", 0, 1009, "a"), ""},
		{"overtaken, in a lock without an order", swap(overtakes, "fair=true", ""), claim("fairness", "overtaken", "none", 0, 1009,
			"a"), "a lock that promises an order"},
		{"overtaken, too late", overtakes, claim("fairness", "overtaken", "none", 0, 1010, "a"), "from its beginning to its end"},
		{
			"overtaken by who asked at nearly the same time", swap(overtakes, "1002ms", "900ms"),
			claim("fairness", "overtaken", "none", 0, 1009, "a"), notOlder,
		},
		{"overtaken while the host stood still", swap(overtakes, "1002ms 2", "500ms - controller info stall "+
			"{\"late_ns\":20000000}\n1002ms 2"), claim("fairness", "overtaken", "none", 0, 1009, "a"), notOlder},
		{"the other one", overtakes, claim("fairness", "overtaken", "none", 1002, 1005, "b"), notOlder},
		{"stock", stock, claim("stock", "stock-off", "none", 13, 14, "b"), ""},
		{
			"stock that is right", swap(stock, "register=stock base=0\nend", "register=stock base=9\nend"),
			claim("stock", "stock-off", "none", 13, 14, "b"), "differs from the initial stock",
		},
		{
			"stock of an unknown write", swap(stock, "4ms 1 c1 ok write", "4ms 1 c1 info write"),
			claim("stock", "stock-off", "none", 13, 14, "b"), "it is unknown which writes",
		},
		{"stock at another time", stock, claim("stock", "stock-off", "none", 13, 15, "b"), "differs from the initial stock"},
		{
			"a loss without a log", swap(stock, "stock", "plain", ",ledger", " resource=true"),
			claim("data-plain", "lost-update", "none", 0, 0), "cannot be proved by a few events",
		},
		{
			"a loss of a register that is not there", late, claim("data-fenced", "lost-update", "none", 0, 0),
			"does not apply to this run",
		},
	} {
		t.Run(w.name, func(t *testing.T) {
			p := &proof.Certificate{Grants: w.claim.Grants, From: w.claim.From, To: w.claim.To, Record: true}
			story, err := recordOf(t, w.text).Verify(w.claim, p)
			switch {
			case w.want == "" && (err != nil || len(story) == 0):
				t.Errorf("it is not proven: %v\n%s", err, w.text)
			case w.want != "" && (err == nil || !strings.Contains(err.Error(), w.want)):
				t.Errorf("error %v, want %q\n%s", err, w.want, w.text)
			}
		})
	}
}

// A proof is one of its finding: of its grants and of its time.
func TestProofOfAnother(t *testing.T) {
	record := recordOf(t, heldUp)
	finding := proof.Claim{
		Check: "mutual-exclusion", Rule: "late-notice", Class: "defect", Reason: "told-late", Grants: []string{"a", "b"},
		From: 1700 * ms, To: 1900 * ms,
	}
	for name, change := range map[string]func(p *proof.Certificate){
		"other grants": func(p *proof.Certificate) { p.Grants = []string{"b", "a"} },
		"a later time": func(p *proof.Certificate) { p.From++ },
		"a short time": func(p *proof.Certificate) { p.To-- },
	} {
		p := record.Prove(proof.Claimed{Claim: finding})
		if _, err := record.Verify(finding, p); err != nil {
			t.Fatal(err)
		}
		change(p)
		if _, err := record.Verify(finding, p); err == nil || !strings.Contains(err.Error(), "its grants or times are others") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A pass is looked at again; a record that is cut off proves nothing after its end.
func TestExclusive(t *testing.T) {
	if n, err := recordOf(t, late).Exclusive(); err == nil || n != 2 {
		t.Errorf("two holders at once: %d grants, %v", n, err)
	}
	cut, _, _ := strings.Cut(late, "120ms")
	if n, err := recordOf(t, cut).Exclusive(); err != nil || n != 2 {
		t.Errorf("cut off before it shows: %d grants, %v", n, err)
	}
	const obeys = "run ends=lease ttl=100ms discipline=obey\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L " +
		"grant=a lease=a sent=1ms ttl=100ms deadline=101ms\n3ms 2 c2 invoke acquire lock=L grant=b\n4ms 2 c2 ok acquire lock=L " +
		"grant=b lease=b sent=3ms ttl=100ms deadline=103ms\n"
	if _, err := recordOf(t, obeys+"5ms - c1 invoke point\n6ms - c2 invoke point\n").Exclusive(); err == nil {
		t.Error("two leases at once are not seen")
	}
}

// Of a defect of a lock that ends with its connection, and of a late signal, only the whole record can say that nothing excuses
// it; of a defect under two leases the letter says all.
func TestLetterWithoutTheRecord(t *testing.T) {
	const leases = `run ends=lease ttl=1s tolerance=5ms
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a lease=a sent=1ms ttl=1s deadline=1001ms
498ms 2 c2 invoke acquire lock=L grant=b
500ms 2 c2 ok     acquire lock=L grant=b lease=b sent=499ms ttl=1s deadline=1499ms
600ms 1 c1 invoke release lock=L grant=a
601ms 1 c1 ok     release lock=L grant=a
700ms 2 c2 invoke release lock=L grant=b
701ms 2 c2 ok     release lock=L grant=b
end
`
	fault := `{"id":1,"fault":"clock-jump","family":"clock","nodes":["db-1"],"proof":"it took effect"}`
	for name, tc := range map[string]struct {
		text, rule, class, reason string
		from, to                  int64
		want                      error
	}{
		"a connection":  {strings.ReplaceAll(bound, "FAULT", fault), "overlap", "defect", "no-lease", 500, 600, proof.ErrExcuse},
		"a late signal": {heldUp, "late-notice", "defect", "told-late", 1700, 1900, proof.ErrExcuse},
		"two leases":    {leases, "overlap", "defect", "both-valid", 500, 600, nil},
	} {
		record := recordOf(t, tc.text)
		c := proof.Claim{
			Check: "mutual-exclusion", Rule: tc.rule, Class: tc.class, Reason: tc.reason, Grants: []string{"a", "b"},
			From: tc.from * ms, To: tc.to * ms,
		}
		l, err := record.Letter(c, record.Prove(proof.Claimed{Claim: c}), "", digest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Verify(); !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want %v", name, err, tc.want)
		}
	}
}

const digest = "of this record"
