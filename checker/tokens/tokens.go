package tokens

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// fencingTokens asks whether the tokens are a fence: by `sent` and ok of the grants they
// must grow strictly in real time and be unique, and the resource must not refuse the
// newest valid grant.
func fencingTokens(in question) checker.Result {
	figures := checker.Figures{}
	var findings []checker.Finding
	for _, lock := range in.Locks {
		findings = append(findings, in.tokenOrder(lock)...)
	}
	findings = append(findings, in.refusedValid(figures)...)
	r := in.Conclude("search for fencing tokens that do not increase from grant to grant, and for valid tokens that the fence refused", in.Weigh(findings), len(findings))
	r.Figures = figures
	return r
}

func (in question) tokenOrder(lock string) []checker.Finding {
	bySent := slices.DeleteFunc(slices.Clone(in.ByLock[lock]), func(g *history.Grant) bool { return !g.Token().Set })
	byOK := slices.Clone(bySent)
	slices.SortFunc(bySent, func(a, b *history.Grant) int { return cmp.Compare(a.Sent(), b.Sent()) })
	slices.SortFunc(byOK, func(a, b *history.Grant) int { return cmp.Compare(a.From(), b.From()) })
	var out []checker.Finding
	highest := map[string]*history.Grant{} // by mode: among those known before the grant at hand was sent for
	seen := map[int64]*history.Grant{}
	known := 0
	for _, g := range bySent {
		for ; known < len(byOK) && byOK[known].From() < g.Sent(); known++ {
			k := byOK[known]
			if before := highest[k.Mode]; before == nil || k.Token().V > before.Token().V {
				highest[k.Mode] = k
			}
		}
		token, before := g.Token().V, in.newest(highest, g)
		if twin := seen[token]; twin != nil && !in.Model.Together(twin, g) {
			out = append(out, in.tokenFinding("duplicate", twin, g, fmt.Sprintf("grant %s got token %d, although grant %s already had this token", g.ID, token, twin.ID)))
		} else if before != nil && before.Token().V > token {
			out = append(out, in.tokenFinding("regress", before, g,
				fmt.Sprintf("grant %s got token %d, although the earlier grant %s had got token %d: tokens must increase", g.ID, token, before.ID, before.Token().V)))
		}
		seen[token] = g
	}
	return out
}

// newest is the grant with the highest token, of those by mode, that a grant must come after:
// readers who may hold the lock together come in any order.
func (in question) newest(highest map[string]*history.Grant, g *history.Grant) (newest *history.Grant) {
	for _, mode := range slices.Sorted(maps.Keys(highest)) { // of two with one token always the same one
		h := highest[mode]
		together := mode == history.ModeShared && g.Mode == history.ModeShared && in.Model.Together(h, g)
		if !together && (newest == nil || h.Token().V > newest.Token().V) {
			newest = h
		}
	}
	return newest
}

func (in question) tokenFinding(rule string, a, b *history.Grant, message string) checker.Finding {
	f := checker.Finding{
		Rule: rule, Class: checker.Defect, Gating: true, Message: message,
		Events: []int64{a.Acquire.Return.Index, b.Acquire.Return.Index}, Grants: []string{a.ID, b.ID}, From: b.Sent(), To: b.From(),
	}
	f.Because(in.StoreCause(a, b.From()))
	return f
}

// refusedValid finds refusals by the fence that hit the newest grant while its lease
// ran and its process lived, if that is what holds it: a fence that locks out the rightful holder.
func (in question) refusedValid(figures checker.Figures) []checker.Finding {
	var out []checker.Finding
	figures["fence_refused"], figures["fence_refused_valid"] = 0, 0
	rivals := map[string]*rivals{}
	whole := in.WholeUntil()
	for _, e := range in.Registered {
		if e.Error != history.ErrStaleToken {
			continue
		}
		figures["fence_refused"]++
		g := in.ByID[e.Grant]
		if g == nil || !g.Granted() || e.Time > whole {
			continue
		}
		if rivals[g.Lock] == nil {
			rivals[g.Lock] = newRivals(in.ByLock[g.Lock])
		}
		if base, leased := in.ExpiryBase(g); (leased && e.Time >= base) || in.DiedWith(g, e.Time) || rivals[g.Lock].of(g, e.Time) {
			continue
		}
		figures["fence_refused_valid"]++
		f := checker.Finding{
			Rule: "refused-valid", Class: checker.Defect, Gating: true,
			Message: fmt.Sprintf("the fence refused the %s of %s under grant %s (token %d) at %s, although this grant was the newest grant of lock %s",
				e.F, g.Client, g.ID, e.Token.V, checker.Seconds(e.Time), g.Lock),
			Events: []int64{g.Acquire.Return.Index, e.Index}, Grants: []string{g.ID}, From: e.Time, To: e.Time,
		}
		f.Because(in.StoreCause(g, e.Time))
		out = append(out, f)
	}
	return out
}

// rivals answers whether another grant of a lock may be newer than a given one.
type rivals struct {
	bySent []*history.Grant // granted ones
	latest []int64          // the latest ok among bySent[:i+1] ...
	second []int64          // ... and among them without the one that is the latest
}

func newRivals(grants []*history.Grant) *rivals {
	r := &rivals{}
	for _, g := range grants {
		if g.Granted() {
			r.bySent = append(r.bySent, g)
		}
	}
	slices.SortFunc(r.bySent, func(a, b *history.Grant) int { return cmp.Compare(a.Sent(), b.Sent()) })
	first, second := int64(-1), int64(-1)
	for _, g := range r.bySent {
		switch at := g.From(); {
		case at > first:
			first, second = at, first
		case at > second:
			second = at
		}
		r.latest, r.second = append(r.latest, first), append(r.second, second)
	}
	return r
}

// of reports whether somebody else was, or may have been, granted after g was sent for
// and before the moment. A waiter whose granted request had not left yet is no rival; nor is
// an attempt of unknown outcome, since a client that knows no token presents none.
func (r *rivals) of(g *history.Grant, at int64) bool {
	n := sort.Search(len(r.bySent), func(i int) bool { return r.bySent[i].Sent() > at })
	if n == 0 {
		return false
	}
	latest := r.latest[n-1]
	if latest == g.From() {
		latest = r.second[n-1]
	}
	return latest >= g.Sent()
}
