package hunt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// proven is a finding of a hunted history, with its proof.
type proven struct {
	record *proof.Record
	claim  proof.Claim
	proof  *proof.Certificate
	text   string
}

// provenBy are the findings of the case of a seed, each with its proof; nothing where its record is damaged.
func provenBy(t *testing.T, seed uint64) (out []proven) {
	t.Helper()
	c := Cases(seed)
	cfg := sim.DrawVaried(seed)
	if c.Plant != nil {
		if c.Plant.Edit != nil {
			return nil
		}
		cfg = sim.Draw(seed)
		cfg.Bug = c.Plant.Bug
		if c.Plant.Prepare != nil {
			c.Plant.Prepare(&cfg)
		}
	}
	h := sim.Run(cfg).History
	r, err := Judge(h)
	if err != nil {
		t.Fatal(err)
	}
	if r.Checks[checker.Assumptions].Verdict == checker.Unknown {
		return nil
	}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	record := proof.New(rec)
	exclusive := len(r.Checks[checker.MutualExclusion].Findings) == 0
	if _, err := record.Exclusive(); (err == nil) != exclusive {
		t.Errorf("seed %d: the judge finds %d overlaps, and a second look at the grants says: %v", seed,
			len(r.Checks[checker.MutualExclusion].Findings), err)
	}
	for _, name := range r.Order {
		findings := r.Checks[name].Findings
		for i := range findings {
			if name == checker.Coverage {
				continue
			}
			f := &findings[i]
			claim := f.Claim(name)
			out = append(out, proven{
				record, claim, record.Prove(proof.Claimed{Claim: claim, Events: f.Events}),
				fmt.Sprintf("seed %d: %s: %s", seed, name, f.Message),
			})
		}
	}
	return out
}

// unproven is why no few events prove a finding whose rule mostly has such a proof: the judge finds the record suspect there, or
// the lock counts the grants of an owner who may have had one more.
var unproven = []string{
	"by the rules of this lock", "could have given these answers", "never believed at the same",
	"wrote although the store had already answered the release", "is later than the first grant", "do not show that the request " +
		"for this grant",
}

// once are seeds of findings that once had no proof by few events: of a counted lock whose owner has a release of unknown
// outcome.
var once = []uint64{8369, 15129}

func upTo(n uint64) (out []uint64) {
	for seed := uint64(1); seed <= n; seed++ {
		out = append(out, seed)
	}
	return out
}

// Every finding has a proof, which holds, and every proof is refused that was tampered with. HUNT_PROOFS is how many histories
// are hunted.
func TestProofs(t *testing.T) {
	seeds := uint64(setting.Random(t, "HUNT_PROOFS", 2000))
	var overlaps []int
	all, few := 0, 0
	var before *proof.Letter
	for _, seed := range append(upTo(seeds), once...) {
		for _, p := range provenBy(t, seed) {
			all++
			if p.proof.Why != "" && !slices.ContainsFunc(unproven, func(why string) bool { return strings.Contains(p.proof.Why, why) }) {
				t.Errorf("%s: no few events prove it: %s", p.text, p.proof.Why)
			}
			if !p.proof.Record {
				few++
				if p.claim.Check == checker.MutualExclusion {
					overlaps = append(overlaps, len(p.proof.Events))
				}
			}
			if _, err := p.record.Verify(p.claim, p.proof); err != nil && !errors.Is(err, proof.ErrJudge) {
				t.Errorf("%s: its proof does not hold: %v %+v", p.text, err, p.proof)
			}
			if !p.proof.Record && seed%5 == 0 {
				before = refuses(t, p, before, rand.New(rand.NewPCG(seed, 77)))
			}
		}
	}
	if few < all/2 || len(overlaps) == 0 {
		t.Fatalf("%d findings, of which a few events prove %d, %d overlaps among them", all, few, len(overlaps))
	}
	slices.Sort(overlaps)
	t.Logf("%d findings, %d of them proven by a few events; the proof of an overlap has %d events (median), %d at most", all, few,
		overlaps[len(overlaps)/2], overlaps[len(overlaps)-1])
	if median := overlaps[len(overlaps)/2]; median > 12 {
		t.Errorf("the proof of an overlap has %d events: 12 at most are meant", median)
	}
}

const digest = "of this record"

// refuses tampers with the letter of a proof in every way, and wants each to be refused: by its seal, and sealed again by the
// record.
func refuses(t *testing.T, p proven, other *proof.Letter, r *rand.Rand) *proof.Letter {
	t.Helper()
	fresh := func() *proof.Letter {
		l, err := p.record.Letter(p.claim, p.proof, "", digest)
		if err != nil {
			t.Fatal(err)
		}
		l.Events = slices.Clone(l.Events)
		l.Claim.Grants = slices.Clone(l.Claim.Grants)
		return l
	}
	whole := fresh()
	if _, err := whole.Verify(); err != nil && !errors.Is(err, proof.ErrExcuse) {
		t.Errorf("%s: its letter does not hold: %v", p.text, err)
	}
	if _, err := whole.Against(p.record, digest); err != nil {
		t.Errorf("%s: its letter does not hold against its own record: %v", p.text, err)
	}
	for name, tamper := range tampering(other, r) {
		l := fresh()
		if !tamper.do(l) {
			continue // there is nothing of it to tamper with
		}
		if _, err := l.Verify(); err == nil {
			t.Errorf("%s: %s: the seal does not show it", p.text, name)
		}
		if err := l.SealAgain(); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Against(p.record, digest); err == nil {
			t.Errorf("%s: %s: the record does not show it: %+v", p.text, name, l.Claim)
		}
		if _, err := l.Verify(); err == nil && tamper.alone {
			t.Errorf("%s: %s: its events do not show it: %+v", p.text, name, l.Claim)
		}
	}
	return whole
}

// tamper is a way to tamper with a proof. Alone: its events show it, without the seal and the record.
type tamper struct {
	alone bool
	do    func(l *proof.Letter) bool
}

func tampering(other *proof.Letter, r *rand.Rand) map[string]tamper {
	some := func(l *proof.Letter) *history.Line { return &l.Events[1+r.IntN(len(l.Events)-1)] }
	change := func(f func(e *history.Line) bool) func(l *proof.Letter) bool {
		return func(l *proof.Letter) bool {
			for _, i := range r.Perm(len(l.Events)) {
				if i > 0 && f(&l.Events[i]) {
					return true
				}
			}
			return false
		}
	}
	claim := func(f func(c *proof.Claim)) func(l *proof.Letter) bool {
		return func(l *proof.Letter) bool { f(&l.Claim); return true }
	}
	return map[string]tamper{
		"an event is left out": {true, func(l *proof.Letter) bool {
			i := r.IntN(len(l.Events))
			l.Events = slices.Delete(l.Events, i, i+1)
			return true
		}},
		"an event comes twice": {true, func(l *proof.Letter) bool {
			i := r.IntN(len(l.Events))
			l.Events = slices.Insert(l.Events, i, l.Events[i])
			return true
		}},
		"events of another proof": {true, func(l *proof.Letter) bool {
			if other == nil {
				return false
			}
			l.Events = slices.Concat(l.Events, other.Events[1:])
			return true
		}},
		"the claim of another proof": {true, func(l *proof.Letter) bool {
			if other == nil || slices.Equal(other.Claim.Grants, l.Claim.Grants) {
				return false
			}
			l.Claim.Grants = other.Claim.Grants
			return true
		}},
		"a time was moved": {false, func(l *proof.Letter) bool { some(l).Time += 1 + r.Int64N(1e6); return true }},
		"another token":    {false, change(func(e *history.Line) bool { e.Token.V++; return e.Token.Set })},
		"another deadline": {false, change(func(e *history.Line) bool { e.Deadline.V += 1e9; return e.Deadline.Set })},
		"another lock":     {false, change(func(e *history.Line) bool { has := e.Lock != ""; e.Lock += "x"; return has })},
		"another client":   {false, change(func(e *history.Line) bool { has := e.Client != ""; e.Client += "x"; return has })},
		"another grant":    {false, change(func(e *history.Line) bool { has := e.Grant != ""; e.Grant += "x"; return has })},
		"another outcome": {false, change(func(e *history.Line) bool {
			was := e.Type == history.OK
			e.Type = history.Info
			return was
		})},
		"another value": {false, change(func(e *history.Line) bool { e.Value.New.V++; return e.Value.New.Set })},
		"another run": {false, func(l *proof.Letter) bool {
			l.Events[0].Value = history.ValueOf(history.Run{Schema: 1})
			return true
		}},
		"another class": {true, claim(func(c *proof.Claim) {
			c.Class = map[bool]string{true: "inherent", false: "defect"}[c.Class == "defect"]
		})},
		"a rule of another": {true, claim(func(c *proof.Claim) {
			c.Rule = map[bool]string{true: "lost-lease", false: "double-grant"}[c.Rule == "double-grant"]
		})},
		"another check": {true, claim(func(c *proof.Claim) {
			c.Check = map[bool]string{true: checker.Ownership, false: checker.MutualExclusion}[c.Check == checker.MutualExclusion]
		})},
		"it began earlier": {false, claim(func(c *proof.Claim) { c.From-- })},
		"it lasted longer": {false, claim(func(c *proof.Claim) { c.To++ })},
		"the grants swapped": {true, func(l *proof.Letter) bool {
			slices.Reverse(l.Claim.Grants)
			return len(l.Claim.Grants) == 2 && l.Claim.Check == checker.MutualExclusion
		}},
		"another record": {false, func(l *proof.Letter) bool { l.Record += "x"; return true }},
	}
}
