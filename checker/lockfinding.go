package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker/lin"
	"github.com/lockstorm/lockstorm/history"
)

// finding explains a core. The rule is named after the relaxation that makes it legal: a
// refusal, a release, a renewal that is taken back; else it is the grants themselves.
func (j *lockJudge) finding(lock string, us []unit) Finding {
	core := grantsOfUnits(us)
	slices.SortStableFunc(core, func(a, b *lockGrant) int { return cmp.Compare(a.from, b.from) })
	rule, reason, text := "double-grant", ReasonNotOver, "was granted again while a grant was neither released nor expired"
	lenient := func(kind lin.Kind) bool {
		return j.search(us, func(op lin.Op) lin.Op {
			if op.Kind == kind {
				op.Kind = lin.May
				op.Ret = history.Forever
			}
			return op
		}) == lin.Legal
	}
	switch {
	case lenient(lin.NotHeld):
		rule, reason, text = "lost-lease", ReasonGoneEarly, "was gone before its lease ran out, and nobody had released it"
	case lenient(lin.Release):
		rule, reason, text = "foreign-release", ReasonNotOwner, "was released by somebody who no longer held it"
	case revived(core):
		rule, reason, text = "revived-lease", ReasonRenewedLate, "was renewed by somebody after somebody else was granted"
	}
	f := Finding{Rule: rule, Class: Defect, Reason: reason, Gating: true}
	var parts []string
	for _, lg := range core {
		parts = append(parts, j.describe(lg))
		f.Grants = append(f.Grants, lg.g.ID)
		f.Events = append(f.Events, lg.g.Acquire.Invoke.Index)
		for _, c := range slices.Concat([]*history.Call{lg.g.Acquire}, lg.g.Releases, lg.gone) {
			if c.Return != nil {
				f.Events = append(f.Events, c.Return.Index)
				f.To = max(f.To, c.Return.Time)
			}
		}
	}
	last := core[len(core)-1]
	if f.From = last.ok; len(core) == 1 {
		f.From = f.To
	}
	f.because(j.in.CauseOf(core[0].g, max(last.ok, f.From)))
	f.Message = fmt.Sprintf("%s %s: no order of these operations is one of a lock: %s", lock, text, strings.Join(parts, "; "))
	slices.Sort(f.Events)
	return f
}

// revived reports whether a grant was renewed after another one of the core was known.
func revived(core []*lockGrant) bool {
	for _, lg := range core {
		for _, rn := range lg.g.Renews {
			if rn.Outcome() == history.OK && slices.ContainsFunc(core, func(o *lockGrant) bool { return o != lg && o.ok < rn.Start() && o.from > lg.ok }) {
				return true
			}
		}
	}
	return false
}

func (j *lockJudge) describe(lg *lockGrant) string {
	text := fmt.Sprintf("%s sent %s, granted by %s", lg.g.ID, Seconds(lg.from), Seconds(lg.ok))
	if base, leased := j.in.expiryBase(lg.g); leased {
		text += ", lease until " + Seconds(base+j.in.Run.Tolerance)
	}
	for _, rn := range lg.gone {
		text += ", its session was gone by " + Seconds(rn.End())
	}
	for _, rel := range lg.g.Releases {
		answer := string(rel.Outcome())
		if rel.Return != nil && rel.Return.Error != "" {
			answer += " " + rel.Return.Error
		}
		text += fmt.Sprintf(", release at %s: %s", Seconds(rel.Start()), answer)
	}
	return text
}
