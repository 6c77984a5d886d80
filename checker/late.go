package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/history"
)

// lateness is what somebody did too late under a grant: what may have held him up lies
// between from and until, the moment at which he did it.
//
//	from |-------------- due |------ begun |--------| until
//	                     lease over   violation begins
type lateness struct {
	g           *history.Grant
	from, until int64
	begun       int64       // when it began to be a violation
	due         history.Opt // by when he should have done it; unset: not known
	onItsWay    bool        // it was a request that came late: it was on its way all the time
}

// lateCause finds why a client acted after its lease had run out: because of us, where we kept
// it at a point for so long that no fault is needed; else a fault that holds the client or what
// it sends up, for long enough; else a stall of the host, with our own share, that is as long as
// the client was late; else what kept it from renewing or from being told.
func (in *Input) lateCause(l lateness) Cause {
	client, span := l.g.Client, history.Interval{From: l.from, To: l.until}
	stood := in.heldUp(span, in.stands()[client])
	behind := l.until - l.due.V - in.Run.Tolerance
	if l.due.Set && stood > 0 && stood >= max(behind, in.Run.Tolerance) { // shorter stays explain nothing, as shorter stalls
		return Cause{Kind: CauseHarness, Text: fmt.Sprintf("lockstorm itself kept %s at a point for %s", client, Millis(stood))}
	}
	if f := in.heldBy(l); f != nil {
		return faultCause(f)
	}
	if held := in.heldUp(span, in.stands()[client], in.stallsOf(client)); l.due.Set && held > 0 && held >= behind {
		return Cause{Kind: CauseStall, Text: fmt.Sprintf("unplanned stall of the host, which held %s up for %s", client, Millis(held))}
	}
	indirect := func(f *history.Injection) bool { return f.Hurts(client) && !f.Late(client) }
	if f := in.faultOn(l.g, l.until, l.begun, indirect); f != nil {
		return faultCause(f)
	}
	return overrun(l.g, l.until)
}

// heldBy is the fault that held a client up longest, where all of them together did so for
// long enough: without them it would have acted before the violation began. Where that is not
// so, but a client waited for no answer that a fault may have held back, nobody knows what it
// waited for: then such a fault may have held it up all the time.
func (in *Input) heldBy(l lateness) *history.Injection {
	if f, enough := in.longestHeld(l, false); enough {
		return f
	}
	f, enough := in.longestHeld(l, true)
	if !enough {
		return nil
	}
	return f
}

// longestHeld is the fault that held a client up longest, and whether all together did so for long
// enough; unseen: with those of which nobody knows what they held back, and it is one of these.
func (in *Input) longestHeld(l lateness, unseen bool) (found *history.Injection, enough bool) {
	span := history.Interval{From: l.from, To: l.until}
	var spans []history.Interval
	var most int64
	for _, f := range in.Faults {
		if f.Began() >= l.begun || !f.Effective() || !f.Late(l.g.Client) {
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
		if held := in.heldUp(span, parts); held > most && guess == unseen {
			found, most = f, held
		}
		spans = append(spans, parts...)
	}
	slices.SortFunc(spans, byFrom)
	return found, found != nil && in.heldUp(span, spans)+2*in.Run.Tolerance >= l.until-l.begun
}

// heldParts are the parts of a span in which a fault held up what was done too late: the client
// itself, all the time, or, where it holds back what the client asks of the resource, while an
// answer was waited for that was asked for meanwhile.
func (in *Input) heldParts(l lateness, f *history.Injection, whole history.Interval) (out []history.Interval) {
	if f.Family == history.FamilyClient || l.onItsWay {
		return append(out, whole)
	}
	waits := in.waitsOf(l.g.Client)
	first := sort.Search(len(waits), func(i int) bool { return waits[i].From >= whole.From })
	for _, w := range waits[first:] {
		if w.From >= whole.To {
			break
		}
		out = append(out, w.Overlap(whole))
	}
	return out
}
