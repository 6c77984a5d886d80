package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// Blame says which causes of a finding are right.
type Blame struct {
	Right    []int // faults one of which must be named; none: no fault must
	Possible []int // faults that may be named
	Overrun  bool  // it may be the client's own doing, or unknown
	Stall    bool  // it may be the host
	Host     bool  // it may be the host, or we, although there is a fault that is right
	Release  bool  // it must be somebody's release
	Doubtful bool  // only the host can be it, so the finding must be doubtful
	Certain  bool  // the host cannot be it, so the finding must not be doubtful
}

// The kinds of causes, as in results.
const (
	causeFault   = "fault"
	causeStall   = "stall"
	causeHarness = "harness"
	causeRelease = "release"
)

// Accepts says what is wrong with a cause; empty: it is right.
func (b *Blame) Accepts(kind string, fault int, doubtful bool) string {
	switch {
	case b.Release && kind != causeRelease:
		return "not the release that led to the finding"
	case b.Doubtful && !doubtful:
		return "not doubtful, although only the host explains the finding"
	case b.Certain && doubtful:
		return "doubtful, although the host did not cause the finding"
	case kind == causeFault && slices.Contains(b.Right, fault), b.Host && (kind == causeStall || kind == causeHarness):
		return ""
	case len(b.Right) > 0 && kind != causeRelease:
		return "not the fault that explains the finding"
	case kind == causeFault && !slices.Contains(b.Possible, fault):
		return "a fault that cannot explain the finding"
	case kind == causeStall && !b.Stall:
		return "a host stall, but no host stall delayed the client"
	}
	return ""
}

// blameAny is who may be blamed where either of two clients may have been late.
func (o *oracle) blameAny(late []*sim.Grant, from int64) *Blame {
	if len(late) == 0 {
		return nil
	}
	b := o.blame(late[0], from, inherent)
	for _, g := range late[1:] {
		other := o.blame(g, from, inherent)
		b = &Blame{
			Possible: slices.Concat(b.Possible, other.Possible), Overrun: true,
			Stall: b.Stall || other.Stall, Certain: b.Certain && other.Certain,
		}
	}
	return b
}

// blame is who may be blamed for a client that still acted at a moment at which its lease had
// run out.
func (o *oracle) blame(late *sim.Grant, from int64, class string) *Blame {
	if late == nil {
		return nil
	}
	b := &Blame{Overrun: true}
	until := o.belief(late).lenient
	if class == defect {
		until = from
	}
	// A hiccup may be the cause, too, that began when the client had not been late for long.
	since := o.lastInTime(late, from)
	stalls := o.held(late.Client, 0, since, until, max(from, late.LeaseAt(from)+o.cfg.Tolerance))
	b.Stall = stalls > 0
	lateness, most := int64(0), 0
	for _, f := range o.truth.Faults {
		if (f.Invoked >= from && !o.goesOn(f, b.Possible)) || f.From >= sim.Forever || f.Healed < late.Sent || !hurts(f, late.Client) {
			continue
		}
		b.Possible = append(b.Possible, f.ID)
		if p := o.held(late.Client, f.ID, since, until, from); p > lateness {
			lateness, most = p, f.ID
		}
	}
	need := until - late.LeaseAt(from) + o.cfg.Tolerance
	if enough := lateness >= need+5*o.slack(); most != 0 && enough && class == inherent {
		b.Right, b.Overrun = o.close(late, most, min(lateness, 2*need), until, from), false
		b.Host = o.hostMatters(late, until, from)
	}
	if class == inherent {
		b.Doubtful = len(b.Possible) == 0 && stalls >= need+o.slack()
		b.Certain = stalls == 0
	}
	o.tooShort(b, late, until, from)
	return b
}

// goesOn reports whether a fault went on with what one of some others began, with hardly a gap.
func (o *oracle) goesOn(f *sim.Fault, others []int) bool {
	return slices.ContainsFunc(o.truth.Faults, func(p *sim.Fault) bool {
		return slices.Contains(others, p.ID) && p.Family == history.FamilyClient && p.Invoked < f.Invoked &&
			f.Invoked <= p.Healed+2*o.cfg.Tolerance+o.slack()
	})
}

// lastInTime is when the record last shows that a client was in time for the lease that had run out at a moment: by the renewal
// on which its deadline rests or, of who looks at his lease, by the answer to what it did before that.
func (o *oracle) lastInTime(g *sim.Grant, at int64) int64 {
	last, due := g.Sent, g.LeaseAt(at)
	if due < sim.Forever {
		last = max(last, due-o.cfg.TTL+o.cfg.Drift)
	}
	if o.cfg.Discipline == history.Trusting {
		return last
	}
	for _, uses := range g.Used {
		for _, u := range uses {
			if u.Acked && u.Returned < due {
				last = max(last, u.Returned)
			}
		}
	}
	return last
}

// slack is by how much a fault's span on record may differ from what it did.
func (o *oracle) slack() int64 { return 1_000_000 }

// close are the faults that held a client up for about as long as the one that did so most, and
// those like it at the same time: longer than twice what was needed is long enough.
func (o *oracle) close(g *sim.Grant, most int, lateness, until, from int64) []int {
	out := append(o.likes(most), o.faults(func(f *sim.Fault) bool {
		return f.ID != most && f.Invoked < from && o.held(g.Client, f.ID, g.Sent, until, from) >= lateness-3*o.slack()
	})...)
	for _, h := range g.Late {
		// When a request arrived that a delay held back, its client does not know until it is answered; nor whether
		// it was the delay.
		for _, f := range o.truth.Faults {
			at := f.Delays && hurts(f, g.Client) && f.Invoked < h.Waited && f.Healed > h.From
			if at && !slices.Contains(out, f.ID) && min(h.Waited, until)-max(h.From, g.Sent) >= lateness/2 {
				out = append(out, f.ID)
			}
		}
	}
	return out
}

// tooShort takes out the pauses that were by far too short to make the client late, and were over at that moment.
func (o *oracle) tooShort(b *Blame, g *sim.Grant, until, from int64) {
	var sum int64
	for _, id := range b.Possible {
		sum += o.held(g.Client, id, g.Sent, until, from)
	}
	sum += int64(len(b.Possible)) * o.slack() // their spans on record are somewhat longer
	if sum+2*o.cfg.Tolerance >= until-from {
		return
	}
	b.Possible = slices.DeleteFunc(b.Possible, func(id int) bool {
		f := o.fault(id)
		stands := slices.ContainsFunc(o.truth.Held, func(h sim.HeldUp) bool {
			return h.Client == g.Client && h.Fault == id && h.From <= from && h.To > from
		})
		return f.Family == history.FamilyClient && f.Name != sim.Kill && !stands
	})
}

// hostMatters reports whether the host held a client up for so long, when no fault did so any more,
// that it would have been in time without that: within the tolerance, as far as one can say.
func (o *oracle) hostMatters(late *sim.Grant, until, from int64) bool {
	var alone int64
	for _, h := range o.truth.Held {
		if h.Client == late.Client && h.Fault == 0 {
			alone += o.aloneIn(h, late.Sent, until)
		}
	}
	return alone > 0 && alone >= until-late.LeaseAt(from)-o.cfg.Tolerance
}

// aloneIn is how much of a hiccup lies between two moments and after all faults that held its client
// up meanwhile.
func (o *oracle) aloneIn(hiccup sim.HeldUp, from, to int64) int64 {
	from, to = max(from, hiccup.From), min(to, hiccup.To)
	for _, h := range o.truth.Held {
		if h.Client == hiccup.Client && h.Fault != 0 && h.From < to {
			from = max(from, h.To)
		}
	}
	return max(0, to-from)
}

// hurts reports whether a fault can hurt a client: its own, or all of a server's.
func hurts(f *sim.Fault, client string) bool {
	return len(f.Clients) == 0 || slices.Contains(f.Clients, client)
}

// held is for how long a fault, or with 0 the host since before a third moment, held a client up
// between two moments: it stood still, or waited for an answer of the resource.
func (o *oracle) held(client string, fault int, from, to, before int64) int64 {
	var sum int64
	for _, h := range o.truth.Held {
		if h.Client == client && h.Fault == fault && (fault != 0 || h.From < before) {
			sum += max(0, min(h.To, to)-max(h.From, from))
		}
	}
	for _, g := range o.truth.Grants {
		for _, h := range g.Late {
			if fault != 0 && h.Client == client && h.Fault == fault {
				sum += max(0, min(h.To, h.Waited, to)-max(h.From, from))
			}
		}
	}
	return sum
}

// blameOfBreach is who may be blamed for an overlap of two grants that were both valid: what
// made the service forget, or nobody.
func (o *oracle) blameOfBreach(a, b *sim.Grant, from int64) *Blame {
	if o.cfg.Steps && (o.stepped(a) || o.stepped(b)) {
		return nil // its lease may have run out by the store's clock
	}
	out := &Blame{Overrun: true, Certain: true, Possible: o.mayBreak(a, b, from)}
	for _, br := range o.truth.Breaches {
		switch {
		case br.Victim == a && br.Kind == sim.ForeignRelease && a.Mode != history.ModeShared && o.provenForeign(br.Grant, a):
			out.Release = true
		case o.cfg.Bug == sim.TakesOver && br.Victim == a && br.Grant == b:
			out.Right = o.stopped(out.Possible, b.Client) // of which death it comes, others may have had the lock since
		case br.Victim == a && br.Fault != 0:
			out.Right = o.alike(br.Fault, o.shown(a))
		}
	}
	return out
}

// mayBreak are the faults by which a service may have broken its word about two grants: what hurt it, or those who took a lock
// over.
func (o *oracle) mayBreak(a, b *sim.Grant, from int64) []int {
	return o.faults(func(f *sim.Fault) bool {
		if f.Family == history.FamilyClient {
			return o.tookOver(f, a, b)
		}
		return f.Invoked < from && !f.Delays && f.Healed >= min(a.Sent, b.Sent) && hurts(f, a.Client)
	})
}

// faults are the ids of those of a kind.
func (o *oracle) faults(of func(f *sim.Fault) bool) []int {
	return lists.Map(lists.Filter(o.truth.Faults, of), func(f *sim.Fault) int { return f.ID })
}

func (o *oracle) fault(id int) *sim.Fault {
	return o.truth.Faults[slices.IndexFunc(o.truth.Faults, func(f *sim.Fault) bool { return f.ID == id })]
}

// stopped are those of some faults that hold a client up; none: all of them kill, or are of others.
func (o *oracle) stopped(ids []int, client string) []int {
	return o.faults(func(f *sim.Fault) bool {
		return slices.Contains(ids, f.ID) && f.Family == history.FamilyClient && f.Name != sim.Kill && hurts(f, client)
	})
}

// stepped reports whether the wall clock moved in the life of the lease of a grant, as far as one can say.
func (o *oracle) stepped(g *sim.Grant) bool {
	over := max(g.LeaseAt(sim.Forever), g.Unsure) + o.cfg.Drift + o.cfg.Tolerance + o.slack()
	at := o.cfg.Work / 2
	return at+2*o.slack() > g.Sent && at <= over
}

// tookOver reports whether a fault may have led to two grants at once where a stale lock is taken over: it held one of the
// clients up while it asked, or killed somebody before.
func (o *oracle) tookOver(f *sim.Fault, a, b *sim.Grant) bool {
	for _, g := range []*sim.Grant{a, b} {
		if f.Invoked < g.Known && f.Healed > g.Asked && hurts(f, g.Client) {
			return true
		}
	}
	return f.Name == sim.Kill && f.Invoked < max(a.Known, b.Known)
}

// shown is when the record shows that a grant is over although its client was not told: somebody
// else has asked for the lock since, and got it.
func (o *oracle) shown(a *sim.Grant) int64 {
	at := sim.Forever
	for _, g := range o.truth.Grants {
		if g.Lock == a.Lock && g.Known >= 0 && g.Sent > a.Known && !o.together(a, g) {
			at = min(at, g.Known)
		}
	}
	return at
}

// alike are the faults of a name that were invoked before a moment: which of them did it cannot be
// told.
func (o *oracle) alike(id int, before int64) []int {
	name := o.fault(id).Name
	return append([]int{id}, o.faults(func(f *sim.Fault) bool { return f.ID != id && f.Name == name && f.Invoked < before })...)
}

// blameOfWrite is who may be blamed for writes one of which was applied after its hold.
func (o *oracle) blameOfWrite(writes []*sim.Write) *Blame {
	b := &Blame{Overrun: true}
	for _, w := range writes {
		g := w.Grant
		if w.At < o.belief(g).strict {
			continue
		}
		for _, h := range g.Late {
			if h.Fault != 0 && h.To >= w.At-o.slack() && h.From <= w.Use.Invoked+o.slack() && len(b.Right) == 0 {
				b.Right = o.likes(h.Fault)
			}
		}
		b.Possible = append(b.Possible, o.faults(func(f *sim.Fault) bool {
			return f.Invoked < w.At && f.From < sim.Forever && f.Healed >= g.Sent && hurts(f, g.Client)
		})...)
		b.Stall = b.Stall || o.held(g.Client, 0, g.Sent, w.At, w.At) > 0
	}
	if len(writes) > 2 {
		b.Right = nil // which of them came late is not asked
	}
	return b
}

// likes are the faults of the same name that were at work at the same time as one: which of
// them did it cannot be told.
func (o *oracle) likes(id int) []int {
	one := o.fault(id)
	return o.faults(func(f *sim.Fault) bool {
		return f.Name == one.Name && f.Invoked <= one.Healed && one.Invoked <= f.Healed
	})
}
