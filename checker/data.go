package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

func dataPlain(in *Input) Result {
	return in.data(regPlain)
}

func dataFenced(in *Input) Result {
	return in.data(regFenced)
}

func usesPlain(in *Input) (Code, string) {
	return in.uses(regPlain, "--fencing on uses only the fenced register")
}

func usesFenced(in *Input) (Code, string) {
	if code, why := hasTokens(in); code != "" {
		return code, why
	}
	return in.uses(regFenced, "--fencing off uses only the plain register")
}

// uses says why a register has nothing to be judged by.
func (in *Input) uses(register, otherwise string) (Code, string) {
	if !in.Run.Resource {
		return CodeNoData, fmt.Sprintf("workload %s touches no data", in.Run.Workload)
	}
	if _, used := in.Run.Registers[register]; !used {
		return CodeUnused, otherwise
	}
	return "", ""
}

// DataProof is the proof of the data checks: whether what the clients were told has an order
// of sections.
type DataProof struct {
	Clients Verdict `json:"clients"`
}

// data judges one register twice: by replaying the register's own log, which is the
// order of what it accepted, and by a sweep over what the clients were told. The first
// explains, the second confirms.
func (in *Input) data(register string) Result {
	played := in.replayed(register)
	lost, acked := played.lost, played.acked
	var findings []Finding
	for _, s := range played.shown {
		if f, wrong := in.explained(s); wrong {
			findings = append(findings, f)
		}
	}
	if !played.logged {
		return in.unlogged(register, acked, findings)
	}
	r := in.conclude("replay of the register's log, confirmed by a sweep over the clients' view", findings, len(findings))
	r.Figures = Figures{"updates_acked": int64(acked), "updates_lost_" + register: int64(len(lost))}
	answer, why := in.linearizableData(register)
	switch {
	case r.Verdict == Pass && answer == Fail:
		// The two views contradict each other: suspect the record, not the lock.
		r.Verdict, r.Code, r.Reason = Unknown, CodeContradiction, "there is no order for what the clients saw, but the register's log explains it: suspect the record"
	case r.Verdict == Pass && answer == Unknown:
		r.Reason = "by the register's log alone: " + why
	case r.Verdict == Fail && answer == Pass:
		r.Reason = "the damage shows in the register's log; what the clients were told does not contradict one order"
	}
	r.Proof = NewProof(DataProof{Clients: answer})
	return r
}

func withoutFence(run history.Run) bool { return run.Fencing != history.FencingOn }
