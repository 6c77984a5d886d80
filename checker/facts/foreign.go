package facts

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// ForeignRelease is a release that freed the lock of another grant.
type ForeignRelease struct {
	By, Victim *history.Grant
	Release    *history.Call
}

// findForeignReleases looks at every release that was carried out, in the order of the
// answers: a grant that was robbed is over from then on.
func (in *Facts) findForeignReleases() []ForeignRelease {
	var out []ForeignRelease
	for _, lock := range in.Locks {
		granted := in.ByOK(lock)
		done := make([]ForeignRelease, 0, len(granted))
		for _, g := range granted {
			for _, rel := range g.Releases {
				if rel.Outcome() == history.OK {
					done = append(done, ForeignRelease{By: g, Release: rel})
				}
			}
		}
		slices.SortStableFunc(done, func(a, b ForeignRelease) int { return cmp.Compare(a.Release.End(), b.Release.End()) })
		over := map[*history.Grant]int64{} // when a grant was robbed
		for _, r := range done {
			if r.Victim = in.victim(granted, r.By, r.Release, over); r.Victim != nil {
				out = append(out, r)
				if _, known := over[r.Victim]; !known && !in.Model.Shares() {
					over[r.Victim] = r.Release.End()
				}
			}
		}
	}
	return out
}

// findRobbers are the foreign releases by their victims: of several the first.
func (in *Facts) findRobbers() map[*history.Grant]ForeignRelease {
	out := map[*history.Grant]ForeignRelease{}
	for _, r := range in.ForeignReleases() {
		if _, known := out[r.Victim]; !known {
			out[r.Victim] = r
		}
	}
	return out
}

// victim is the grant whose lock a release took away: granted after g and before the
// release had returned, and in force until then. Two kinds of evidence count. Direct:
// g's lease had run out before the release was invoked, and the victim had been granted
// by then; or an earlier foreign release had taken g's lock away. Indirect: the victim was told that its lock is gone although
// nothing else took it, while the release was under way or after it. Of several that were in force, as readers may be, it is
// rather one that was told so, and rather not one that was seen to hold it later.
//
//nolint:gocyclo // one question with its kinds of evidence
func (in *Facts) victim(granted []*history.Grant, g *history.Grant, rel *history.Call,
	over map[*history.Grant]int64,
) *history.Grant {
	gone := func(at int64) bool {
		robbed, is := over[g]
		return in.Expired(g, at) || (is && robbed < at)
	}
	before := sort.Search(len(granted), func(i int) bool { return granted[i].From() > rel.End() })
	since := g.From()
	if base, leased := in.ExpiryBase(g); leased {
		since = min(since, base) // it may have learned of its grant when that was over
	}
	var found *history.Grant
	for i := before - 1; i >= 0 && granted[i].From() >= since; i-- {
		h := granted[i]
		if _, robbed := over[h]; robbed || !in.canFollow(g, h) || !in.inForce(h, rel) {
			continue
		}
		held := h.From() <= rel.Start()
		if (held || gone(rel.End())) && in.denied(h, rel) && (held || !in.takenByAnother(granted, h, rel)) {
			return h
		}
		if held && gone(rel.Start()) && (found == nil || (heldAfter(found, rel) && !heldAfter(h, rel))) {
			found = h
		}
		if found != nil && !in.Model.Shares() {
			return found
		}
	}
	return found
}

// takenByAnother reports whether another release than one that was under way when h was granted took its lock away for certain.
func (in *Facts) takenByAnother(granted []*history.Grant, h *history.Grant, underWay *history.Call) bool {
	return slices.ContainsFunc(granted, func(g *history.Grant) bool {
		return slices.ContainsFunc(g.Releases, func(rel *history.Call) bool {
			return rel != underWay && rel.Outcome() == history.OK && h.From() <= rel.Start() && in.Expired(g, rel.Start()) &&
				in.canFollow(g, h) && in.inForce(h, rel)
		})
	})
}

// canFollow reports whether h is another grant that came when g was, or may have been, over, and
// that may not be held together with it.
func (in *Facts) canFollow(g, h *history.Grant) bool {
	after := h.Sent() >= g.From() || in.Expired(g, h.Sent())
	return h != g && after && !in.Model.Together(g, h)
}

// heldAfter reports whether the store said of a grant, of itself, that it was held after a release
// of another one had returned.
func heldAfter(h *history.Grant, rel *history.Call) bool {
	return slices.ContainsFunc(slices.Concat(h.Releases, h.Renews), func(c *history.Call) bool {
		return c.Outcome() == history.OK && c.Start() >= rel.End()
	})
}

// inForce reports whether h was neither released nor run out when rel returned. A release that was refused while rel
// was under way gave nothing back: rel may be why.
func (in *Facts) inForce(h *history.Grant, rel *history.Call) bool {
	for _, r := range h.Releases {
		refused := r.NotHeld() && r.End() >= rel.Start()
		if r.Start() <= rel.End() && !refused {
			return false
		}
	}
	if in.CutOff(h.Client) && in.Last[h.Client] < rel.End() {
		return false // it may have released after its log was cut off
	}
	if in.DiedWith(h, rel.End()) {
		return false
	}
	base, leased := in.ExpiryBase(h)
	return !leased || rel.End() < base
}

// DiedWith reports whether a grant that ends with its client's process had ended so by a time.
func (in *Facts) DiedWith(g *history.Grant, by int64) bool {
	kill, killed := in.Kills[g.Client]
	return killed && in.Run.Ends == history.EndsProcess && kill <= by
}

// Expired reports whether the lease of g had certainly run out, allowing for the renewals that may have been applied.
func (in *Facts) Expired(g *history.Grant, at int64) bool {
	base, leased := in.ExpiryBase(g)
	renews, known := g.Renews, g.Acquire.Return.TTL().Set
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
		case rn.Outcome() == history.OK && !rn.Return.TTL().Set:
			base = max(base, rn.End()+in.Run.TTL)
		}
	}
	return at > base+2*in.Run.Tolerance
}

// denied reports whether the store told h that it does not hold the lock, although its
// lease still ran, it had not released, and no fault of a server explains it.
func (in *Facts) denied(h *history.Grant, rel *history.Call) bool {
	base, leased := in.ExpiryBase(h)
	for _, c := range slices.Concat(h.Releases, h.Renews) {
		if !c.NotHeld() || c.Start() <= rel.Start() || (leased && c.End() >= base) {
			continue
		}
		if !in.serverHurt(history.Interval{From: h.Sent(), To: c.End()}) {
			return true
		}
	}
	return false
}

// RobbedByUnknown reports whether h held the lock when g was asked for and until a release under g was carried out, was then told
// that it does not hold it, and nobody else was granted the lock or released it meanwhile.
func (in *Facts) RobbedByUnknown(h, g *history.Grant, rel *history.Call) bool {
	lasts := in.Run.Ends == history.EndsLease || in.Run.Ends == history.EndsNever // and not with a connection or a process
	if !lasts || !h.Granted() || h.From() > g.Acquire.Start() || h.Client == g.Client || history.SameOwner(g, h) ||
		in.Model.Together(g, h) ||
		!in.inForce(h, rel) || !in.denied(h, rel) {
		return false
	}
	held := history.Interval{From: h.From(), To: rel.End()}
	return !slices.ContainsFunc(in.ByLock[g.Lock], func(x *history.Grant) bool {
		granted := x.Granted() && x.From() > held.From && x.Sent() < held.To
		return x != g && x != h && (granted || slices.ContainsFunc(x.Releases, func(c *history.Call) bool {
			return c.Outcome() != history.Fail && c.End() > held.From && c.Start() < held.To
		}))
	})
}

// serverHurt reports whether a fault of a server touched a span.
func (in *Facts) serverHurt(span history.Interval) bool {
	return slices.ContainsFunc(in.Faults, func(f *history.Injection) bool {
		ofServer := f.Family != history.FamilyClient && (f.Family != history.FamilyLink || len(f.Clients) == 0)
		return ofServer && f.Invoke.Type() == history.Invoke && !span.Overlap(f.Aftermath(in.Run.Recovery)).Empty()
	})
}

// Robbed returns the foreign release that took the lock of a grant away before a time; in a cascade, the one that
// began it.
func (in *Facts) Robbed(g *history.Grant, before int64) (ForeignRelease, bool) {
	began, found := ForeignRelease{}, false
	for {
		r, freed := in.lazy.robbers()[g]
		if !freed || r.Release.Start() > before {
			return began, found
		}
		began, found = r, true
		g, before = r.By, r.Release.Start()
	}
}

// findLateReleases are the releases that were carried out after the lease of their grant had
// run out, or that were asked for when the lock had been granted to another client.
func (in *Facts) findLateReleases() (out []ForeignRelease) {
	for _, lock := range in.Locks {
		granted := in.ByOK(lock)
		for i, g := range granted {
			for _, rel := range g.Releases {
				next := granted[i+1:]
				next = next[:sort.Search(len(next), func(j int) bool { return next[j].From() >= rel.Start() })]
				followed := slices.ContainsFunc(next, func(h *history.Grant) bool { return in.canFollow(g, h) })
				if rel.Outcome() == history.OK && (followed || in.Expired(g, rel.End())) {
					out = append(out, ForeignRelease{By: g, Release: rel})
				}
			}
		}
	}
	return out
}
