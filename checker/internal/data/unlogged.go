package data

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// unlogged judges a register whose resource keeps no log of its own, as a database: by what
// the clients were told alone. An acknowledged write that later reads do not show is lost.
func (in question) unlogged(register string, updates facts.Updates, findings []checker.Finding) checker.Result {
	answer, why := in.linearizableData(register)
	switch {
	case slices.ContainsFunc(findings, func(f checker.Finding) bool { return f.Overwritten > 0 }):
	case answer == checker.Pass:
		updates.Lost, updates.Most = 0, 0 // whatever became of the unknown writes
	case answer == checker.Fail:
		class, reason := checker.NoClass, checker.Reason("")
		if in.Run.OwnFence {
			class, reason = checker.Defect, checker.ReasonOwnFence
		}
		findings = append(findings, checker.Finding{
			Rule: "lost-update", Class: class, Reason: reason, Gating: true, Cause: checker.NoCause.Text, CauseKind: checker.CauseNone,
			Events: []int64{}, Lost: int64(updates.Lost),
			Doubtful: in.WholeUntil() < history.Forever, // what a log lacks may explain what other clients read
			Message: fmt.Sprintf("the clients' reads of %s do not show all acknowledged writes: no order of the clients' critical "+
				"sections explains these reads", register),
		})
	}
	r := in.Conclude("the data was judged only by the answers that the clients got, because the data store keeps no log", findings,
		len(findings))
	r.Figures = figures(register, updates)
	r.Proof = checker.NewProof(checker.DataProof{Clients: answer})
	if r.Verdict == checker.Pass && answer == checker.Unknown {
		r.Verdict, r.Code, r.Reason = checker.Unknown, checker.CodeTimeout, why
	}
	return r
}
