package ownership

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// ownership asks whether only the owner can release. A release that the store carried
// out (ok) frees somebody else's lock when its own grant was certainly over and another
// one was certainly in force at the time. It is over once its lease has run out and
// another client was granted after that; else it is taken as foreign only when the
// other holder was then told that its lock is gone. A grant whose lock a foreign release took
// away is over, too: what its own release removes then is again somebody else's.
//
// A release that was carried out under an attempt that was refused, or that nobody made,
// removed what was not this client's, whoever's it was: unless the store knows its owner by
// another attempt, whose grant it may have been. A release under an attempt of unknown outcome is foreign
// when nobody but the holder of then can have been the owner: see [facts.Facts.RobbedByUnknown].
func ownership(in question) checker.Result {
	findings := append(in.releasesOfNone(), in.releasesOfUnknown()...)
	for _, r := range in.ForeignReleases() {
		findings = append(findings, in.ownershipFinding(r))
	}
	return in.Conclude("search for releases that the store carried out although the client that sent the release did not hold "+
		"the lock", in.Weigh(findings), len(findings))
}

// releasesOfNone are the releases that were carried out under no grant.
func (in question) releasesOfNone() []checker.Finding {
	var out []checker.Finding
	for _, g := range in.Grants {
		if g.Acquire != nil && g.Acquire.Outcome() != history.Fail {
			continue
		}
		for _, rel := range g.Releases {
			if rel.Outcome() != history.OK || in.ownsAnother(g, rel) {
				continue
			}
			what := "the store had refused to grant"
			if g.Acquire == nil {
				what = "no client had requested"
			}
			f := checker.Finding{
				Rule: "release-of-none", Class: checker.Defect, Reason: checker.ReasonNotOwner, Gating: true,
				Message: fmt.Sprintf("the store carried out the release of grant %s by %s at %s, although %s lock %s under this id: the "+
					"release freed a lock that was not held under this id",
					g.ID, g.Client, checker.Seconds(rel.Start()), what, g.Lock),
				Events: []int64{rel.Invoke.Index, rel.Return.Index}, Grants: []string{g.ID}, From: rel.Start(), To: rel.End(),
			}
			f.Because(checker.NoCause)
			f.Lead = in.Lead(&f, g, nil)
			out = append(out, f)
		}
	}
	return out
}

// releasesOfUnknown are the releases that were carried out under a request of unknown outcome, and took the lock of a holder
// away.
func (in question) releasesOfUnknown() []checker.Finding {
	var out []checker.Finding
	for _, g := range in.Grants {
		if g.Acquire == nil || g.Acquire.Outcome() != history.Info {
			continue
		}
		for _, rel := range g.Releases {
			i := slices.IndexFunc(in.ByLock[g.Lock], func(h *history.Grant) bool {
				return rel.Outcome() == history.OK &&
					in.RobbedByUnknown(h, g, rel)
			})
			if i < 0 {
				continue
			}
			h := in.ByLock[g.Lock][i]
			f := checker.Finding{
				Rule: "release-of-none", Class: checker.Defect, Reason: checker.ReasonNotOwner, Gating: true,
				Message: fmt.Sprintf("the store carried out the release of grant %s by %s at %s; the outcome of its request is unknown, "+
					"but %s held lock %s before that request (grant %s since %s), and was told afterwards that it does not: "+
					"the release freed another client's lock, or the lock was granted twice", g.ID, g.Client, checker.Seconds(rel.Start()),
					h.Client, g.Lock, h.ID, checker.Seconds(h.From())),
				Events: []int64{h.Acquire.Return.Index, g.Acquire.Invoke.Index, rel.Invoke.Index, rel.Return.Index},
				Grants: []string{g.ID, h.ID}, From: rel.Start(), To: rel.End(),
			}
			f.Because(checker.NoCause)
			f.Lead = in.Lead(&f, g, h)
			out = append(out, f)
		}
	}
	return out
}

// ownsAnother reports whether the owner of a refused attempt may have held the lock by another
// one when a release was carried out: granted and not given back before, or of unknown outcome.
func (in question) ownsAnother(g *history.Grant, rel *history.Call) bool {
	if g.Owner == "" && !in.Model.Shares() {
		return false // it does not say by what the store knows its owners
	}
	return slices.ContainsFunc(in.ByLock[g.Lock], func(h *history.Grant) bool {
		switch {
		case h == g || h.Acquire == nil || !history.SameOwner(g, h) || h.Acquire.Start() > rel.End():
			return false
		case !h.Granted():
			return h.Acquire.Outcome() != history.Fail
		}
		back := slices.ContainsFunc(h.Releases, func(c *history.Call) bool {
			return c.Outcome() == history.OK &&
				c.End() < rel.Start()
		})
		return !back && !in.Expired(h, rel.Start())
	})
}

func (in question) ownershipFinding(r facts.ForeignRelease) checker.Finding {
	g, victim, rel := r.By, r.Victim, r.Release
	events := []int64{g.Acquire.Return.Index, victim.Acquire.Return.Index, rel.Invoke.Index, rel.Return.Index}
	slices.Sort(events)
	f := checker.Finding{
		Rule: "foreign-release", Class: checker.Defect, Reason: checker.ReasonNotOwner, Gating: true,
		Message: fmt.Sprintf("the store carried out the release of grant %s by %s at %s, but %[5]s held lock %[4]s (grant %[6]s "+
			"since %[7]s): the release freed another client's lock",
			g.ID, g.Client, checker.Seconds(rel.Start()), g.Lock, victim.Client, victim.ID, checker.Seconds(victim.From())),
		Events: events, Grants: []string{g.ID, victim.ID}, From: max(rel.Start(), victim.From()), To: rel.End(),
	}
	if began, cascade := in.Robbed(g, rel.Start()); cascade {
		f.Because(in.ReleaseCause(began, g))
	} else {
		f.Because(in.WhyReleasedLate(r))
	}
	f.Lead = in.Lead(&f, g, victim)
	return f
}
