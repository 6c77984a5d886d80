package proof_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/proof"
)

// heldUp is a client whose library told it 400 ms late that its lease had run out.
const heldUp = `run ends=lease ttl=1s tolerance=5ms discipline=told renews=true signals=channel
0ms    1 c1 invoke acquire lock=L grant=a
2ms    1 c1 ok     acquire lock=L grant=a lease=a sent=1ms ttl=1s deadline=1001ms
500ms  2 c1 invoke renew   lock=L grant=a lease=a
501ms  2 c1 ok     renew   lock=L grant=a lease=a sent=500ms ttl=1s deadline=1500ms
1698ms 3 c2 invoke acquire lock=L grant=b
1700ms 3 c2 ok     acquire lock=L grant=b lease=b sent=1699ms ttl=1s deadline=2699ms
1900ms - c1 info   lost    lock=L grant=a lease=a
2000ms 3 c2 invoke release lock=L grant=b
2001ms 3 c2 ok     release lock=L grant=b
2100ms 1 c1 invoke release lock=L grant=a
2101ms 1 c1 fail   release lock=L grant=a error=not-held
end
`

// bound is a client whose lock is bound to its connection, and whose lock another client was granted while it held it.
const bound = `run ends=connection tolerance=5ms
0ms   1 c1 invoke acquire lock=L grant=a
2ms   1 c1 ok     acquire lock=L grant=a nodes=db-1
100ms - nemesis invoke fault FAULT
101ms - nemesis ok     fault FAULT
498ms 2 c2 invoke acquire lock=L grant=b
500ms 2 c2 ok     acquire lock=L grant=b nodes=db-1
550ms 1 c1 invoke work    lock=L grant=a
560ms 1 c1 ok     work    lock=L grant=a
600ms 2 c2 invoke release lock=L grant=b
601ms 2 c2 ok     release lock=L grant=b
700ms 1 c1 invoke release lock=L grant=a
701ms 1 c1 fail   release lock=L grant=a error=not-held
end
`

// inOrder sorts the lines of a history by their times; the end is the last one.
func inOrder(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return l == "" || l == "end" })
	at := func(line string) (ms int) {
		_, _ = fmt.Sscanf(line, "%dms", &ms) // the run itself has no time
		return ms
	}
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(at(a), at(b)) })
	return strings.Join(lines, "\n") + "\nend\n"
}

// The class of an overlap has to be that of the whole record: the verifier gathers what excuses a client, whatever the finding
// says.
func TestExcuses(t *testing.T) {
	claim := func(from, to int64, rule, class, reason string) proof.Claim {
		return proof.Claim{
			Check: "mutual-exclusion", Rule: rule, Class: class, Reason: reason, Grants: []string{"a", "b"},
			From: from * ms, To: to * ms,
		}
	}
	defect, excused := claim(1700, 1900, "late-notice", "defect", "told-late"),
		claim(1700, 1900, "overlap", "inherent", "lease-over")
	over, valid := claim(500, 600, "overlap", "inherent", "connection-over"), claim(500, 600, "overlap", "defect", "no-lease")
	const pause = `fault {"id":1,"fault":"client-pause","family":"client","clients":["c1"],"proof":"stopped"}`
	paused := func(from, effect, to string) string {
		return inOrder(heldUp + from + " - nemesis invoke " + pause + "\n" + from + " - nemesis " + effect + " " + pause + "\n" + to +
			" - nemesis ok " + strings.Replace(pause, "fault", "heal", 1))
	}
	const stall = "\n1899ms - c1 info stall {\"late_ns\":376000000}"
	fault := func(f string) string {
		return strings.ReplaceAll(bound, "FAULT", `{"id":1,`+f+`,"proof":"it took effect"}`)
	}
	for _, tc := range []struct {
		name, text string
		right      proof.Claim
		forged     proof.Claim
	}{
		{"paused until it was told", paused("700ms", "ok", "1899ms"), excused, defect},
		{"paused before the last renewal", paused("100ms", "ok", "402ms"), defect, excused},
		{"paused, without effect", paused("700ms", "fail", "1899ms"), defect, excused},
		{"paused for a short time", paused("1502ms", "ok", "1524ms"), defect, excused},
		{"stalled beside a short pause", inOrder(paused("1502ms", "ok", "1524ms") + stall), excused, defect},
		{"cut off from its server", fault(`"fault":"partition-client","family":"link","clients":["c1"],"nodes":["db-1"]`), over, valid},
		{"its server was restarted", fault(`"fault":"server-restart","family":"server","nodes":["db-1"]`), over, valid},
		{"its connection was ended", fault(`"fault":"kill-connection","family":"store","clients":["c1"]`), over, valid},
		{"another server was restarted", fault(`"fault":"server-restart","family":"server","nodes":["db-2"]`), valid, over},
		{
			"its requests to the register were delayed", fault(`"fault":"packet-delay","family":"link","clients":["c1"],"delays":true`),
			valid, over,
		},
		{
			"the other client was cut off", fault(`"fault":"partition-client","family":"link","clients":["c2"],"nodes":["db-1"]`), valid,
			over,
		},
		{"a clock jumped", fault(`"fault":"clock-jump","family":"clock","nodes":["db-1"]`), valid, over},
		{"data was deleted", fault(`"fault":"delete-key","family":"store","nodes":["db-1"]`), valid, over},
	} {
		t.Run(tc.name, func(t *testing.T) {
			record := recordOf(t, tc.text)
			p := record.Prove(proof.Claimed{Claim: tc.right})
			if _, err := record.Verify(tc.right, p); err != nil {
				t.Errorf("what is right is refused: %v\n%+v\n%s", err, p, tc.text)
			}
			for _, p := range []*proof.Certificate{p, record.Prove(proof.Claimed{Claim: tc.forged})} {
				if _, err := record.Verify(tc.forged, p); err == nil || !strings.Contains(err.Error(), "the class of the finding is "+
					tc.right.Class) {
					t.Errorf("another class: error %v\n%s", err, tc.text)
				}
			}
		})
	}
}
