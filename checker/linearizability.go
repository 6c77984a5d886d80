package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/history"
)

// maxLockFindings is how many violations are reduced and listed: each costs time, and
// nobody reads more.
const maxLockFindings = 20

// maxPieceOps bounds the memory of one judgement: Porcupine needs about n*n/8 bytes.
const maxPieceOps = 20_000

// linearizability asks whether the lock object behaved as a lock: Porcupine over an
// owner-aware model with leases, one lock at a time, in pieces cut where nothing is
// open. Every violation is a defect: expiry after the lease is legal for the object.
func linearizability(in *Input) Result { return judgeLocks(in, pieceSize) }

func judgeLocks(in *Input, size int) Result {
	j := &lockJudge{in: in, until: time.Now().Add(in.Limit), model: lockModel(), size: size}
	for _, lock := range in.Locks {
		j.lock(lock)
	}
	r := Conclude("Porcupine with an owner-aware, leased lock model, one lock at a time", j.findings, len(j.findings))
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
	model       porcupine.Model
	until       time.Time
	size        int // of a piece, at least
	pieces, ops int
	gaveUp      string
	findings    []Finding
}

func (j *lockJudge) lock(lock string) {
	for _, piece := range pieces(j.in.prepareLock(lock), j.size) {
		if len(j.findings) >= maxLockFindings {
			return
		}
		j.pieces++
		for _, lg := range piece {
			j.ops += len(lg.ops)
		}
		j.piece(lock, piece)
	}
}

// piece judges one piece. A violation is reduced to the grants that it needs; then the
// last of them is taken out and the rest judged again, for further violations.
func (j *lockJudge) piece(lock string, grants []*lockGrant) {
	legal := 0 // grants[:legal] are known to be legal
	for len(j.findings) < maxLockFindings {
		end, answer := j.firstIllegal(grants, legal)
		switch answer {
		case porcupine.Ok:
			return
		case porcupine.Unknown:
			j.giveUp(lock)
			return
		}
		core := j.reduce(grants[:end])
		if core == nil {
			j.giveUp(lock)
			return
		}
		j.findings = append(j.findings, j.finding(lock, core))
		legal = end - 1
		grants = slices.Delete(slices.Clone(grants), legal, end)
	}
}

func (j *lockJudge) giveUp(lock string) {
	if j.gaveUp == "" {
		j.gaveUp = fmt.Sprintf("lock %s could not be judged within %v and %d operations at once", lock, j.in.Limit, maxPieceOps)
	}
}

// check asks Porcupine; change, when given, may replace an operation.
func (j *lockJudge) check(grants []*lockGrant, change func(timedOp) timedOp) porcupine.CheckResult {
	var ops []porcupine.Operation
	for _, op := range lockOps(grants) {
		if change != nil {
			op = change(op)
		}
		ops = append(ops, porcupine.Operation{Input: op.lockOp, Call: op.call, Return: op.ret})
	}
	left := time.Until(j.until)
	if left <= 0 || len(ops) > maxPieceOps {
		return porcupine.Unknown
	}
	return porcupine.CheckOperationsTimeout(j.model, ops, left)
}

// firstIllegal is the length of the shortest illegal prefix, which is longer than legal.
// A piece of usual size is judged whole at once; a large one in growing prefixes, because
// most violations are near, and a prefix that is illegal stays so.
func (j *lockJudge) firstIllegal(grants []*lockGrant, legal int) (int, porcupine.CheckResult) {
	lo, hi := legal+1, len(grants)
	if hi <= wholePiece {
		if answer := j.check(grants, nil); answer != porcupine.Illegal {
			return hi, answer
		}
	}
	for step := 8; ; step *= 2 {
		end := min(lo+step, len(grants))
		answer := j.check(grants[:end], nil)
		if answer == porcupine.Illegal {
			hi = end
			break
		}
		if answer == porcupine.Unknown || end == len(grants) {
			return end, answer
		}
		lo = end + 1
	}
	for lo < hi {
		mid := (lo + hi) / 2
		switch j.check(grants[:mid], nil) {
		case porcupine.Illegal:
			hi = mid
		case porcupine.Unknown:
			return hi, porcupine.Unknown
		default:
			lo = mid + 1
		}
	}
	return lo, porcupine.Illegal
}

// wholePiece is up to how many grants a piece is judged at once.
const wholePiece = 256

// reduce finds a small set of grants that is illegal by itself: the shortest illegal
// end of the prefix, then without every grant that is not needed. Taking a grant out
// keeps a legal history legal, so what stays is a true violation. nil when time ran out.
func (j *lockJudge) reduce(prefix []*lockGrant) []*lockGrant {
	core := slices.Clone(prefix)
	for size := 2; size < len(prefix); size *= 2 {
		if end := prefix[len(prefix)-size:]; j.check(end, nil) == porcupine.Illegal {
			core = slices.Clone(end)
			break
		}
	}
	for size := len(core) / 2; size >= 1; size /= 2 {
		for i := 0; i+size <= len(core); {
			rest := slices.Delete(slices.Clone(core), i, i+size)
			if j.check(rest, nil) == porcupine.Illegal {
				core = rest
			} else {
				i += size
			}
		}
	}
	if j.check(core, nil) != porcupine.Illegal {
		return nil
	}
	return core
}

// finding explains a core. What it is shows by what has to be taken back to make it
// legal: nothing but the grants themselves, a release, or a refusal.
func (j *lockJudge) finding(lock string, core []*lockGrant) Finding {
	rule, reason, text := "double-grant", ReasonNotOver, "was granted again while a grant was neither released nor expired"
	lenient := func(kind opKind) bool {
		return j.check(core, func(op timedOp) timedOp {
			if op.kind == kind {
				op.kind = opMay
				op.ret = history.Forever
			}
			return op
		}) == porcupine.Ok
	}
	switch {
	case lenient(opNotHeld):
		rule, reason, text = "lost-lease", ReasonGoneEarly, "was gone before its lease ran out, and nobody had released it"
	case lenient(opRelease):
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
		for _, c := range slices.Concat([]*history.Call{lg.g.Acquire}, lg.g.Releases) {
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
	f.because(j.in.CauseOf(core[0].g, max(last.ok, f.From)))
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
	for _, rel := range lg.g.Releases {
		answer := string(rel.Outcome())
		if rel.Return != nil && rel.Return.Error != "" {
			answer += " " + rel.Return.Error
		}
		text += fmt.Sprintf(", release at %s: %s", Seconds(rel.Start()), answer)
	}
	return text
}
