package checker

import (
	"fmt"
	"slices"

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
// long enough: without them it would have acted before the violation began.
func (in *Input) heldBy(l lateness) *history.Injection {
	span := history.Interval{From: l.from, To: l.until}
	var found *history.Injection
	var spans []history.Interval
	most := int64(0)
	for _, f := range in.Faults {
		if f.Invoke.Time >= l.begun || !f.Effective() || !f.Late(l.g.Client) {
			continue
		}
		part := span.Overlap(f.Span())
		if part.Empty() {
			continue
		}
		spans = append(spans, part)
		if part.To-part.From > most {
			found, most = f, part.To-part.From
		}
	}
	slices.SortFunc(spans, byFrom)
	if in.heldUp(span, spans)+2*in.Run.Tolerance < l.until-l.begun {
		return nil
	}
	return found
}

// heldUp is how much of a span some intervals cover together, each list in order.
func (in *Input) heldUp(span history.Interval, lists ...[]history.Interval) (sum int64) {
	all := slices.Concat(lists...)
	if len(lists) > 1 {
		slices.SortFunc(all, byFrom)
	}
	end := span.From
	for _, s := range all {
		if part := s.Overlap(history.Interval{From: end, To: span.To}); !part.Empty() {
			sum += part.To - part.From
			end = part.To
		}
	}
	return sum
}
