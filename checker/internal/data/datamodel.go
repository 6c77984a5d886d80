package data

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/internal/lin"
	"github.com/lockstorm/lockstorm/checker/internal/lin/chain"
)

// linearizableData asks whether what the clients were told of a register can have come from one
// register, section by section, one lock at a time. A chain of values decides at any length,
// with an order that is replayed, or with a breach of a few sections that Porcupine must
// confirm; where values come back Porcupine searches, as far as that goes.
func (in question) linearizableData(register string) (answer checker.Verdict, why string) {
	v := view{start: in.Run.Registers[register], until: time.Now().Add(in.Limit / 2)}
	answer = checker.Pass
	for _, lock := range in.Locks {
		v.sections = in.sections(v.sections[:0], register, lock)
		switch verdict, reason := v.judge(); verdict {
		case checker.Fail:
			return checker.Fail, ""
		case checker.Unknown:
			answer, why = checker.Unknown, reason
		}
	}
	return answer, why
}

// view is what clients saw of one register under one lock after the other.
type view struct {
	start    int64
	until    time.Time
	sections []chain.Section
	sweep    chain.Chain
}

func (v *view) judge() (checker.Verdict, string) {
	answer, order, breach := v.sweep.Judge(v.start, v.sections)
	switch answer {
	case lin.Legal:
		if err := chain.Replay(v.start, v.sections, order); err != nil {
			return checker.Unknown, lin.Contradiction(err)
		}
		return checker.Pass, ""
	case lin.Illegal:
		if v.search(breach.Start, breach.Sections) != lin.Illegal {
			return checker.Unknown, "the second checker, Porcupine, does not confirm the violation that lockstorm's checker found"
		}
		return checker.Fail, ""
	}
	if len(v.sections) > lin.MaxOps {
		return checker.Unknown, fmt.Sprintf("the clients wrote the same value more than once, so lockstorm's own checker cannot "+
			"decide, and %d critical sections are too many for the second checker, Porcupine", len(v.sections))
	}
	switch v.search(v.start, v.sections) {
	case lin.Illegal:
		return checker.Fail, ""
	case lin.Legal:
		return checker.Pass, ""
	}
	return checker.Unknown, "lockstorm's own checker could not decide, and the second checker, Porcupine, ran out of time"
}

func (v *view) search(start int64, sections []chain.Section) lin.Answer {
	left := time.Until(v.until)
	if left <= 0 {
		return lin.Undecided
	}
	return chain.Search(start, sections, left)
}
