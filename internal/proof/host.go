package proof

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// What held clients up, as the whole record has it: the host, we ourselves at a point, a fault. Found with code of its own, since
// classes turn on it.

// covered is how much of a span some intervals cover together.
func covered(span history.Interval, lists ...[]history.Interval) int64 {
	all := span.Meeting(lists...)
	slices.SortFunc(all, func(a, b history.Interval) int { return cmp.Compare(a.From, b.From) })
	return span.Covered(all)
}

// without returns the parts of a span that no other span covers.
func without(span history.Interval, others []history.Interval) []history.Interval {
	left := []history.Interval{span}
	for _, o := range others {
		var next []history.Interval
		for _, l := range left {
			for _, part := range []history.Interval{{From: l.From, To: min(l.To, o.From)}, {From: max(l.From, o.To), To: l.To}} {
				if !part.Empty() {
					next = append(next, part)
				}
			}
		}
		left = next
	}
	return left
}

// faultsOn are the times for which faults of a kind that took effect were at work.
func (s *scene) faultsOn(kind func(f *history.Injection) bool) (out []history.Interval) {
	for _, f := range s.Faults {
		if f.Effective() && kind(f) {
			out = append(out, f.Span())
		}
	}
	return out
}

// standstill is a part of a stall that no fault explains, and how late the whole stall was.
type standstill struct {
	history.Interval
	party string
	late  int64
}

// standstills are the stalls of a party, or of all where it is empty, without the part that a fault of its own explains.
func (s *scene) standstills(of func(party string) bool) (out []standstill) {
	for _, e := range s.Stalls {
		var stall history.Stall
		if !of(e.Party()) || e.Value().Into(&stall) != nil {
			continue
		}
		ours := s.faultsOn(func(f *history.Injection) bool {
			return f.Family == history.FamilyClient && slices.Contains(f.Clients, e.Party())
		})
		gap := history.Interval{From: e.Time - stall.Late, To: e.Time}
		for _, part := range without(gap, ours) {
			if part == gap || part.To-part.From > s.Run.Tolerance { // a signal takes a moment to arrive
				out = append(out, standstill{part, e.Party(), stall.Late})
			}
		}
	}
	return out
}

// pieces is into how many parts of one length a stall may be cut by what its client recorded: shorter parts excuse nothing.
const pieces = 4

// stalled are the times for which the host held a client up: its own stalls and those of the parties that are no clients, in so
// far as it recorded nothing in them for longer than the tolerance. What a stall of another party is made of counts however short
// it is, if the client waited for an answer.
func (s *scene) stalled(client string) (out []history.Interval) {
	stalls := s.standstills(func(party string) bool { return party == client || history.ClientOf(party) == "" })
	if len(stalls) == 0 {
		return nil
	}
	var acts []int64
	for i := range s.Events {
		if e := &s.Events[i]; e.Party() == client && e.F() != history.FStall {
			acts = append(acts, e.Time)
		}
	}
	slices.Sort(acts)
	asks := s.asksOf(client)
	for _, stall := range stalls {
		i, _ := slices.BinarySearch(acts, stall.From+1)
		for from := stall.From; from < stall.To; i++ {
			to := stall.To
			if i < len(acts) {
				to = min(to, acts[i])
			}
			part := history.Interval{From: from, To: to}
			if to-from > s.Run.Tolerance &&
				(pieces*(to-from) >= stall.late || (stall.party != client && covered(part, asks) == to-from)) {
				out = append(out, part)
			}
			from = to
		}
	}
	return out
}

// asksOf are the times for which a client waited for answers.
func (s *scene) asksOf(client string) (out []history.Interval) {
	for _, c := range s.Calls {
		if c.Invoke.Client() == client {
			out = append(out, history.Interval{From: c.Invoke.Time, To: s.gaveUpOn(c)})
		}
	}
	return out
}

// stood are the times for which we kept a client at a point, without those of the faults that made it late.
func (s *scene) stood(client string) (out []history.Interval) {
	since := int64(unset)
	faults := s.faultsOn(func(f *history.Injection) bool { return f.Late(client) })
	for i := range s.Events {
		switch e := &s.Events[i]; {
		case e.F() != history.FPoint || e.Party() != client:
		case e.Type() == history.Invoke:
			since = e.Time
		case since != unset:
			out = append(out, without(history.Interval{From: since, To: e.Time}, faults)...)
			since = unset
		}
	}
	if since != unset {
		out = append(out, without(history.Interval{From: since, To: s.Last[client]}, faults)...)
	}
	return out
}

// busyShare is the share of a time in which something waited for the host, from which on the host was busy.
const busyShare = 0.9

// busy are the times in which something waited for a processor or a disk nearly all the time.
func (s *scene) busy() (out []history.Interval) {
	for _, l := range s.loads() {
		if l.share >= busyShare {
			out = append(out, l.Interval)
		}
	}
	return out
}

// load is the share of a time in which something waited for a processor or a disk.
type load struct {
	history.Interval
	share float64
}

func (s *scene) loads() (out []load) {
	for _, e := range s.Pressure {
		var p history.Pressure
		if e.Value().Into(&p) == nil && p.Span > 0 {
			out = append(out, load{
				history.Interval{From: e.Time - p.Span, To: e.Time},
				float64(max(p.CPU, p.IO)) / float64(p.Span),
			})
		}
	}
	return out
}

// heldUp reports whether faults held the client of a grant up for as long as it was late: without them it would have acted
// before a violation began. What was over before the last thing that it is known to have done in time explains nothing.
func (s *scene) heldUp(g *history.Grant, begun int64) bool {
	late := history.Interval{From: s.lastActed(g, begun), To: s.belief(g).To}
	return s.heldBy(g.Client, late, begun, false) || s.heldBy(g.Client, late, begun, true)
}

// lastActed is the renewal on which the deadline in force at a moment rests, or the last use that was answered before it; the
// request for the grant, where there is none.
func (s *scene) lastActed(g *history.Grant, by int64) int64 {
	last := g.Sent()
	if rn := g.RenewedBy(by); rn != nil {
		last = max(last, rn.Start())
	}
	for _, use := range g.Uses {
		if use.Outcome() == history.OK && use.End() < g.DeadlineAt(by).V {
			last = max(last, use.End())
		}
	}
	return last
}

// heldBy adds up what faults held up. One of links does it while its client waited for an answer of the resource; unseen: or
// all the time, if it waited for none, and there is such a fault. One that struck when the violation had begun counts if the
// client was held up ever since; it is no reason by itself unless faults of the client were what held it up till then.
func (s *scene) heldBy(client string, late history.Interval, begun int64, unseen bool) bool {
	var held, stops []history.Interval
	found, slack := false, 2*s.Run.Tolerance
	since := func(at int64, by []history.Interval) bool {
		free := at - begun - covered(history.Interval{From: begun, To: at}, by)
		return at < begun || (covered(history.Interval{From: begun, To: begun + 1}, by) > 0 && free <= slack)
	}
	for _, f := range s.Faults {
		part := late.Overlap(f.Span())
		if !f.Effective() || !f.Late(client) || part.Empty() || !since(f.Began(), held) {
			continue
		}
		parts := []history.Interval{part}
		if f.Family != history.FamilyClient {
			parts = s.waited(client, f.Began(), part)
		}
		guess := len(parts) == 0 && unseen
		if guess {
			parts = []history.Interval{part}
		}
		found = found || (guess == unseen && since(f.Began(), stops))
		held = append(held, parts...)
		if f.Family == history.FamilyClient {
			stops = append(stops, part)
		}
	}
	return found && covered(late, held)+slack >= late.To-begun
}

// waited are the times within a span for which a client waited for answers of the resource that it asked for from a moment on.
func (s *scene) waited(client string, since int64, span history.Interval) (out []history.Interval) {
	for _, g := range s.Grants {
		for _, u := range g.Uses {
			wait := history.Interval{From: u.Start(), To: s.gaveUpOn(u) + 1}.Overlap(span)
			if g.Client == client && u.Start() >= since && !wait.Empty() {
				out = append(out, wait)
			}
		}
	}
	return out
}

// gaveUpOn is when a client stopped waiting for an answer: it came, or the client died, or its log ends.
func (s *scene) gaveUpOn(c *history.Call) int64 {
	if c.Return != nil {
		return c.Return.Time
	}
	if kill, killed := s.Kills[c.Invoke.Client()]; killed {
		return kill
	}
	return s.Last[c.Invoke.Client()]
}

// hostLate reports whether the host, or we, account for nearly all of what a library was late with its signal.
func (s *scene) hostLate(g *history.Grant, late int64) bool {
	end := s.toldBy(g)
	span := history.Interval{From: g.DeadlineAt(end).V - s.Run.TTL, To: end} // from the last confirmed renewal on
	host, enough := covered(span, s.stood(g.Client), s.stalled(g.Client)), late-max(2*s.Run.Tolerance, late/10)
	var stops []history.Interval // by faults: together with the host's they may be enough
	for _, f := range s.Faults {
		if f.Effective() && f.Family == history.FamilyClient && f.Late(g.Client) && f.Began() < end {
			stops = append(stops, f.Span())
		}
	}
	return host >= enough || (host > 0 && covered(span, s.stood(g.Client), s.stalled(g.Client), stops) >= enough)
}

// disconnected is the earliest moment at which the connection that holds a grant may have ended: its client was killed, or a
// fault struck its own links to the store or the server that keeps the grant. Where its client noticed the end before that, it
// is not explained.
func (s *scene) disconnected(g *history.Grant) (from int64, explained bool) {
	from = history.Forever
	kill, killed := s.Kills[g.Client]
	if killed {
		from = max(kill, g.Sent())
	}
	for _, f := range s.Faults {
		if span := f.Span(); s.ends(f, g) && span.To > g.Sent() {
			from = min(from, max(span.From, g.Sent()))
		}
	}
	noticed := g.ToldLost()
	for _, rel := range g.Releases {
		if rel.Outcome() == history.Info && (rel.Return != nil || !killed) {
			noticed = min(noticed, rel.Unanswered())
		}
	}
	if noticed < from {
		return g.Sent(), false
	}
	return from, true
}

// ends reports whether a fault can end the connection that holds a grant: not one of clients, of clocks or of data, nor one of
// the links to the resource or to other servers.
func (s *scene) ends(f *history.Injection, g *history.Grant) bool {
	switch {
	case f.Family == history.FamilyClient || f.Family == history.FamilyClock || f.Delays || !f.Hurts(g.Client):
		return false
	case f.Effect != nil && f.Effect.Type() == history.Fail:
		return false
	case f.Family == history.FamilyStore && len(f.Clients) == 0: // what lies in the store, not who is connected to it
		return false
	}
	return len(f.Nodes) == 0 || !g.Granted() || len(g.Acquire.Return.Nodes()) == 0 ||
		slices.ContainsFunc(f.Nodes, func(n string) bool { return slices.Contains(g.Acquire.Return.Nodes(), n) })
}

// freed is from when on the store may have freed a grant because its holder died or its connection ended, or, where the
// holder's log is cut off, because it released it after that.
func (s *scene) freed(g *history.Grant) int64 {
	kill, killed := s.Kills[g.Client]
	switch {
	case s.CutOff(g.Client):
		return s.Last[g.Client]
	case s.Run.Ends == history.EndsConnection:
		from, _ := s.disconnected(g)
		return from
	case s.Run.Ends != history.EndsProcess:
		return history.Forever
	case killed:
		return kill
	}
	return s.Last[g.Client]
}
