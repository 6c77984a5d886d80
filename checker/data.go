package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Registers of the protected resource.
const (
	regPlain  = "plain"
	regFenced = "fenced"
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
	lost, acked, findings := played.lost, played.acked, slices.Clone(played.findings)
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

// replayed is what the replay of a register's log shows; of one without a log, what acknowledged updates of
// one value show.
type replayed struct {
	logged   bool
	findings []Finding // all of them
	lost     map[*history.Call]bool
	acked    int
}

func (in *Input) replay(register string) replayed {
	byLock := in.cells(register)
	out := replayed{logged: len(byLock) > 0, lost: map[*history.Call]bool{}}
	for _, lock := range in.Locks {
		rp := &replay{in: in, register: register, lock: lock, value: in.Run.Registers[register], lost: out.lost}
		rp.run(byLock[lock])
		out.findings = append(out.findings, rp.findings...)
		out.acked += rp.acked
		if !out.logged {
			out.findings = append(out.findings, in.sameBase(register, lock)...)
		}
	}
	return out
}

// cells are the register's own events, by lock, in the order in which it accepted.
func (in *Input) cells(register string) map[string][]*history.Event {
	out := map[string][]*history.Event{}
	for i := range in.Events {
		e := &in.Events[i]
		if e.Party == history.PartyRegister && e.Register == register && (e.F == history.FRead || e.F == history.FWrite) {
			out[e.Lock] = append(out[e.Lock], e)
		}
	}
	return out
}
