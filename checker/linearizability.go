package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker/lin"
	"github.com/lockstorm/lockstorm/history"
)

// maxLockFindings is how many violations are reduced and listed: each costs time, and
// nobody reads more.
const maxLockFindings = 20

// maxPieceOps bounds the memory of one judgement: an engine needs about n*n/8 bytes.
const maxPieceOps = 20_000

// linearizability asks whether the lock object behaved as a lock of its model, with leases:
// one lock at a time, in pieces cut where nothing is open. Every violation is a defect:
// expiry after the lease is legal for the object.
func linearizability(in *Input) Result { return judgeLocks(in, pieceSize) }

func judgeLocks(in *Input, size int) Result {
	j := &lockJudge{in: in, until: time.Now().Add(in.Limit), size: size}
	for _, lock := range in.Locks {
		j.lock(lock)
	}
	r := in.conclude(lin.For(in.Model, nil).Name(), j.findings, len(j.findings))
	if len(j.findings) == maxLockFindings {
		r.Reason = fmt.Sprintf("the first %d violations are listed", maxLockFindings)
	}
	r.Proof = NewProof(LockProof{Locks: len(in.Locks), Operations: j.ops, Pieces: j.pieces})
	if r.Verdict != Fail && j.gaveUp != "" {
		r.Verdict, r.Code, r.Reason = Unknown, CodeTimeout, j.gaveUp
	}
	return r
}

// LockProof is the proof of lock-linearizability: how much was judged.
type LockProof struct {
	Locks      int `json:"locks"`
	Operations int `json:"operations"`
	Pieces     int `json:"pieces"`
}

type lockJudge struct {
	in          *Input
	engine      lin.Engine // of the lock at hand
	until       time.Time
	size        int // of a piece, at least
	pieces, ops int
	gaveUp      string
	findings    []Finding
}

func (j *lockJudge) lock(lock string) {
	prepared := j.in.prepareLock(lock)
	grants := make([]*history.Grant, len(prepared))
	for i, lg := range prepared {
		grants[i] = lg.g
	}
	j.engine = lin.For(j.in.Model, grants)
	for _, piece := range pieces(j.in.Model, prepared, j.size) {
		if len(j.findings) >= maxLockFindings {
			return
		}
		j.pieces++
		for _, lg := range piece {
			j.ops += len(lg.ops)
		}
		j.piece(lock, units(j.in.Model, piece))
	}
}

// piece judges one piece. A violation is reduced to the grants that it needs; then the
// last of them are taken out and the rest judged again, for further violations.
func (j *lockJudge) piece(lock string, us []unit) {
	legal := 0 // us[:legal] are known to be legal
	for len(j.findings) < maxLockFindings {
		end, answer := j.firstIllegal(us, legal)
		switch answer {
		case lin.Legal:
			return
		case lin.Undecided:
			j.giveUp(lock)
			return
		}
		core := j.reduce(us[:end])
		if core == nil {
			j.giveUp(lock)
			return
		}
		j.findings = append(j.findings, j.finding(lock, core))
		legal = end - 1
		us = slices.Delete(slices.Clone(us), legal, end)
	}
}

func (j *lockJudge) giveUp(lock string) {
	if j.gaveUp == "" {
		j.gaveUp = fmt.Sprintf("lock %s could not be judged within %v and %d operations at once", lock, j.in.Limit, maxPieceOps)
	}
}

// check asks the engine; change, when given, may replace an operation.
func (j *lockJudge) check(us []unit, change func(lin.Op) lin.Op) lin.Answer {
	ops := lockOps(j.in.Model, grantsOfUnits(us))
	if change != nil {
		for i := range ops {
			ops[i] = change(ops[i])
		}
	}
	left := time.Until(j.until)
	if left <= 0 || len(ops) > maxPieceOps {
		return lin.Undecided
	}
	return j.engine.Judge(ops, left)
}

// firstIllegal is the length of the shortest illegal prefix, which is longer than legal.
// A piece of usual size is judged whole at once; a large one in growing prefixes, because
// most violations are near, and a prefix that is illegal stays so.
func (j *lockJudge) firstIllegal(us []unit, legal int) (int, lin.Answer) {
	lo, hi := legal+1, len(us)
	if hi <= wholePiece {
		if answer := j.check(us, nil); answer != lin.Illegal {
			return hi, answer
		}
	}
	for step := 8; ; step *= 2 {
		end := min(lo+step, len(us))
		answer := j.check(us[:end], nil)
		if answer == lin.Illegal {
			hi = end
			break
		}
		if answer == lin.Undecided || end == len(us) {
			return end, answer
		}
		lo = end + 1
	}
	for lo < hi {
		mid := (lo + hi) / 2
		switch j.check(us[:mid], nil) {
		case lin.Illegal:
			hi = mid
		case lin.Undecided:
			return hi, lin.Undecided
		default:
			lo = mid + 1
		}
	}
	return lo, lin.Illegal
}

// wholePiece is up to how many units a piece is judged at once.
const wholePiece = 256

// reduce finds a small set of units that is illegal by itself: the shortest illegal
// end of the prefix, then without every unit that is not needed. Taking a unit out
// keeps a legal history legal, so what stays is a true violation. nil when time ran out.
func (j *lockJudge) reduce(prefix []unit) []unit {
	core := slices.Clone(prefix)
	for size := 2; size < len(prefix); size *= 2 {
		if end := prefix[len(prefix)-size:]; j.check(end, nil) == lin.Illegal {
			core = slices.Clone(end)
			break
		}
	}
	for size := len(core) / 2; size >= 1; size /= 2 {
		for i := 0; i+size <= len(core); {
			rest := slices.Delete(slices.Clone(core), i, i+size)
			if j.check(rest, nil) == lin.Illegal {
				core = rest
			} else {
				i += size
			}
		}
	}
	if j.check(core, nil) != lin.Illegal {
		return nil
	}
	return core
}

// finding explains a core. The rule is named after the relaxation that makes it legal: a
// refusal, a release, a renewal that is taken back; else it is the grants themselves.
func (j *lockJudge) finding(lock string, us []unit) Finding {
	core := grantsOfUnits(us)
	slices.SortStableFunc(core, func(a, b *lockGrant) int { return cmp.Compare(a.from, b.from) })
	rule, reason, text := "double-grant", ReasonNotOver, "was granted again while a grant was neither released nor expired"
	lenient := func(kind lin.Kind) bool {
		return j.check(us, func(op lin.Op) lin.Op {
			if op.Kind == kind {
				op.Kind = lin.May
				op.Ret = history.Forever
			}
			return op
		}) == lin.Legal
	}
	switch {
	case lenient(lin.NotHeld):
		rule, reason, text = "lost-lease", ReasonGoneEarly, "was gone before its lease ran out, and nobody had released it"
	case lenient(lin.Release):
		rule, reason, text = "foreign-release", ReasonNotOwner, "was released by somebody who no longer held it"
	case revived(core):
		rule, reason, text = "revived-lease", ReasonRenewedLate, "was renewed by somebody after somebody else was granted"
	}
	f := Finding{Rule: rule, Class: Defect, Reason: reason, Gating: true}
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
	f.because(j.in.objectCause(f.Rule, core[0].g, max(last.ok, f.From)))
	f.Message = fmt.Sprintf("%s %s: no order of these operations is one of a lock: %s", lock, text, strings.Join(parts, "; "))
	slices.Sort(f.Events)
	return f
}

// revived reports whether a grant was renewed after another one of the core was known.
func revived(core []*lockGrant) bool {
	for _, lg := range core {
		for _, rn := range lg.g.Renews {
			if rn.Outcome() == history.OK && slices.ContainsFunc(core, func(o *lockGrant) bool { return o != lg && o.ok < rn.Start() && o.from > lg.ok }) {
				return true
			}
		}
	}
	return false
}

func (j *lockJudge) describe(lg *lockGrant) string {
	text := fmt.Sprintf("%s sent %s, granted by %s", lg.g.ID, Seconds(lg.from), Seconds(lg.ok))
	if base, leased := j.in.expiryBase(lg.g); leased {
		text += ", lease until " + Seconds(base+j.in.Run.Tolerance)
	}
	for _, rn := range lg.gone {
		text += ", its session was gone by " + Seconds(rn.End())
	}
	for _, rel := range lg.g.Releases {
		answer := string(rel.Outcome())
		if rel.Return != nil && rel.Return.Error != "" {
			answer += " " + rel.Return.Error
		}
		text += fmt.Sprintf(", release at %s: %s", Seconds(rel.Start()), answer)
	}
	return text
}
