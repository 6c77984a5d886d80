package data

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Registers of the workload stock: a value that comes back, and how often it was changed.
const (
	regStock  = "stock"
	regLedger = "ledger"
)

// stock asks of two values that belong together whether both are whole. Of the ledger no acknowledged
// update may be lost. The stock must be what it was at first and all that was acknowledged, where the
// outcome of every change is known: a look at the end shows it.
func stock(in question) checker.Result {
	ledger := in.data(regLedger)
	findings := ledger.Findings
	for _, lock := range in.Locks {
		findings = append(findings, in.stockIsOff(lock)...)
	}
	r := in.Conclude("replay of the ledger (a count of the changes), and comparison of the stock with the sum of the acknowledged "+
		"changes", findings, len(findings))
	r.Figures, r.Proof = checker.Figures{"ledger_updates": ledger.Figures["updates_acked"]}, ledger.Proof
	for _, what := range []string{"lost", "lost_max", "overwritten", "brought_back"} {
		if n, counted := ledger.Figures["updates_"+what+"_"+regLedger]; counted {
			r.Figures["ledger_"+what] = n
		}
	}
	if r.Verdict == checker.Pass && ledger.Verdict == checker.Unknown {
		ledger.Figures = r.Figures
		return ledger
	}
	return r
}

// stockIsOff compares the last look at the stock, after everything, with what was acknowledged. Where it is off because changes
// were lost, the findings are these losses: each has the class of the grants that met there.
func (in question) stockIsOff(lock string) []checker.Finding {
	sum, last := in.Run.Registers[regStock], (*history.Call)(nil)
	var writes []*history.Call
	for _, g := range in.ByLock[lock] {
		for _, u := range g.Uses {
			if u.Invoke.Register() != regStock {
				continue
			}
			switch {
			case u.Invoke.F() == history.FRead && u.Outcome() == history.OK && (last == nil || u.Start() > last.Start()):
				last = u
			case u.Invoke.F() == history.FWrite && u.Outcome() != history.Fail:
				writes = append(writes, u)
			}
		}
	}
	if last == nil {
		return nil
	}
	for _, u := range writes {
		switch {
		case u.Outcome() != history.OK:
			return nil // nobody knows whether it was applied
		case u.Start() > last.End():
			continue // it came later than the last look
		case u.End() >= last.Start():
			return nil // it may have come before or after the look
		}
		sum += u.Invoke.New().V - u.Invoke.Base().V
	}
	if seen := last.Return.Base().V; seen != sum {
		if lost := in.lostPieces(lock); len(lost) > 0 {
			for i := range lost {
				lost[i].Message += fmt.Sprintf(" (the final stock is %d; the initial stock plus the acknowledged changes is %d)", seen, sum)
			}
			return lost
		}
		return []checker.Finding{{
			Rule: "stock-off", Class: checker.NoClass, Gating: true, Cause: checker.NoCause.Text, CauseKind: checker.CauseNone,
			Events: []int64{last.Return.Index}, Grants: []string{last.Invoke.Grant()},
			Message: fmt.Sprintf("%s read a final stock of %d, but the initial stock plus the acknowledged changes is %d",
				last.Invoke.Client(), seen, sum), From: last.Start(), To: last.End(),
		}}
	}
	return nil
}

// lostPieces are the lost changes for which a stock is off. There are none where the register's log shows something else that is
// wrong, or nothing that explains it.
func (in question) lostPieces(lock string) (all []checker.Finding) {
	for _, s := range in.Replayed(regStock).Shown {
		switch {
		case s.Event.Lock() != lock || s.What == facts.ShowsSplit:
			continue
		case s.What != facts.ShowsLoss:
			return nil
		}
		f := in.lostUpdate(s)
		if f.Class == checker.NoClass {
			return nil
		}
		all = append(all, f)
	}
	return all
}

func hasStock(in question) (checker.Code, string) {
	return checker.Only(keepsStock(in.Run), checker.CodeElsewhere, "this workload keeps no stock: to test one, use --workload stock")
}

func keepsStock(run history.Run) bool { _, used := run.Registers[regLedger]; return used }
