package data

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// uses says why a register has nothing to be judged by.
func (in question) uses(register, otherwise string) (checker.Code, string) {
	if !in.Run.Resource {
		return checker.CodeNoData, fmt.Sprintf("workload %s uses no data", in.Run.Workload)
	}
	_, used := in.Run.Registers[register]
	return checker.Only(used, checker.CodeUnused, otherwise)
}

// data judges one register twice: by replaying the register's own log, which is the
// order of what it accepted, and by a sweep over what the clients were told. The first
// explains, the second confirms.
func (in question) data(register string) checker.Result {
	played := in.Replayed(register)
	var findings []checker.Finding
	for _, s := range played.Shown {
		if f, wrong := in.explained(s); wrong {
			findings = append(findings, f)
		}
	}
	if !played.Logged {
		return in.unlogged(register, played.Updates, findings)
	}
	r := in.Conclude("replay of the register's log (the log of the data store), and comparison with the answers that the "+
		"clients got", findings, len(findings))
	r.Figures = figures(register, played.Updates)
	r.Figures["updates_brought_back_"+register] = int64(played.BroughtBack)
	answer, why := in.linearizableData(register)
	switch {
	case r.Verdict == checker.Pass && answer == checker.Fail:
		// The two views contradict each other: suspect the record, not the lock.
		r.Verdict, r.Code, r.Reason = checker.Unknown, checker.CodeContradiction, "the register's log shows no damage, but no order "+
			"of operations explains the answers that the clients got: the record may be wrong"
	case r.Verdict == checker.Pass && answer == checker.Unknown:
		r.Reason = "this verdict relies only on the register's log, because the answers that the clients got allow no verdict: " + why
	case r.Verdict == checker.Fail && answer == checker.Pass:
		r.Reason = "the register's log shows the damage, but the answers that the clients got do not show it"
	}
	r.Proof = checker.NewProof(checker.DataProof{Clients: answer})
	return r
}

// figures are the updates of a register, and what became of them.
func figures(register string, u facts.Updates) checker.Figures {
	out := checker.Figures{
		"updates_acked":                   int64(u.Acked),
		"updates_lost_" + register:        int64(u.Lost),
		"updates_overwritten_" + register: int64(u.Overwritten),
	}
	if u.Most > u.Lost {
		out["updates_lost_max_"+register] = int64(u.Most)
	}
	return out
}

func withoutFence(run history.Run) bool { return run.Fencing != history.FencingOn }
