package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
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

// anyCutOff reports whether a log stops for no reason that is known: what it lacks may explain
// what others read.
func (in *Input) anyCutOff() bool { return in.wholeUntil() < history.Forever }

// sameBase finds two acknowledged updates of one value: the later one replaced the earlier one
// without having seen it. Values that come again are left out: then the later one may have seen
// what the other one left.
func (in *Input) sameBase(register, lock string) []Finding {
	byBase := map[int64][]*history.Call{}
	news := map[int64]int{}
	for _, g := range in.ByLock[lock] {
		for _, u := range g.Uses {
			e := u.Invoke
			if e.F == history.FWrite && e.Register == register && e.Value.Base.Set && e.Value.New.Set && u.Outcome() != history.Fail {
				news[e.Value.New.V]++
				if u.Outcome() == history.OK && hasRead(g, e) {
					byBase[e.Value.Base.V] = append(byBase[e.Value.Base.V], u)
				}
			}
		}
	}
	var out []Finding
	for _, base := range slices.Sorted(maps.Keys(byBase)) {
		calls, times := byBase[base], news[base]
		if base == in.Run.Registers[register] {
			times++ // it was there before anybody wrote it
		}
		if len(calls) < 2 || times > 1 {
			continue
		}
		slices.SortFunc(calls, func(a, b *history.Call) int { return cmp.Compare(a.End(), b.End()) })
		for i, u := range calls[1:] {
			if first := calls[i]; first.Invoke.Grant != u.Invoke.Grant {
				out = append(out, in.replacedUnseen(first, u))
			}
		}
	}
	return out
}

// hasRead reports whether a section had read the value that it replaces.
func hasRead(g *history.Grant, write *history.Event) bool {
	return slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F == history.FRead && u.Outcome() == history.OK && u.Invoke.Register == write.Register && u.Return.Value.Base == write.Value.Base
	})
}

func (in *Input) replacedUnseen(first, second *history.Call) Finding {
	e, w := second.Return, first.Return
	why := in.explainLoss(e, []*history.Event{w})
	f := Finding{
		Rule: "lost-update", Class: why.class, Reason: why.reason, Gating: true, Events: []int64{w.Index, e.Index}, Lost: 1,
		Grants: []string{first.Invoke.Grant, second.Invoke.Grant}, From: w.Time, To: e.Time,
		Message: fmt.Sprintf("%s and %s both replaced %d: of two acknowledged updates one was lost", first.Invoke.Grant, second.Invoke.Grant, e.Value.Base.V),
	}
	f.because(why.cause)
	f.Doubtful = why.class == Inherent && why.cause.unasked() || why.reason == ReasonUsedAfterRelease
	return f
}
