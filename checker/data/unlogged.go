package data

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
)

// unlogged judges a register whose resource keeps no log of its own, as a database: by what
// the clients were told alone. An acknowledged write that later reads do not show is lost.
func (in question) unlogged(register string, acked int, findings []checker.Finding) checker.Result {
	answer, why := in.linearizableData(register)
	lost := len(findings)
	if answer == checker.Fail && lost == 0 {
		class, reason := checker.NoClass, checker.Reason("")
		if in.Run.OwnFence {
			class, reason = checker.Defect, checker.ReasonOwnFence
		}
		findings = append(findings, checker.Finding{
			Rule: "lost-update", Class: class, Reason: reason, Gating: true, Cause: checker.NoCause.Text, CauseKind: checker.CauseNone, Events: []int64{}, Lost: 1,
			Doubtful: in.AnyCutOff(),
			Message:  fmt.Sprintf("the clients' reads of %s do not show all acknowledged writes: no order of the clients' critical sections explains these reads", register),
		})
		lost = 1
	}
	r := in.Conclude("the data was judged only by the answers that the clients got, because the data store keeps no log", findings, len(findings))
	r.Figures = checker.Figures{"updates_acked": int64(acked), "updates_lost_" + register: int64(lost)}
	r.Proof = checker.NewProof(checker.DataProof{Clients: answer})
	if r.Verdict == checker.Pass && answer == checker.Unknown {
		r.Verdict, r.Code, r.Reason = checker.Unknown, checker.CodeTimeout, why
	}
	return r
}
