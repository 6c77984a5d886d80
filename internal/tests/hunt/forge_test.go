package hunt

import (
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// forged is a record, what the judge said of it, and the proofs of that: they are changed, and findings are invented that
// nobody made. A verifier must accept a change only where the judge says the same.
type forged struct {
	record  *history.Record
	verify  *proof.Record
	results *checker.Results
	found   []forgery // as they were found
}

// forgery is a finding with its proof, as results.json would have it.
type forgery struct {
	claim proof.Claim
	proof *proof.Certificate
	how   string
}

// forgedOf puts a record and its judgement together.
func forgedOf(rec *history.Record, r *checker.Results) *forged {
	j := &forged{record: rec, verify: proof.New(rec), results: r}
	var claims []proof.Claimed
	for _, name := range r.Order {
		for i := range r.Checks[name].Findings {
			f := &r.Checks[name].Findings[i]
			if name != checker.Coverage && f.CauseKind != checker.CauseRecord || len(f.Grants) > 0 || name == checker.Liveness {
				claims = append(claims, proof.Claimed{Claim: f.Claim(name), Events: f.Events})
			}
		}
	}
	for i, p := range j.verify.ProveAll(claims) {
		j.found = append(j.found, forgery{claims[i].Claim, p, "as it was found"})
	}
	return j
}

// said reports whether the judge says a claim. Of a list that it cut off nobody knows.
func (j *forged) said(c proof.Claim) (said, known bool) {
	of := j.results.Checks[c.Check]
	for i := range of.Findings {
		f := of.Findings[i].Claim(c.Check)
		span := f.From == c.From && f.To == c.To
		if f.Rule == c.Rule && f.Class == c.Class && f.Reason == c.Reason && slices.Equal(f.Grants, c.Grants) && span {
			return true, true
		}
	}
	return false, len(of.Findings) < 10 // that many renewals are listed
}

// rulesOfChecks are those of the checks, and some that none has.
var rulesOfChecks = map[string][]string{
	"mutual-exclusion":     {"overlap", "late-notice", "short-renewal"},
	"lock-linearizability": {"double-grant", "lost-lease", "foreign-release", "revived-lease"},
	"data-plain":           {"lost-update", "late-write", "split-section", "log-mismatch"}, "stock": {"lost-update", "stock-off"},
	"data-fenced":    {"lost-update", "late-write", "split-section", "log-mismatch", "no-token", "stale-accepted", "equal-token"},
	"fencing-tokens": {"duplicate", "regress", "refused-valid"}, "ownership": {"foreign-release", "release-of-none"},
	"loss-notice": {"late-notice", "no-notice"}, "bounded": {"late-try"}, "once": {"done-twice"},
	"liveness": {"no-recovery", "starved", "deadlocked", "orphan", "bad-luck"}, "assumptions": {"used-after-release"},
	"fairness": {"overtaken"}, "deadlock": {"mutual-wait"}, "cost": {"dear"},
}

var checkNames = func() (out []string) {
	for c := range rulesOfChecks {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}()

// kinds are classes with their reasons.
var kinds = [][2]string{
	{"inherent", "lease-over"},
	{"defect", "told-late"},
	{"defect", "both-valid"},
	{"defect", "no-lease"},
	{"undetermined", "deadline-unknown"},
	{"inherent", "connection-over"},
	{"undetermined", "connection-unknown"},
	{"defect", "own-fence"},
	{"defect", "not-over"},
	{"defect", "gone-early"},
	{"defect", "not-owner"},
	{"defect", "renewed-late"},
	{"defect", "renewed-short"},
	{"inherent", "applied-late"},
	{"none", "never-released"},
	{"none", ""},
	{"defect", ""},
	{"inherent", ""},
}

// draw is a random forgery.
func (j *forged) draw(r *rand.Rand) forgery {
	var f forgery
	if len(j.found) > 0 && r.IntN(3) > 0 {
		f = j.found[r.IntN(len(j.found))]
		f.claim.Grants = slices.Clone(f.claim.Grants)
		f.how = "changed"
		for range 1 + r.IntN(2) {
			j.change(r, &f.claim)
		}
	} else {
		f = forgery{claim: j.invent(r), how: "invented"}
	}
	switch named := j.named(f.claim); {
	case r.IntN(2) == 0 || (f.proof == nil && r.IntN(2) == 0): // who forges well looks for a proof
		f.proof = j.verify.Prove(proof.Claimed{Claim: f.claim, Events: named})
	case f.proof == nil:
		f.proof = &proof.Certificate{Grants: f.claim.Grants, From: f.claim.From, To: f.claim.To, Events: named, Record: true}
	default:
		p := *f.proof
		f.proof = &p
		if r.IntN(2) == 0 { // the proof goes with the finding
			p.Grants, p.From, p.To = f.claim.Grants, f.claim.From, f.claim.To
		}
		p.Record = p.Record != (r.IntN(4) == 0)
	}
	return f
}

// change changes one thing of a claim.
func (j *forged) change(r *rand.Rand, c *proof.Claim) {
	switch r.IntN(9) {
	case 0:
		c.Rule = rulesOfChecks[c.Check][r.IntN(len(rulesOfChecks[c.Check]))]
	case 1:
		c.Check = checkNames[r.IntN(len(checkNames))]
		if r.IntN(2) == 0 {
			c.Rule = rulesOfChecks[c.Check][r.IntN(len(rulesOfChecks[c.Check]))]
		}
	case 2, 3:
		k := kinds[r.IntN(len(kinds))]
		c.Class, c.Reason = k[0], k[1]
		if c.Check == "mutual-exclusion" {
			c.Rule = map[bool]string{true: "late-notice", false: "overlap"}[c.Reason == "told-late"]
		}
	case 4:
		c.From = j.moment(r, c.From)
	case 5:
		c.To = j.moment(r, c.To)
	case 6:
		if n := len(c.Grants); n > 0 {
			c.Grants[r.IntN(n)] = j.grant(r)
		}
	case 7:
		if n := len(c.Grants); n > 0 && r.IntN(2) == 0 {
			i := r.IntN(n)
			c.Grants = slices.Delete(c.Grants, i, i+1)
		} else {
			c.Grants = slices.Insert(c.Grants, r.IntN(n+1), j.grant(r))
		}
	case 8:
		slices.Reverse(c.Grants)
	}
}

// moment is another moment: near the old one, or of an event.
func (j *forged) moment(r *rand.Rand, old int64) int64 {
	switch e := j.record.Events[r.IntN(len(j.record.Events))]; r.IntN(3) {
	case 0:
		return old + 1 - 2*r.Int64N(2)
	case 1:
		return old + r.Int64N(2e6) - 1e6
	default:
		return e.Time
	}
}

func (j *forged) grant(r *rand.Rand) string {
	if len(j.record.Grants) == 0 {
		return "x"
	}
	return j.record.Grants[r.IntN(len(j.record.Grants))].ID
}

// invent is a claim about grants that lie together.
func (j *forged) invent(r *rand.Rand) proof.Claim {
	c := proof.Claim{Check: checkNames[r.IntN(len(checkNames))]}
	c.Rule = rulesOfChecks[c.Check][r.IntN(len(rulesOfChecks[c.Check]))]
	k := kinds[r.IntN(len(kinds))]
	if r.IntN(2) == 0 {
		k = [2]string{"none", ""}
		if c.Rule == "orphan" {
			k[1] = "never-released"
		}
	}
	c.Class, c.Reason = k[0], k[1]
	var of []*history.Grant
	if n := len(j.record.Grants); n > 0 {
		at := r.IntN(n)
		for i := range r.IntN(4) {
			of = append(of, j.record.Grants[min(n-1, at+i)])
		}
	}
	for _, g := range of {
		c.Grants = append(c.Grants, g.ID)
	}
	c.From, c.To = j.moment(r, 0), j.moment(r, 0)
	if n := len(of); n > 0 && of[n-1].Granted() && r.IntN(2) == 0 {
		c.From, c.To = of[n-1].Acquire.Start(), of[n-1].From()
	}
	if final, has := j.record.Phases[history.PhaseFinal]; has && c.Check == "liveness" && r.IntN(2) == 0 {
		c.From, c.To = final, final+j.record.Run.LivenessBound
	}
	if c.From > c.To {
		c.From, c.To = c.To, c.From
	}
	return c
}

// named are the events of the grants of a claim, as a finding may name them.
func (j *forged) named(c proof.Claim) (out []int64) {
	for _, id := range c.Grants {
		g := j.record.ByID[id]
		if g == nil || g.Acquire == nil {
			continue
		}
		out = append(out, g.Acquire.Invoke.Index)
		if g.Acquire.Return != nil {
			out = append(out, g.Acquire.Return.Index)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
