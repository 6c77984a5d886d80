package reports

import (
	"cmp"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
)

// losses are what became of the acknowledged updates of one register in a whole run, or of several.
type losses struct {
	counted           bool
	lost, most        int64 // for good; most is more where the record leaves a range
	overwritten, back int64
}

// lossesIn are those of some registers.
func lossesIn(r *checker.Results, registers ...string) (l losses) {
	for _, register := range registers {
		of := func(what string) int64 { return r.Stats[lossStat(what, register)] }
		_, counted := r.Stats[lossStat("lost", register)]
		lost := of("lost")
		l = losses{
			l.counted || counted, l.lost + lost, l.most + max(lost, of("lost_max")), l.overwritten + of("overwritten"),
			l.back + of("brought_back"),
		}
	}
	return l
}

const regLedger = "ledger" // the register of the workload stock that is counted

func lossStat(what, register string) string {
	if register == regLedger {
		return "ledger_" + what
	}
	return "updates_" + what + "_" + register
}

// of is how many updates are lost for good: "1 update", "1 to 3 updates".
func (l losses) of(what string) string {
	if l.most > l.lost {
		return fmt.Sprintf("%d to %s", l.lost, checker.Count(l.most, what))
	}
	return checker.Count(l.lost, what)
}

// others says, before a text, that more was overwritten unseen than is lost for good; empty: it was not.
func (l losses) others(after string) string {
	if l.back == 0 {
		return ""
	}
	unseen := fmt.Sprintf("%d%soverwritten unseen", l.overwritten, was(l.overwritten))
	return fmt.Sprintf("; %s, and later writes brought back %d%s", unseen, l.back, after)
}

// lossOf is what a finding cost.
func lossOf(r *checker.Results, f *checker.Finding) facts.Loss {
	if d := r.LossOf(f); d != nil && d.Loss().Compare(f.Loss()) < 0 {
		return d.Loss()
	}
	return f.Loss()
}

// lossSentence says what became of updates that were overwritten, for the end of a sentence; empty: nothing was overwritten.
func lossSentence(l facts.Loss) string {
	switch back := cmp.Or(l.Overwritten, l.Lost) - l.Lost; {
	case l.Lost > 0:
		return checker.Count(l.Lost, "acknowledged update") + was(l.Lost) + "lost"
	case back > 0:
		return checker.Count(back, "acknowledged update") + was(back) + "overwritten unseen, and brought back by later writes"
	}
	return ""
}

func was(n int64) string {
	if n == 1 {
		return " was "
	}
	return " were "
}
