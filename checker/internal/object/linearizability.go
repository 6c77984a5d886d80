package object

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/internal/lin"
	"github.com/lockstorm/lockstorm/history"
)

// MaxFindings is how many violations are reduced and listed: each costs time, and
// nobody reads more.
const MaxFindings = 20

// judgeLocks asks whether the lock object behaved as a lock of its model, with leases:
// one lock at a time. A sweep decides, whatever the length, and gives an order of the
// operations, which is replayed. What it has no order for is cut into pieces where nothing is
// open, and each violation in them is reduced until Porcupine can confirm it. Every violation
// is a defect: expiry after the lease is legal for the object.
func judgeLocks(in question, size int) checker.Result {
	j := &lockJudge{in: in, until: time.Now().Add(in.Limit), size: size}
	for _, lock := range in.Locks {
		j.lock(lock)
	}
	r := in.Conclude("search for a legal order of the operations of each lock, under the rules of "+lin.Lock(in.Model)+
		"; a second checker (Porcupine) confirms each violation", j.findings, len(j.findings))
	if len(j.findings) == MaxFindings {
		r.Reason = fmt.Sprintf("only the first %d violations are listed", MaxFindings)
	}
	j.proof.Locks = len(in.Locks)
	r.Proof = checker.NewProof(j.proof)
	if r.Verdict != checker.Fail && j.gaveUp != "" {
		r.Verdict, r.Code, r.Reason = checker.Unknown, j.code, j.gaveUp
	}
	return r
}

type lockJudge struct {
	in       question
	sweep    lin.Sweep
	engine   lin.Engine // Porcupine, for the lock at hand
	grants   []*history.Grant
	numbers  []int
	ops      []lin.Op
	prepared preparation
	until    time.Time
	size     int // of a piece, at least
	proof    checker.LockProof
	code     checker.Code
	gaveUp   string
	findings []checker.Finding
}

func (j *lockJudge) lock(lock string) {
	prepared := j.prepared.lock(j.in, lock)
	if j.legal(prepared) {
		j.proof.Pieces++
		return
	}
	j.engine = lin.For(j.in.Model, j.grants)
	for _, piece := range pieces(j.in.Model, prepared, j.size) {
		if len(j.findings) >= MaxFindings {
			return
		}
		j.proof.Pieces++
		j.piece(lock, units(j.in.Model, piece))
	}
}

// legal sweeps over a whole lock. It is true only if the order that proves it stands up to
// being replayed.
func (j *lockJudge) legal(prepared []lockGrant) bool {
	j.grants, j.numbers, j.ops = j.grants[:0], j.numbers[:0], j.ops[:0]
	for i := range prepared {
		j.grants, j.numbers = append(j.grants, prepared[i].g), append(j.numbers, i)
	}
	j.sweep.Reset(j.in.Model, j.grants)
	for i := range prepared {
		lg, first := &prepared[i], len(j.ops)
		j.ops = lg.all(j.ops)
		j.sweep.Grant(i, j.ops[first:])
		j.proof.Operations += len(lg.ops)
	}
	if answer, _ := j.sweep.Judge(j.numbers); answer != lin.Legal {
		return false
	}
	order := j.sweep.Order(j.ops)
	if err := lin.Replay(j.in.Model, j.grants, j.ops, order); err != nil {
		j.giveUp(checker.CodeContradiction, lin.Contradiction(err))
		return true
	}
	j.proof.Replayed += len(order)
	return true
}

// piece judges one piece. A violation is reduced to the grants that it needs and confirmed;
// then the last of them are taken out and the rest judged again, for further violations.
func (j *lockJudge) piece(lock string, us []unit) {
	for len(j.findings) < MaxFindings {
		end, answer := j.firstIllegal(us)
		switch answer {
		case lin.Legal:
			return
		case lin.Undecided:
			j.outOfTime(lock)
			return
		}
		core := j.reduce(us[:end])
		switch j.search(core, nil) {
		case lin.Undecided:
			j.outOfTime(lock)
			return
		case lin.Legal:
			j.giveUp(checker.CodeContradiction, fmt.Sprintf("lockstorm's checker found a violation of lock %s, but the second checker, "+
				"Porcupine, does not confirm this violation", lock))
			return
		}
		j.findings = append(j.findings, j.finding(lock, core))
		us = slices.Delete(slices.Clone(us), end-1, end)
	}
}

func (j *lockJudge) outOfTime(lock string) {
	j.giveUp(checker.CodeTimeout, fmt.Sprintf("lock %s could not be judged, because the search for a legal order reached a limit "+
		"(time: %v; operations: %d)", lock, j.in.Limit, lin.MaxOps))
}

func (j *lockJudge) giveUp(code checker.Code, why string) {
	if j.gaveUp == "" {
		j.code, j.gaveUp = code, why
	}
}

// finding explains a core. The rule is named after the relaxation that makes it legal: a
// refusal, a release, a renewal that is taken back; else it is the grants themselves.
func (j *lockJudge) finding(lock string, us []unit) checker.Finding {
	core := grantsOfUnits(us)
	slices.SortFunc(core, byFrom)
	rule, reason, text := "double-grant", checker.ReasonNotOver, "was granted again before the earlier grant was released or had "+
		"expired"
	lenient := func(kind lin.Kind) bool {
		return j.search(us, func(op lin.Op) lin.Op {
			if op.Kind == kind {
				op.Kind = lin.May
				op.Ret = history.Forever
			}
			return op
		}) == lin.Legal
	}
	switch {
	case lenient(lin.NotHeld):
		rule, reason, text = "lost-lease", checker.ReasonGoneEarly, "was lost before its lease expired, although no client had "+
			"released the lock"
	case lenient(lin.Release):
		rule, reason, text = "foreign-release", checker.ReasonNotOwner, "was released by a client that no longer held it"
	case revived(core):
		rule, reason, text = "revived-lease", checker.ReasonRenewedLate, "was renewed by a client after another client had been "+
			"granted the lock"
	}
	f := checker.Finding{Rule: rule, Class: checker.Defect, Reason: reason, Gating: !j.in.Run.OwnFence}
	var parts []string
	for _, lg := range core {
		parts = append(parts, j.describe(lg))
		f.Grants = append(f.Grants, lg.g.ID)
		f.Events = append(f.Events, lg.g.Acquire.Invoke.Index)
		for _, c := range slices.Concat([]*history.Call{lg.g.Acquire}, lg.g.Releases, lg.gone) {
			if c.Return != nil {
				f.Events = append(f.Events, c.Return.Index)
				f.To = max(f.To, c.Return.Time)
			}
		}
	}
	last := core[len(core)-1]
	if f.From = last.ok; len(core) == 1 {
		f.From = f.To
	}
	var second *history.Grant
	if len(core) > 1 {
		second = last.g
	}
	f.Because(j.in.ObjectCause(f.Rule, core[0].g, second, max(last.ok, f.From)))
	f.Lead = j.in.Lead(&f, core[0].g, second)
	f.Message = fmt.Sprintf("lock %s %s; no correct lock could produce these results: %s", lock, text, strings.Join(parts, "; "))
	slices.Sort(f.Events)
	return f
}

// revived reports whether a grant was renewed after another one of the core was known.
func revived(core []*lockGrant) bool {
	for _, lg := range core {
		for _, rn := range lg.g.Renews {
			if rn.Outcome() == history.OK && slices.ContainsFunc(core, func(o *lockGrant) bool {
				return o != lg && o.ok < rn.Start() &&
					o.from > lg.ok
			}) {
				return true
			}
		}
	}
	return false
}

func (j *lockJudge) describe(lg *lockGrant) string {
	text := fmt.Sprintf("grant %s was requested at %s and granted no later than %s", lg.g.ID, checker.Seconds(lg.from),
		checker.Seconds(lg.ok))
	if base, leased := j.in.ExpiryBase(lg.g); leased {
		text += ", with a lease until " + checker.Seconds(base+j.in.Run.Tolerance)
	}
	for _, rn := range lg.gone {
		text += ", and its session had ended by " + checker.Seconds(rn.End())
	}
	for _, rel := range lg.g.Releases {
		answer := string(rel.Outcome())
		if rel.Return != nil && rel.Return.Code() != "" {
			answer += " " + rel.Return.Code()
		}
		text += fmt.Sprintf(", and its release was sent at %s (answer: %s)", checker.Seconds(rel.Start()), answer)
	}
	return text
}
