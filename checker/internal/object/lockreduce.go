package object

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker/internal/lin"
)

// search asks Porcupine; change, when given, may replace an operation.
func (j *lockJudge) search(us []unit, change func(lin.Op) lin.Op) lin.Answer {
	if len(us) > lin.MaxOps {
		return lin.Undecided
	}
	ops := lockOps(j.in.Model, grantsOfUnits(us))
	if change != nil {
		for i := range ops {
			ops[i] = change(ops[i])
		}
	}
	left := time.Until(j.until)
	if left <= 0 || len(ops) > lin.MaxOps {
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

// firstIllegal returns the length of the shortest illegal prefix. The first one found ends somewhere; mostly nothing
// before it is illegal, else the rest is halved: a prefix that is illegal stays so.
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

// reduce finds a small set of units that is illegal on its own: the shortest illegal end of the prefix, then without
// every unit that is not needed. Taking a unit out keeps a legal history legal, so the rest is a true violation.
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
