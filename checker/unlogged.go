package checker

import (
	"fmt"
)

// unlogged judges a register whose resource keeps no log of its own, as a database: by what
// the clients were told alone. An acknowledged write that later reads do not show is lost.
func (in *Input) unlogged(register string, acked int, findings []Finding) Result {
	answer, why := in.linearizableData(register)
	lost := len(findings)
	if answer == Fail && lost == 0 {
		class, reason := NoClass, Reason("")
		if in.Run.OwnFence {
			class, reason = Defect, ReasonOwnFence
		}
		findings = append(findings, Finding{
			Rule: "lost-update", Class: class, Reason: reason, Gating: true, Cause: noCause.Text, CauseKind: CauseNone, Events: []int64{}, Lost: 1,
			Doubtful: in.anyCutOff(),
			Message:  fmt.Sprintf("what the clients read from %s shows not all that they were told was written: no order of their sections explains it", register),
		})
		lost = 1
	}
	r := in.conclude("the clients' view alone: the resource keeps no log", findings, len(findings))
	r.Figures = Figures{"updates_acked": int64(acked), "updates_lost_" + register: int64(lost)}
	r.Proof = NewProof(DataProof{Clients: answer})
	if r.Verdict == Pass && answer == Unknown {
		r.Verdict, r.Code, r.Reason = Unknown, CodeTimeout, why
	}
	return r
}
