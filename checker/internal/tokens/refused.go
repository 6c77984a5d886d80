package tokens

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// refusal is a request that a fence refused because of its token.
type refusal struct {
	*history.Event                // that shows it: of the register's log, else of its client's
	grant          *history.Grant // nil: of none that is known
}

// refusals are those of all registers, in order: by their logs, and by what clients were told where a register keeps none.
func (in question) refusals() (out []refusal) {
	logged := map[string]bool{}
	for _, e := range in.Registered {
		logged[e.Register()] = true
		if e.Code() == history.ErrStaleToken {
			out = append(out, refusal{e, in.ByID[e.Grant()]})
		}
	}
	for _, g := range in.Grants {
		for _, u := range g.Uses {
			if u.Outcome() == history.Fail && u.Return.Code() == history.ErrStaleToken && !logged[u.Invoke.Register()] {
				out = append(out, refusal{u.Return, g})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b refusal) int { return cmp.Compare(a.Time, b.Time) })
	return out
}

// refusedValid finds refusals by the fence that hit the newest grant while its lease
// ran and its process lived, if that is what holds it: a fence that locks out the rightful holder.
func (in question) refusedValid(figures checker.Figures) []checker.Finding {
	var out []checker.Finding
	figures["fence_refused"], figures["fence_refused_valid"] = 0, 0
	rivals := map[string]*rivals{}
	whole := in.WholeUntil()
	for _, e := range in.refusals() {
		figures["fence_refused"]++
		g := e.grant
		if g == nil || !g.Granted() || e.Time > whole {
			continue
		}
		if rivals[g.Lock] == nil {
			rivals[g.Lock] = newRivals(in.BySent(g.Lock), in.ByOK(g.Lock))
		}
		if base, leased := in.ExpiryBase(g); (leased && e.Time >= base) || in.DiedWith(g, e.Time) || rivals[g.Lock].newer(g, e.Time) {
			continue
		}
		if e.Party() != history.PartyRegister && in.StoreCause(g, e.Time).Kind != checker.CauseNone {
			continue // where the lock's own entry is the fence, what ended the lock ended that
		}
		figures["fence_refused_valid"]++
		f := checker.Finding{
			Rule: "refused-valid", Class: checker.Defect, Gating: true,
			Message: fmt.Sprintf("the fence refused the %s of %s under grant %s (token %d) at %s, although this grant was the newest "+
				"grant of lock %s",
				e.F(), g.Client, g.ID, g.Token().V, checker.Seconds(e.Time), g.Lock),
			Events: []int64{g.Acquire.Return.Index, e.Index}, Grants: []string{g.ID}, From: e.Time, To: e.Time,
		}
		c := in.StoreCause(g, e.Time)
		if before := rivals[g.Lock].before(g); c.Kind == checker.CauseNone && before != nil {
			c = in.StoreCause(before, g.From()) // the counter went back between the two
		}
		f.Because(c)
		out = append(out, f)
	}
	return out
}

// rivals answers whether another grant of a lock may be newer than a given one.
type rivals struct {
	bySent, byOK []*history.Grant // granted ones
	latest       []int64          // the latest ok among bySent[:i+1]
}

func newRivals(bySent, byOK []*history.Grant) *rivals {
	r := &rivals{bySent: bySent, byOK: byOK}
	latest := int64(-1)
	for _, g := range r.bySent {
		latest = max(latest, g.From())
		r.latest = append(r.latest, latest)
	}
	return r
}

// newer reports whether somebody else was, or may have been, granted a higher token after g was sent for
// and before the moment. A waiter whose granted request had not left yet is no rival; nor is
// an attempt of unknown outcome, since a client that knows no token presents none.
func (r *rivals) newer(g *history.Grant, at int64) bool {
	n := sort.Search(len(r.bySent), func(i int) bool { return r.bySent[i].Sent() > at })
	for i := n - 1; i >= 0 && r.latest[i] >= g.Sent(); i-- {
		if h := r.bySent[i]; h != g && h.From() >= g.Sent() && h.Token().Set && h.Token().V > g.Token().V {
			return true
		}
	}
	return false
}

// before is the last grant with a higher token that was known before g was sent for; nil: there is none.
func (r *rivals) before(g *history.Grant) *history.Grant {
	n := sort.Search(len(r.byOK), func(i int) bool { return r.byOK[i].From() >= g.Sent() })
	for _, h := range slices.Backward(r.byOK[:n]) {
		if h.Token().Set && h.Token().V > g.Token().V {
			return h
		}
	}
	return nil
}
