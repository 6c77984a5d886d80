package causes

import (
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Lateness is an act that came too late under a grant. What held the client up lies between from and until, the time
// of the act.
//
//	from |-------------- due |------ begun |--------| until
//	                     lease over   violation begins
type Lateness struct {
	Grant       *history.Grant
	From, Until int64
	Begun       int64       // when it became a violation
	Due         history.Opt // when the act was due; unset: not known
	OnItsWay    bool        // a request was late: it was on its way all the time
}

// LateCause finds why a client acted after its lease had run out. It returns the first of these: lockstorm itself, if
// it kept the client at a point for so long that no fault is needed; a fault that holds the client or its requests up
// for long enough; a stall of the host, with our own share, as long as the client was late; what kept it from
// renewing or from being told; and for a request, a host that was busy for most of the time that the request took,
// and for as long as it was late.
func (in Causes) LateCause(l Lateness) checker.Cause {
	client, span := l.Grant.Client, history.Interval{From: l.From, To: l.Until}
	stood := in.HeldUp(span, in.Stands()[client])
	behind := l.Until - l.Due.V - in.Run.Tolerance
	if l.Due.Set && stood > 0 && stood >= max(behind, in.Run.Tolerance) { // shorter stays explain nothing, as shorter stalls
		return checker.Cause{Kind: checker.CauseHarness, Text: fmt.Sprintf("lockstorm itself delayed %s for %s: the client had to "+
			"wait for lockstorm at a point (a step at which a fault can act)", client, checker.Millis(stood))}
	}
	if f := in.heldBy(l); f != nil {
		return FaultCause(f)
	}
	stalls := slices.DeleteFunc(slices.Clone(in.StallsOf(client)), func(s history.Interval) bool { // it was late already
		return s.From > max(l.Begun, l.Due.V+in.Run.Tolerance)
	})
	held := in.HeldUp(span, in.Stands()[client], stalls)
	all := in.HeldUp(span, in.Stands()[client], stalls, in.Stops(client, l.Begun)) // with faults that are not enough
	// Faults alone are less than that, or one of them was found.
	if l.Due.Set && held > 0 && all >= behind && 2*held >= all {
		return checker.Cause{Kind: checker.CauseStall, Text: fmt.Sprintf("an unplanned host stall delayed %s for %s", client,
			checker.Millis(held))}
	}
	indirect := func(f *history.Injection) bool { return f.Hurts(client) && !f.Late(client) }
	if f := in.faultOn(l.Grant, l.Until, l.Begun, indirect); f != nil {
		return FaultCause(f)
	}
	if l.OnItsWay {
		if waited := in.waited(span); waited >= behind && waited > (span.To-span.From)/2 {
			return checker.Cause{Kind: checker.CauseStall, Text: fmt.Sprintf("the host was busy while a request of %s was on its way: "+
				"the request took %s, and tasks waited for a processor or a disk during %s of this time", client,
				checker.Millis(span.To-span.From), checker.Millis(waited))}
		}
		return delayed(overrun(l.Grant, l.Until), l.From, l.Due)
	}
	return overrun(l.Grant, l.Until)
}

// InTime returns the last time at which the record shows that the client of a grant was in time for the deadline in
// force at at: its request for the lock, the renewal behind that deadline, or an answer to something it did before
// the deadline. What held it up earlier explains no lateness. A client that never looks at its lease is late by
// everything that held up its section: for it, only the renewal counts.
func (in Causes) InTime(g *history.Grant, at int64) int64 {
	last, due := g.Sent(), g.DeadlineAt(at)
	if rn := g.RenewedBy(at); rn != nil {
		last = max(last, rn.Start())
	}
	if in.Run.Discipline == history.Trusting {
		return last
	}
	for _, u := range g.Uses {
		if u.Outcome() == history.OK && u.End() < due.V {
			last = max(last, u.End())
		}
	}
	return last
}

// waited is for how long, within a span, something waited for a processor or a disk, if that was spread evenly over each time
// that was counted.
func (in Causes) waited(span history.Interval) (sum int64) {
	for _, l := range in.Loads() {
		if part := span.Overlap(l.Interval); !part.Empty() {
			sum += int64(float64(part.To-part.From) * l.Share)
		}
	}
	return sum
}

// delayed tells a request that was sent in time, and took effect late, from a client that worked too long.
func delayed(c checker.Cause, sent int64, due history.Opt) checker.Cause {
	if c.Kind == checker.CauseOverrun && due.Set && sent < due.V {
		c.Text = "late request: the client sent the request during its lease, but the request took effect after the lease had ended; " +
			"no fault in the record explains the delay"
	}
	return c
}

// heldBy is the fault that held a client up longest, where all of them together did so for
// long enough: without them it would have acted before the violation began. Where that is not
// so, but a client waited for no answer that a fault may have held back, nobody knows what it
// waited for: then such a fault may have held it up all the time. A client that is stopped while its request takes effect had
// sent it before: where other faults are enough, that stop is not what held the request up.
func (in Causes) heldBy(l Lateness) *history.Injection {
	sentBefore := func(f *history.Injection) bool {
		return l.OnItsWay && f.Family == history.FamilyClient && f.Until() > l.Until
	}
	if f, enough := in.longestHeld(l, false, sentBefore); enough {
		return f
	}
	none := func(*history.Injection) bool { return false }
	if f, enough := in.longestHeld(l, false, none); enough {
		return f
	}
	f, enough := in.longestHeld(l, true, none)
	if !enough {
		return nil
	}
	return f
}

// longestHeld is the fault that held a client up longest, but for those that are left out, and whether all together did so for
// long enough; unseen: with those of which nobody knows what they held back, and it is one of these. A fault that struck
// when the violation had begun counts if the client has been held since, by those before it; it is the one that is found only if
// these stopped the client itself: of two pauses the later one goes on, but a pause under a delayed request does not.
func (in Causes) longestHeld(l Lateness, unseen bool, but func(*history.Injection) bool) (found *history.Injection, enough bool) {
	span := history.Interval{From: l.From, To: l.Until}
	var spans, stops []history.Interval // of all; of those that stopped the client itself
	var most int64
	for _, f := range in.Faults { // in the order in which they struck
		after := f.Began() >= l.Begun
		if but(f) || !f.Effective() || !f.Late(l.Grant.Client) || (after && !in.heldSince(l.Begun, f.Began(), spans)) {
			continue
		}
		whole := span.Overlap(f.Span())
		if whole.Empty() {
			continue
		}
		parts := in.heldParts(l, f, whole)
		guess := len(parts) == 0 && unseen
		if guess {
			parts = append(parts, whole)
		}
		began := !after || in.heldSince(l.Begun, f.Began(), stops)
		if held := in.HeldUp(span, parts); held > most && guess == unseen && began {
			found, most = f, held
		}
		spans = append(spans, parts...)
		slices.SortFunc(spans, facts.ByFrom)
		if f.Family == history.FamilyClient {
			stops = append(stops, whole)
			slices.SortFunc(stops, facts.ByFrom)
		}
	}
	return found, found != nil && in.HeldUp(span, spans)+2*in.Run.Tolerance >= l.Until-l.Begun
}

// heldSince reports whether a client was held up without a break from one time to another, apart from negligible gaps.
func (in Causes) heldSince(from, to int64, spans []history.Interval) bool {
	free := to - from - in.HeldUp(history.Interval{From: from, To: to}, spans)
	return free <= 2*in.Run.Tolerance && in.HeldUp(history.Interval{From: from, To: from + 1}, spans) > 0
}

// heldParts are the parts of a span in which a fault held up what was done too late: the client
// itself, all the time, or, where it holds back what the client asks of the resource, while an
// answer was waited for that was asked for meanwhile.
func (in Causes) heldParts(l Lateness, f *history.Injection, whole history.Interval) (out []history.Interval) {
	if f.Family == history.FamilyClient || l.OnItsWay {
		return append(out, whole)
	}
	waits := in.WaitsOf(l.Grant.Client)
	first := sort.Search(len(waits), func(i int) bool { return waits[i].From >= f.Span().From })
	for _, w := range waits[first:] {
		if w.From >= whole.To {
			break
		}
		if part := w.Overlap(whole); !part.Empty() {
			out = append(out, part)
		}
	}
	return out
}
