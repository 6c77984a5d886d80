package proof

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// registerLogs are what registers accepted, in order. Few grants are asked for, so that those of all others are listed only when
// one of them is.
type registerLogs struct {
	all      []*history.Event
	expected map[string][]*history.Event // by grant

	once    sync.Once
	byGrant map[string][]*history.Event
}

// expect lists those of the grants that findings are about.
func (l *registerLogs) expect(findings []Claimed) {
	l.expected = map[string][]*history.Event{}
	for i := range findings {
		for _, id := range findings[i].Grants {
			l.expected[id] = nil
		}
	}
	for _, e := range l.all {
		if of, expected := l.expected[e.Grant()]; expected {
			l.expected[e.Grant()] = append(of, e)
		}
	}
}

// of are those of a grant.
func (l *registerLogs) of(grant string) []*history.Event {
	if of, expected := l.expected[grant]; expected {
		return of
	}
	l.once.Do(func() {
		l.byGrant = map[string][]*history.Event{}
		for _, e := range l.all {
			l.byGrant[e.Grant()] = append(l.byGrant[e.Grant()], e)
		}
	})
	return l.byGrant[grant]
}

// mostNeighbours is how many grants of a lock are looked at beside those of a claim.
const mostNeighbours = 40

// about are the events of a record that have something to say about a claim, in order: all of its grants, their leases and
// their clients. Wide, it takes those of the grants around them as well.
func (r *Record) about(c Claim, wide bool) []history.Event {
	a := &gathering{r: r, claim: c}
	a.add(r.run)
	var of []*history.Grant
	for _, id := range c.Grants {
		if g := r.rec.ByID[id]; g != nil && !slices.Contains(of, g) {
			of = append(of, g)
		}
	}
	if wide && len(of) > 0 {
		of = r.around(of)
	}
	for _, g := range of {
		a.grant(g)
	}
	a.others()
	return a.events()
}

// around adds grants of the same lock that were asked for before those at hand, the latest first.
func (r *Record) around(of []*history.Grant) []*history.Grant {
	to := int64(0)
	for _, g := range of {
		to = max(to, g.Acquire.Start())
	}
	for _, g := range slices.Backward(r.rec.ByLock[of[0].Lock]) {
		if len(of) < mostNeighbours && g.Acquire != nil && g.Acquire.Start() <= to && !slices.Contains(of, g) {
			of = append(of, g)
		}
	}
	return of
}

// gathering collects events.
type gathering struct {
	r     *Record
	claim Claim
	taken []*history.Event // in any order, some twice
}

func (a *gathering) add(events ...*history.Event) {
	for _, e := range events {
		if e != nil {
			a.taken = append(a.taken, e)
		}
	}
}

func (a *gathering) calls(calls ...*history.Call) {
	for _, c := range calls {
		if c != nil {
			a.add(c.Invoke, c.Return)
		}
	}
}

// grant adds what was done under a grant, what happened to its lease, and what became of its client.
func (a *gathering) grant(g *history.Grant) {
	rec := a.r.rec
	a.calls(g.Acquire)
	a.calls(g.Renews...)
	a.calls(g.Releases...)
	a.calls(g.Uses...)
	a.add(g.Losses...)
	for i := range rec.Events {
		if e := &rec.Events[i]; g.Assured.Set && e.F() == history.FAsked && e.Grant() == g.ID {
			a.add(e)
		}
	}
	a.add(a.r.logs.of(g.ID)...)
	if l := g.Under; l != nil {
		a.add(l.Created)
		if g.InSession() {
			a.calls(l.Renews...)
		}
		a.add(l.Notices...)
	}
	if next := rec.Follower(g); next != nil {
		a.calls(next.Acquire)
	}
	a.add(a.r.kills[g.Client], a.r.last[g.Client], a.r.ends[g.Client])
	if rec.Run.Ends == history.EndsConnection || (a.claim.Reason == leaseOver && rec.Run.Discipline == history.Told) {
		for _, f := range rec.Faults {
			if f.Hurts(g.Client) && (f.Family != history.FamilyClient || a.claim.Reason == leaseOver) {
				a.add(f.Invoke, f.Effect, f.HealEnd)
			}
		}
	}
	if a.claim.Reason == leaseOver && rec.Run.Discipline == history.Told {
		a.excuses(g)
	}
}

// excuses adds what held a client up in the life of a grant.
func (a *gathering) excuses(g *history.Grant) {
	s := &scene{Record: a.r.rec}
	from, to := g.Sent(), max(a.claim.To, s.gaveUp(g))
	for i := range a.r.rec.Events {
		e := &a.r.rec.Events[i]
		if (e.F() == history.FStall || e.F() == history.FPoint) && e.Time >= from && e.Time <= to && s.excuses(e, g.Client) {
			a.add(e)
		}
	}
}

// others adds what a register accepted of others, where the claim is that it should not have accepted this one.
func (a *gathering) others() {
	if len(a.claim.Grants) != 1 {
		return
	}
	log := a.r.logs.of(a.claim.Grants[0])
	if g := a.r.rec.ByID[a.claim.Grants[0]]; len(log) == 0 && g != nil {
		a.forbidding(g)
		return
	}
	e := at(log, a.claim.To, history.FRead, history.FWrite)
	if e == nil {
		return
	}
	for _, o := range slices.Backward(a.r.rec.Registered) {
		if o.Index >= e.Index || o.Type() != history.OK || o.Register() != e.Register() || o.Lock() != e.Lock() {
			continue
		}
		wanted := map[string]bool{
			"log-mismatch": o.F() == history.FWrite, "stale-accepted": o.Token().V > e.Token().V,
			"equal-token": o.Token() == e.Token() && o.Grant() != e.Grant(),
		}
		if wanted[a.claim.Rule] {
			a.add(o)
			return
		}
	}
}

// forbidding adds a request after whose answer a fence without a log must not have accepted that of a grant.
func (a *gathering) forbidding(g *history.Grant) {
	s := &scene{Record: a.r.rec}
	all := s.showed(g.Lock)
	for _, u := range all {
		if u.Invoke.Grant() != g.ID || u.End() != a.claim.To {
			continue
		}
		if i := slices.IndexFunc(all, func(o *history.Call) bool { return s.forbids(o, u) == a.claim.Rule }); i >= 0 {
			a.calls(all[i], a.r.rec.ByID[all[i].Invoke.Grant()].Acquire)
			return
		}
	}
}

func (a *gathering) events() []history.Event {
	slices.SortFunc(a.taken, func(x, y *history.Event) int { return cmp.Compare(x.Index, y.Index) })
	a.taken = slices.Compact(a.taken)
	out := make([]history.Event, len(a.taken)) // an event is large: it is moved once
	for i, e := range a.taken {
		out[i] = *e
	}
	return out
}
