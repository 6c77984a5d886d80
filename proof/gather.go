package proof

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// registerLogs are what registers accepted, in order, linked by grant: few are asked for, so that no list is made of each.
type registerLogs struct {
	events []*history.Event
	next   []int32          // by place in events: the next one of the same grant, or 0
	first  map[string]int32 // by grant: the place, plus one
	last   map[string]int32
}

func (l *registerLogs) add(e *history.Event) {
	l.events, l.next = append(l.events, e), append(l.next, 0)
	at := int32(len(l.events))
	if before := l.last[e.Grant]; before > 0 {
		l.next[before-1] = at
	} else {
		l.first[e.Grant] = at
	}
	l.last[e.Grant] = at
}

// of are those of a grant.
func (l *registerLogs) of(grant string) (out []*history.Event) {
	for at := l.first[grant]; at > 0; at = l.next[at-1] {
		out = append(out, l.events[at-1])
	}
	return out
}

// mostNeighbours is how many grants of a lock are looked at beside those of a claim.
const mostNeighbours = 40

// about are the events of a record that have something to say about a claim, in order: all of its grants, their leases and
// their clients. Wide, it takes those of the grants around them as well.
func (r *Record) about(c Claim, wide bool) []history.Event {
	a := &gathering{r: r, claim: c, taken: map[*history.Event]bool{}}
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
	taken map[*history.Event]bool
}

func (a *gathering) add(events ...*history.Event) {
	for _, e := range events {
		if e != nil {
			a.taken[e] = true
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
		if (e.F == history.FStall || e.F == history.FPoint) && e.Time >= from && e.Time <= to && s.excuses(e, g.Client) {
			a.add(e)
		}
	}
}

// others adds what a register accepted of others, where the claim is that it should not have accepted this one.
func (a *gathering) others() {
	if len(a.claim.Grants) == 0 || (a.claim.Rule != "log-mismatch" && a.claim.Rule != "stale-accepted" && a.claim.Rule != "equal-token") {
		return
	}
	e := at(a.r.logs.of(a.claim.Grants[0]), a.claim.To, history.FRead, history.FWrite)
	if e == nil {
		return
	}
	events := a.r.rec.Events
	for i := range slices.Backward(events) {
		o := &events[i]
		if o.Index >= e.Index || o.Party != history.PartyRegister || o.Type != history.OK || o.Register != e.Register || o.Lock != e.Lock {
			continue
		}
		wanted := map[string]bool{"log-mismatch": o.F == history.FWrite, "stale-accepted": o.Token.V > e.Token.V, "equal-token": o.Token == e.Token && o.Grant != e.Grant}
		if wanted[a.claim.Rule] {
			a.add(o)
			return
		}
	}
}

func (a *gathering) events() []history.Event {
	taken := make([]*history.Event, 0, len(a.taken)) // an event is large: it is moved once
	for e := range a.taken {
		taken = append(taken, e)
	}
	slices.SortFunc(taken, func(x, y *history.Event) int { return cmp.Compare(x.Index, y.Index) })
	out := make([]history.Event, len(taken))
	for i, e := range taken {
		out[i] = *e
	}
	return out
}
