package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// ownership asks whether only the owner can release. A release that the store carried
// out (ok) frees somebody else's lock when its own grant was certainly over and another
// one was certainly in force at the time. It is over once its lease has run out and
// another client was granted after that; else it is taken as foreign only when the
// other holder was then told that its lock is gone.
func ownership(in *Input) Result {
	findings := make([]Finding, 0, len(in.foreignReleases()))
	for _, r := range in.foreignReleases() {
		findings = append(findings, in.ownershipFinding(r))
	}
	return Conclude("releases that were carried out, against the grants in force", findings, len(findings))
}

// foreignRelease is a release that freed the lock of another grant.
type foreignRelease struct {
	by, victim *history.Grant
	release    *history.Call
}

// findForeignReleases looks at every release that was carried out.
func (in *Input) findForeignReleases() []foreignRelease {
	var out []foreignRelease
	for _, lock := range in.Locks {
		granted := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool { return !g.Granted() })
		slices.SortFunc(granted, func(a, b *history.Grant) int { return cmp.Compare(a.From(), b.From()) })
		for _, g := range granted {
			for _, rel := range g.Releases {
				if rel.Outcome() != history.OK {
					continue
				}
				if victim := in.victim(granted, g, rel); victim != nil {
					out = append(out, foreignRelease{g, victim, rel})
				}
			}
		}
	}
	return out
}

// victim is the grant whose lock a release took away: granted after g and before the
// release had returned, and in force until then. Two kinds of evidence count. Direct:
// g's lease had run out before the release was invoked, and the victim had been granted
// by then. Indirect: the victim was told that its lock is gone although nothing else
// took it, while the release was under way or after it.
func (in *Input) victim(granted []*history.Grant, g *history.Grant, rel *history.Call) *history.Grant {
	before := sort.Search(len(granted), func(i int) bool { return granted[i].From() > rel.End() })
	since := g.From()
	if base, leased := in.expiryBase(g); leased {
		since = min(since, base) // it may have learned of its grant when that was over
	}
	for i := before - 1; i >= 0 && granted[i].From() >= since; i-- {
		h := granted[i]
		after := h.Sent() >= g.From() || in.expired(g, h.Sent())
		if h == g || !after || in.Model.Together(g, h) || !in.inForce(h, rel) {
			continue
		}
		if h.From() <= rel.Start() && in.expired(g, rel.Start()) {
			return h
		}
		if (h.From() <= rel.Start() || in.expired(g, rel.End())) && in.denied(h, rel) {
			return h
		}
	}
	return nil
}

// inForce reports whether h was neither released nor run out when rel returned.
func (in *Input) inForce(h *history.Grant, rel *history.Call) bool {
	for _, r := range h.Releases {
		if r.Start() <= rel.End() {
			return false
		}
	}
	if in.CutOff(h.Client) && in.Last[h.Client] < rel.End() {
		return false // it may have released after its log was cut off
	}
	if kill, ok := in.Kills[h.Client]; ok && in.Run.Ends == history.EndsProcess && kill <= rel.End() {
		return false
	}
	base, leased := in.expiryBase(h)
	return !leased || rel.End() < base
}

// expired reports whether the lease of g had run out for certain: the renewals that may
// have been applied included.
func (in *Input) expired(g *history.Grant, at int64) bool {
	base, leased := in.expiryBase(g)
	renews, known := g.Renews, g.Acquire.Return.TTL.Set
	if in.CutOff(g.Client) && in.Last[g.Client] < at {
		return false // it may have been renewed after its log was cut off
	}
	if g.InSession() {
		// A session that was granted something later than it could have lived was renewed
		// off the record.
		renews, known = g.Under.Renews, g.Under.RunsOut(0).Set && g.Under.LastGranted() <= base
	}
	if !leased || !known {
		return false
	}
	for _, rn := range renews {
		switch {
		case rn.Outcome() == history.Info:
			base = max(base, rn.Start()+in.Run.TTL)
		case rn.Outcome() == history.OK && !rn.Return.TTL.Set:
			base = max(base, rn.End()+in.Run.TTL)
		}
	}
	return at > base+2*in.Run.Tolerance
}

// denied reports whether the store told h that it does not hold the lock, although its
// lease still ran, it had not released, and no fault of a server explains it.
func (in *Input) denied(h *history.Grant, rel *history.Call) bool {
	base, leased := in.expiryBase(h)
	for _, c := range slices.Concat(h.Releases, h.Renews) {
		if !isNotHeld(c) || c.Start() <= rel.Start() || (leased && c.End() >= base) {
			continue
		}
		if !in.serverHurt(history.Interval{From: h.Sent(), To: c.End()}) {
			return true
		}
	}
	return false
}

// serverHurt reports whether a fault of a server touched a span.
func (in *Input) serverHurt(span history.Interval) bool {
	return slices.ContainsFunc(in.Faults, func(f *history.Injection) bool {
		ofServer := f.Family != history.FamilyClient && (f.Family != history.FamilyLink || len(f.Clients) == 0)
		return ofServer && f.Invoke.Type == history.Invoke && !span.Overlap(f.Aftermath(in.Run.Recovery)).Empty()
	})
}

func (in *Input) ownershipFinding(r foreignRelease) Finding {
	g, victim, rel := r.by, r.victim, r.release
	events := []int64{g.Acquire.Return.Index, victim.Acquire.Return.Index, rel.Invoke.Index, rel.Return.Index}
	slices.Sort(events)
	f := Finding{
		Rule: "foreign-release", Class: Defect, Reason: ReasonNotOwner, Gating: true,
		Message: fmt.Sprintf("the release of %s by %s at %s was carried out, but the lock %s was held by %s (grant %s since %s): it freed somebody else's lock",
			g.ID, g.Client, Seconds(rel.Start()), g.Lock, victim.Client, victim.ID, Seconds(victim.From())),
		Events: events, Grants: []string{g.ID, victim.ID}, From: max(rel.Start(), victim.From()), To: rel.End(),
	}
	f.because(in.CauseOf(g, rel.Start()))
	return f
}

// freedBy is the release that took the lock of a grant away, as the cause of what came
// after it.
func (in *Input) freedBy(g *history.Grant, before int64) (Cause, bool) {
	for _, r := range in.foreignReleases() {
		if r.victim == g && r.release.Start() <= before {
			why := in.CauseOf(r.by, r.release.Start())
			return Cause{Kind: CauseRelease, Fault: why.Fault, Text: fmt.Sprintf("the release of %s by %s at %s, which freed the lock of %s (%s)",
				r.by.ID, r.by.Client, Seconds(r.release.Start()), g.ID, why.Text)}, true
		}
	}
	return Cause{}, false
}

// findLateReleases are the releases that were carried out after the lease of their grant had
// run out.
func (in *Input) findLateReleases() []foreignRelease {
	var out []foreignRelease
	for _, g := range in.Grants {
		if !g.Granted() {
			continue
		}
		for _, rel := range g.Releases {
			if rel.Outcome() == history.OK && in.expired(g, rel.End()) {
				out = append(out, foreignRelease{by: g, release: rel})
			}
		}
	}
	return out
}

// mayBeFreedBy is a late release by a third grant that was carried out while the first one
// of an overlap was in force. It proves nothing where it was invoked before that, so it is
// no finding; but it is what an overlap without another cause may come of.
func (in *Input) mayBeFreedBy(o overlap) (Cause, bool) {
	for _, r := range in.tooLate() {
		g, rel := r.by, r.release
		third := g != o.first && g != o.second && g.Lock == o.first.Lock
		if third && rel.Start() < o.span.From && rel.End() > o.first.Sent() {
			why := in.CauseOf(g, rel.End())
			return Cause{Kind: CauseRelease, Fault: why.Fault, Text: fmt.Sprintf("perhaps the late release of %s by %s, carried out by %s (%s)",
				g.ID, g.Client, Seconds(rel.End()), why.Text)}, true
		}
	}
	return Cause{}, false
}
