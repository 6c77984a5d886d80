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
	"github.com/lockstorm/lockstorm/proof"
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
	claim := proof.Claim{Check: "mutual-exclusion", Rule: "overlap", Class: "inherent", Reason: "lease-over", Grants: []string{"a", "b"}, From: 112 * ms, To: 120 * ms}
	record := recordOf(t, late)
	p := record.Prove(proof.Finding{Claim: claim})
	if all := record.ProveAll([]proof.Finding{{Claim: claim}, {Claim: claim}, {Claim: claim}}); len(all) != 3 || !reflect.DeepEqual(all[0], p) || !reflect.DeepEqual(all[2], p) {
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
	if _, err := again.Against(other, "digest"); err == nil || !strings.Contains(err.Error(), "differs between the proof and the record") {
		t.Errorf("an altered record: %v", err)
	}
	if _, err := again.Against(recordOf(t, late[:strings.LastIndex(late, "130ms")]), "digest"); err == nil || !strings.Contains(err.Error(), "differs between the proof and the record") {
		t.Errorf("a shorter record: %v", err)
	}
	again.Claim.Class = "defect"
	for _, verify := range []func() ([]string, error){again.Verify, func() ([]string, error) { return again.Against(record, "digest") }} {
		if _, err := verify(); err == nil || !strings.Contains(err.Error(), "the checksum in the field \"seal\" does not match") {
			t.Errorf("a letter that was tampered with: %v", err)
		}
	}
	l.Schema = 2
	if _, err := proof.ReadLetter(write(l)); err == nil || !strings.Contains(err.Error(), "schema version 2") {
		t.Errorf("a later schema: %v", err)
	}
	for name, text := range map[string]string{"empty": "", "another file": `{"schema":1}`, "no number": `{}`, "cut off": `{"lockstorm_proof":1,`} {
		path := filepath.Join(t.TempDir(), "proof.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := proof.ReadLetter(path); !errors.Is(err, proof.ErrNoLetter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := record.Letter(claim, &proof.Proof{Events: []int64{0, 99}}, "", ""); err == nil {
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
	const inVain = "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a\n3ms - nemesis info kill client=c1\n10ms 2 c2 invoke acquire lock=L grant=b\n30ms 2 c2 info acquire lock=L grant=b error=timeout\n"
	const refused = "run ends=lease ttl=100ms fencing=on registers=fenced\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms token=1\n5ms - register fail write lock=L grant=a register=fenced token=1 error=stale-token client=c1\n"
	const ofNone = "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 fail acquire lock=L grant=a error=busy\n5ms 1 c1 invoke release lock=L grant=a\n6ms 1 c1 ok release lock=L grant=a\n"
	const wait = "run ends=never locks=L,M\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 2 c2 invoke acquire lock=M grant=b\n30ms 1 c1 fail acquire lock=L grant=a error=deadlock\n31ms 2 c2 ok acquire lock=M grant=b\n"
	const overtakes = "run ends=never\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 2 c2 invoke acquire lock=L grant=b\n5ms 2 c2 ok acquire lock=L grant=b sent=2ms\n6ms 2 c2 invoke release lock=L grant=b\n7ms 2 c2 ok release lock=L grant=b\n9ms 1 c1 ok acquire lock=L grant=a sent=8ms\n"
	const stock = "run ends=never registers=stock,ledger\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a\n3ms 1 c1 invoke write lock=L grant=a register=stock base=0 new=9\n4ms 1 c1 ok write lock=L grant=a register=stock base=0 new=9\n" +
		"5ms 1 c1 invoke release lock=L grant=a\n6ms 1 c1 ok release lock=L grant=a\n10ms 2 c2 invoke acquire lock=L grant=b\n12ms 2 c2 ok acquire lock=L grant=b\n13ms 2 c2 invoke read lock=L grant=b register=stock\n14ms 2 c2 ok read lock=L grant=b register=stock base=0\n"
	claim := func(check, rule, class string, from, to int64, grants ...string) proof.Claim {
		return proof.Claim{Check: check, Rule: rule, Class: class, Grants: grants, From: from * ms, To: to * ms}
	}
	swap := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	for _, w := range []wrong{
		{"no recovery", inVain, claim("liveness", "no-recovery", "none", 20, 29), ""},
		{"no recovery as a defect", inVain, claim("liveness", "no-recovery", "defect", 20, 29), "must have the class \"none\", but this finding has the class defect"},
		{"a recovery", swap(inVain, "info acquire lock=L grant=b error=timeout", "ok acquire lock=L grant=b"), claim("liveness", "no-recovery", "none", 20, 30), "every client that requested a lock got this lock"},
		{"granted later", swap(inVain, "info acquire lock=L grant=b error=timeout", "ok acquire lock=L grant=b"), claim("liveness", "no-recovery", "none", 20, 29), ""},
		{"granted at once", swap(inVain, "30ms 2 c2 info acquire lock=L grant=b error=timeout", "20ms 2 c2 ok acquire lock=L grant=b"), claim("liveness", "no-recovery", "none", 20, 29), "every client that requested a lock got this lock"},
		{"asked later", inVain, claim("liveness", "no-recovery", "none", 4, 9), "every client that requested a lock got this lock"},
		{"refused before", swap(inVain, "info acquire lock=L grant=b error=timeout", "fail acquire lock=L grant=b error=busy"), claim("liveness", "no-recovery", "none", 31, 40), "every client that requested a lock got this lock"},
		{"orphan", inVain, claim("liveness", "orphan", "none", 10, 30, "a"), ""},
		{"orphan that is held", inVain, claim("liveness", "orphan", "none", 2, 9, "a"), "every client that requested a lock got this lock"},
		{"refused", refused, claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), ""},
		{"refused, inherent", refused, claim("fencing-tokens", "refused-valid", "inherent", 5, 5, "a"), "the finding has the class inherent"},
		{"refused at another time", refused, claim("fencing-tokens", "refused-valid", "defect", 6, 6, "a"), "the fence refused a request under grant"},
		{"refused when it was over", swap(refused, "ttl=100ms deadline=101ms", "ttl=4ms deadline=5ms"), claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), "while the lease of this grant was still running"},
		{"refused for one that is asked for at that moment", swap(refused, "5ms - ", "2ms 2 c2 invoke acquire lock=L grant=b\n5ms - ") + "6ms 2 c2 ok acquire lock=L grant=b lease=b sent=5ms ttl=100ms deadline=105ms token=2\n", claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), "grant b is newer than grant a"},
		{"refused at that very moment", swap(refused, "ttl=100ms deadline=101ms", "ttl=5ms deadline=6ms", "run ", "run tolerance=1ms "), claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), "while the lease of this grant was still running"},
		{"refused for a newer one", swap(refused, "5ms - ", "2ms 2 c2 invoke acquire lock=L grant=b\n4ms 2 c2 ok acquire lock=L grant=b lease=b sent=3ms ttl=100ms deadline=103ms token=2\n5ms - "), claim("fencing-tokens", "refused-valid", "defect", 5, 5, "a"), "grant b is newer than grant a"},
		{"release of none", ofNone, claim("ownership", "release-of-none", "defect", 5, 6, "a"), ""},
		{"release of none, inherent", ofNone, claim("ownership", "release-of-none", "inherent", 5, 6, "a"), "must have the class \"defect\", and name exactly one grant"},
		{"release of none, too late", ofNone, claim("ownership", "release-of-none", "defect", 5, 7, "a"), "carried out a release of grant"},
		{"release of none, too early", ofNone, claim("ownership", "release-of-none", "defect", 4, 6, "a"), "carried out a release of grant"},
		{"release of one", swap(ofNone, "fail acquire lock=L grant=a error=busy", "ok acquire lock=L grant=a"), claim("ownership", "release-of-none", "defect", 5, 6, "a"), "may have succeeded"},
		{"mutual wait", wait, claim("deadlock", "mutual-wait", "none", 2, 30, "a", "b"), ""},
		{"mutual wait, too long", wait, claim("deadlock", "mutual-wait", "none", 2, 31, "a", "b"), "the client that requested grant a did not wait for the whole of this time"},
		{"mutual wait, too early", wait, claim("deadlock", "mutual-wait", "none", 1, 30, "a", "b"), "the client that requested grant b did not wait for the whole of this time"},
		{"overtaken", overtakes, claim("fairness", "overtaken", "none", 0, 9, "a"), ""},
		{"overtaken, too late", overtakes, claim("fairness", "overtaken", "none", 0, 10, "a"), "a client with a later request got lock"},
		{"overtaken by who asked before", swap(overtakes, "0ms 1", "1ms 1", "2ms 2", "1ms 2", "sent=2ms", "sent=1ms"), claim("fairness", "overtaken", "none", 1, 9, "a"), "a client with a later request got lock"},
		{"the other one", overtakes, claim("fairness", "overtaken", "none", 2, 5, "b"), "a client with a later request got lock"},
		{"stock", stock, claim("stock", "stock-off", "none", 13, 14, "b"), ""},
		{"stock that is right", swap(stock, "register=stock base=0\n", "register=stock base=9\n"), claim("stock", "stock-off", "none", 13, 14, "b"), "differs from the initial stock"},
		{"stock of an unknown write", swap(stock, "4ms 1 c1 ok write", "4ms 1 c1 info write"), claim("stock", "stock-off", "none", 13, 14, "b"), "is unknown whether"},
		{"stock at another time", stock, claim("stock", "stock-off", "none", 13, 15, "b"), "differs from the initial stock"},
		{"a loss without a log", late, proof.Claim{Check: "data-plain", Rule: "no-order"}, "cannot be proved by a few events"},
	} {
		t.Run(w.name, func(t *testing.T) {
			p := &proof.Proof{Grants: w.claim.Grants, From: w.claim.From, To: w.claim.To, Record: true}
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

// A pass is looked at again; a record that is cut off proves nothing after its end.
func TestExclusive(t *testing.T) {
	if n, err := recordOf(t, late).Exclusive(); err == nil || n != 2 {
		t.Errorf("two holders at once: %d grants, %v", n, err)
	}
	cut, _, _ := strings.Cut(late, "120ms")
	if n, err := recordOf(t, cut).Exclusive(); err != nil || n != 2 {
		t.Errorf("cut off before it shows: %d grants, %v", n, err)
	}
	const obeys = "run ends=lease ttl=100ms discipline=obey\n0ms 1 c1 invoke acquire lock=L grant=a\n2ms 1 c1 ok acquire lock=L grant=a lease=a sent=1ms ttl=100ms deadline=101ms\n3ms 2 c2 invoke acquire lock=L grant=b\n4ms 2 c2 ok acquire lock=L grant=b lease=b sent=3ms ttl=100ms deadline=103ms\n"
	if _, err := recordOf(t, obeys+"5ms - c1 invoke point\n6ms - c2 invoke point\n").Exclusive(); err == nil {
		t.Error("two leases at once are not seen")
	}
}
