package facts

import (
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// Stall is a hiccup of the host that no fault of ours explains.
type Stall struct {
	Party string
	history.Interval
	Late int64 // of the whole stall, in ns; the interval leaves out the parts that a fault explains
}

// unplannedStalls decodes the stalls on record. Of those of a client it leaves out the parts in which a fault of ours
// held it up.
func (in *Facts) unplannedStalls() []Stall {
	var out []Stall
	for _, e := range in.Stalls {
		var s history.Stall
		if e.Value().Into(&s) != nil || s.Late <= 0 {
			continue
		}
		gap := history.Interval{From: e.Time - s.Late, To: e.Time}
		for _, part := range in.without(gap, func(f *history.Injection) bool {
			return f.Family == history.FamilyClient && slices.Contains(f.Clients, e.Party())
		}) {
			if part == gap || part.To-part.From > in.Run.Tolerance { // a signal takes a moment to arrive
				out = append(out, Stall{e.Party(), part, s.Late})
			}
		}
	}
	slices.SortFunc(out, func(a, b Stall) int { return ByFrom(a.Interval, b.Interval) })
	return out
}

// stallPieces is into how many pieces of one length a stall may be cut by what its client recorded: of shorter
// pieces none excuses it. Had the host held it up in each of them, its own ticker would have been late for each.
const stallPieces = 4

// StallsOf returns the pieces of stalls that excuse a client, in order. They come from stalls of its own process, and
// of the controller's, which count for every client. A piece counts only if it is longer than the tolerance, not too
// short for its stall (stallPieces), and without an event of the client: a client that records is not held up. A stall of
// the controller holds up whoever waits for an answer, however short a piece of it that is: links and registers are there.
func (in *Facts) StallsOf(client string) []history.Interval {
	in.mu.Lock()
	defer in.mu.Unlock()
	if out, known := in.excuses[client]; known {
		return out
	}
	acts := in.actsOf()[client]
	var out []history.Interval
	for _, s := range in.Unplanned {
		if s.Party != client && history.ClientOf(s.Party) != "" {
			continue
		}
		from := s.From
		for i := sort.Search(len(acts), func(i int) bool { return acts[i] > s.From }); from < s.To; i++ {
			to := s.To
			if i < len(acts) {
				to = min(to, acts[i])
			}
			piece := history.Interval{From: from, To: to}
			if to-from > in.Run.Tolerance &&
				(stallPieces*(to-from) >= s.Late || (s.Party != client && in.waited(client, piece))) {
				out = append(out, piece)
			}
			from = to
		}
	}
	slices.SortFunc(out, ByFrom)
	in.excuses[client] = out
	return out
}

// waited reports whether an answer was due to a client all through a time.
func (in *Facts) waited(client string, span history.Interval) bool {
	asks := in.AsksOf(client)
	next := sort.Search(len(asks), func(i int) bool { return asks[i].From > span.From })
	return next > 0 && asks[next-1].To >= span.To
}

// actsOf are the times at which clients recorded something of their own, in order.
func (in *Facts) actsOf() map[string][]int64 {
	if in.acts == nil {
		in.acts = map[string][]int64{}
		for i := range in.Events {
			if e := &in.Events[i]; e.F() != history.FStall && history.ClientOf(e.Party()) != "" {
				in.acts[e.Party()] = append(in.acts[e.Party()], e.Time)
			}
		}
		for _, times := range in.acts {
			slices.Sort(times)
		}
	}
	return in.acts
}

// LongStalls returns the stalls of any party that are longer than a tenth of the ttl: they hold a whole run up.
func (in *Facts) LongStalls() []history.Interval {
	var out []history.Interval
	for _, s := range in.Unplanned {
		if s.To-s.From > in.Run.TTL/10 {
			out = append(out, s.Interval)
		}
	}
	return out
}

// busyShare is the share of a time in which something waited for the host, from which on the host was busy.
const busyShare = 0.9

// Load is the share of a time in which something waited for a processor or a disk.
type Load struct {
	history.Interval
	Share float64
	// the share in which a thread of a server waited for a processor, or anything for a disk; else that of the whole host
	Servers float64
}

// Loads returns the loads that the kernel counted, mostly by second.
func (in *Facts) Loads() []Load { return in.lazy.loads() }

func (in *Facts) findLoads() (out []Load) {
	for _, e := range in.Pressure {
		var p history.Pressure
		if e.Value().Into(&p) == nil && p.Span > 0 {
			span, of := float64(p.Span), max(p.CPU, p.IO)
			servers := of
			if p.Servers != nil {
				servers = max(*p.Servers, p.IO)
			}
			out = append(out, Load{history.Interval{From: e.Time - p.Span, To: e.Time}, float64(of) / span, float64(servers) / span})
		}
	}
	return out
}

// Busy returns the times in which something nearly always waited for a processor or a disk, and a thread of a server for a share
// at least. A process that did not answer then may not have had its turn, even if no ticker of ours was late.
func (in *Facts) Busy(servers float64) (out []history.Interval) {
	for _, l := range in.Loads() {
		if l.Share >= busyShare && l.Servers >= servers {
			out = append(out, l.Interval)
		}
	}
	slices.SortFunc(out, ByFrom)
	return out
}
