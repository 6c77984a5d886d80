package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// commonFigures are those that belong to no check.
func commonFigures(in *Input) Figures {
	out := Figures{}
	out["events"] = int64(len(in.Events))
	out["grants"] = 0
	out["faults_injected"], out["faults_effective"] = 0, 0
	var waits []int64
	for _, g := range in.Grants {
		if !g.Granted() {
			continue
		}
		out["grants"]++
		out.Lower("ready_ns", g.From())
		waits = append(waits, max(1, g.From()-g.Acquire.Start()))
	}
	if slices.Sort(waits); len(waits) > 0 {
		out["acquire_p50_ns"], out["acquire_p99_ns"] = Percentile(waits, 50), Percentile(waits, 99)
	}
	renewals(in, out)
	reentries(in, out)
	for _, f := range in.Faults {
		if f.Invoke.Type() == history.Invoke {
			out["faults_injected"]++
		}
		if f.Effective() {
			out["faults_effective"]++
		}
	}
	return out
}

// reentries are how often a client was granted what it held, where the lock is taken for one that
// allows that, and how often it was refused.
func reentries(in *Input, out Figures) {
	if !in.Model.Counts() {
		return
	}
	out["reentries"], out["reentries_refused"] = 0, 0
	type place struct {
		lock string
		facts.Owner
	}
	held := map[place]*history.Grant{} // the outer grant
	for _, g := range in.Grants {
		if g.Acquire == nil {
			continue
		}
		at := place{g.Lock, facts.OwnerOf(g)}
		outer := held[at]
		switch {
		case outer == nil || g.Acquire.Start() > outer.GaveBack():
			if g.Granted() {
				held[at] = g
			}
		case g.Granted():
			out["reentries"]++
		case g.Acquire.Outcome() == history.Fail:
			out["reentries_refused"]++
		}
	}
}

// renewals are how long extensions of leases took until they were answered, and how many were not
// granted.
func renewals(in *Input, out Figures) {
	var took []int64
	for _, c := range in.Calls {
		if c.Invoke.F() != history.FRenew || c.Return == nil {
			continue
		}
		out["renewals"]++
		if c.Outcome() != history.OK {
			out["renewals_failed"]++
		}
		took = append(took, max(1, c.Return.Time-c.Start()))
	}
	if slices.Sort(took); len(took) > 0 {
		out["renew_p50_ns"], out["renew_p99_ns"] = Percentile(took, 50), Percentile(took, 99)
	}
}

// Percentile returns the nearest-rank percentile of sorted values, with hundredths as the percentage. sorted must not
// be empty.
func Percentile(sorted []int64, hundredths int) int64 {
	return sorted[max(0, (len(sorted)*hundredths+99)/100-1)]
}
