package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker/lin"
	"github.com/lockstorm/lockstorm/history"
)

// maxLockFindings is how many violations are reduced and listed: each costs time, and
// nobody reads more.
const maxLockFindings = 20

// maxPieceOps bounds the memory of one search: Porcupine needs about n*n/8 bytes.
const maxPieceOps = 20_000

// linearizability asks whether the lock object behaved as a lock of its model, with leases:
// one lock at a time. A sweep decides, whatever the length, and gives an order of the
// operations, which is replayed. What it has no order for is cut into pieces where nothing is
// open, and each violation in them is reduced until Porcupine can confirm it. Every violation
// is a defect: expiry after the lease is legal for the object.
func linearizability(in *Input) Result { return judgeLocks(in, pieceSize) }

func judgeLocks(in *Input, size int) Result {
	j := &lockJudge{in: in, until: time.Now().Add(in.Limit), size: size}
	for _, lock := range in.Locks {
		j.lock(lock)
	}
	r := Conclude("a sweep over "+lin.Lock(in.Model)+", one lock at a time; Porcupine confirms what it finds", j.findings, len(j.findings))
	if len(j.findings) == maxLockFindings {
		r.Reason = fmt.Sprintf("the first %d violations are listed", maxLockFindings)
	}
	j.proof.Locks = len(in.Locks)
	r.Proof = NewProof(j.proof)
	if r.Verdict != Fail && j.gaveUp != "" {
		r.Verdict, r.Code, r.Reason = Unknown, j.code, j.gaveUp
	}
	return r
}

// LockProof is the proof of lock-linearizability: how much was judged.
type LockProof struct {
	Locks      int `json:"locks"`
	Operations int `json:"operations"`
	Pieces     int `json:"pieces"`   // a lock for which there is an order is one
	Replayed   int `json:"replayed"` // operations in orders that were replayed, the optional ones that they need included
}

type lockJudge struct {
	in       *Input
	sweep    lin.Sweep
	engine   lin.Engine // Porcupine, for the lock at hand
	grants   []*history.Grant
	numbers  []int
	ops      []lin.Op
	prepared preparation
	until    time.Time
	size     int // of a piece, at least
	proof    LockProof
	code     Code
	gaveUp   string
	findings []Finding
}

func (j *lockJudge) lock(lock string) {
	prepared := j.prepared.lock(j.in, lock)
	if j.legal(prepared) {
		j.proof.Pieces++
		return
	}
	j.engine = lin.For(j.in.Model, j.grants)
	for _, piece := range pieces(j.in.Model, prepared, j.size) {
		if len(j.findings) >= maxLockFindings {
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
		j.giveUp(CodeContradiction, fmt.Sprintf("the order that the sweep claims is wrong: %v", err))
		return true
	}
	j.proof.Replayed += len(order)
	return true
}

// piece judges one piece. A violation is reduced to the grants that it needs and confirmed;
// then the last of them are taken out and the rest judged again, for further violations.
func (j *lockJudge) piece(lock string, us []unit) {
	for len(j.findings) < maxLockFindings {
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
			j.giveUp(CodeContradiction, fmt.Sprintf("the sweep finds a violation of lock %s that Porcupine does not confirm", lock))
			return
		}
		j.findings = append(j.findings, j.finding(lock, core))
		us = slices.Delete(slices.Clone(us), end-1, end)
	}
}

func (j *lockJudge) outOfTime(lock string) {
	j.giveUp(CodeTimeout, fmt.Sprintf("lock %s could not be judged within %v and %d operations at once", lock, j.in.Limit, maxPieceOps))
}

func (j *lockJudge) giveUp(code Code, why string) {
	if j.gaveUp == "" {
		j.code, j.gaveUp = code, why
	}
}

// search asks Porcupine; change, when given, may replace an operation.
func (j *lockJudge) search(us []unit, change func(lin.Op) lin.Op) lin.Answer {
	if len(us) > maxPieceOps {
		return lin.Undecided
	}
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

// check judges some units by themselves: by the sweep and, where that is not enough, by
// Porcupine. Where they are illegal so are those up to last.
func (j *lockJudge) check(us []unit) (answer lin.Answer, last int) {
	if time.Now().After(j.until) {
		return lin.Undecided, 0
	}
	j.numbers = j.numbers[:0]
	for _, u := range us {
		for _, lg := range u {
			j.numbers = append(j.numbers, lg.number)
		}
	}
	answer, culprits := j.sweep.Judge(j.numbers)
	if answer == lin.Legal {
		return lin.Legal, 0
	}
	first, last := span(us, culprits)
	if j.sweep.Exact() {
		return lin.Illegal, last
	}
	return j.around(us, first, last)
}

// around asks Porcupine about the units around those for which the sweep has no order, more
// and more of them: if these are illegal, all are; and few are quick.
func (j *lockJudge) around(us []unit, first, last int) (lin.Answer, int) {
	for by := 1; ; by *= 4 {
		from, to := max(0, first-by), min(len(us), last+1+by)
		switch answer := j.search(us[from:to], nil); {
		case answer == lin.Illegal:
			return lin.Illegal, to - 1
		case answer == lin.Undecided || to-from == len(us):
			return answer, 0
		}
	}
}

// span is the first and the last unit with one of some grants.
func span(us []unit, numbers []int) (first, last int) {
	in := map[int]bool{}
	for _, n := range numbers {
		in[n] = true
	}
	first = len(us)
	for i, u := range us {
		if slices.ContainsFunc(u, func(lg *lockGrant) bool { return in[lg.number] }) {
			first, last = min(first, i), i
		}
	}
	return first, last
}

// firstIllegal is the length of the shortest illegal prefix. What is found at first ends
// somewhere; mostly nothing before it is illegal, else the rest is halved: a prefix that
// is illegal stays so.
func (j *lockJudge) firstIllegal(us []unit) (int, lin.Answer) {
	lo, hi := 0, len(us) // us[:lo] is legal, us[:hi] illegal
	answer, last := j.check(us)
	if answer != lin.Illegal {
		return hi, answer
	}
	hi = last + 1
	for try := 0; lo+1 < hi; try++ {
		mid := hi - 1
		if try > 3 {
			mid = (lo + hi) / 2
		}
		switch answer, last = j.check(us[:mid]); answer {
		case lin.Illegal:
			hi = last + 1
		case lin.Undecided:
			return hi, lin.Undecided
		default:
			lo = mid
		}
	}
	return hi, lin.Illegal
}

// reduce finds a small set of units that is illegal by itself: the shortest illegal
// end of the prefix, then without every unit that is not needed. Taking a unit out
// keeps a legal history legal, so what stays is a true violation.
func (j *lockJudge) reduce(prefix []unit) []unit {
	illegal := func(us []unit) bool {
		answer, _ := j.check(us)
		return answer == lin.Illegal
	}
	core := slices.Clone(prefix)
	for size := 2; size < len(prefix); size *= 2 {
		if end := prefix[len(prefix)-size:]; illegal(end) {
			core = slices.Clone(end)
			break
		}
	}
	for size := len(core) / 2; size >= 1; size /= 2 {
		for i := 0; i+size <= len(core); {
			rest := slices.Delete(slices.Clone(core), i, i+size)
			if illegal(rest) {
				core = rest
			} else {
				i += size
			}
		}
	}
	return core
}
