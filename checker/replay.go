package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// replay follows one register of one lock through its log.
type replay struct {
	in             *Input
	register, lock string
	value          int64
	acked          int // updates that clients were told of
	highest        history.Opt
	holder         string                 // the grant that brought the highest token
	reads          map[string]int         // grant -> number of writes before its last read, or its first write
	begun          map[string]int         // grant -> number of writes before its first read
	seen           map[string]int         // grant -> number of writes before its last write: of these none is lost by another one
	whole          map[string]int         // grant -> number of writes up to which it is known not to be split
	acks           map[string]acks        // by grant
	writes         []*history.Event       // accepted, in order
	told           map[string]bool        // grants whose section is known to be split
	lost           map[*history.Call]bool // acknowledged updates that were overwritten unseen
	findings       []Finding
}

func (r *replay) run(events []*history.Event) {
	r.reads, r.begun, r.seen = map[string]int{}, map[string]int{}, map[string]int{}
	r.told, r.acks, r.whole = map[string]bool{}, map[string]acks{}, map[string]int{}
	for _, e := range events {
		if e.Type != history.OK {
			continue
		}
		if r.register == regFenced {
			r.fence(e)
		}
		if e.F == history.FRead {
			if e.Value.Base.Set && e.Value.Base.V != r.value {
				r.add("log-mismatch", NoClass, e, nil, fmt.Sprintf("the register answered %d to the read of %s, but its log says %d", e.Value.Base.V, e.Grant, r.value))
			}
			r.reads[e.Grant] = len(r.writes)
			if begun, again := r.begun[e.Grant]; again {
				r.split(e, begun, len(r.writes))
			} else {
				r.begun[e.Grant] = len(r.writes)
			}
			continue
		}
		r.write(e)
	}
	r.acknowledged()
}

// write looks for updates of others between the read and the write of one section: what
// was acknowledged there is lost.
func (r *replay) write(e *history.Event) {
	since, read := r.reads[e.Grant]
	if !read { // it sets a value: its section begins here
		since = len(r.writes)
		r.reads[e.Grant] = since
	}
	var overwritten []*history.Event
	for _, w := range r.writes[max(since, r.seen[e.Grant]):] {
		if w.Grant == e.Grant {
			continue
		}
		if call := r.ackOf(w); call != nil && !r.lost[call] {
			r.lost[call] = true
			overwritten = append(overwritten, w)
		}
	}
	r.seen[e.Grant] = len(r.writes)
	if len(overwritten) > 0 {
		r.lostUpdate(e, overwritten)
	} else if begun, known := r.begun[e.Grant]; known && begun < since {
		r.split(e, begun, since)
	}
	r.writes = append(r.writes, e)
	r.value = e.Value.New.V
}

// split finds writes of others between the first read of a section and a later one, which are those from
// one number to another: nothing was lost, but the section was not one step.
func (r *replay) split(e *history.Event, from, to int) {
	if r.told[e.Grant] {
		return
	}
	var others []*history.Event
	for _, w := range r.writes[min(max(from, r.whole[e.Grant]), to):to] {
		if w.Grant != e.Grant {
			others = append(others, w)
		}
	}
	if len(others) == 0 {
		r.whole[e.Grant] = max(to, r.whole[e.Grant])
		return
	}
	r.told[e.Grant] = true
	why := r.in.explainLoss(e, others)
	if why.reason == ReasonTogether {
		return
	}
	f := r.add("split-section", why.class, e, others, fmt.Sprintf("the section of %s (grant %s) was not one step: %s wrote between its first read and its %s at %s",
		e.Client, e.Grant, grantsOf(others), e.F, Seconds(e.Time)))
	f.because(why.cause)
	f.Reason, f.Doubtful = why.reason, why.class == NoClass || (why.class == Inherent && why.cause.unasked())
}

// ackOf is the client's write call of an accepted write, if the client was told that it
// succeeded.
func (r *replay) ackOf(w *history.Event) *history.Call {
	g := r.in.ByID[w.Grant]
	if g == nil {
		return nil
	}
	of, known := r.acks[w.Grant]
	if !known {
		of = acks{}
		for _, c := range g.Uses {
			if c.Invoke.F != history.FWrite || c.Invoke.Register != r.register || c.Outcome() != history.OK {
				continue
			}
			if _, twice := of[c.Invoke.Value.New]; !twice {
				of[c.Invoke.Value.New] = c
			}
		}
		r.acks[w.Grant] = of
	}
	return of[w.Value.New]
}

// acks are a grant's writes that its client was told of: the first of each value.
type acks map[history.Opt]*history.Call

// lostUpdate explains a stale write by the grants that met there.
func (r *replay) lostUpdate(e *history.Event, overwritten []*history.Event) {
	message := fmt.Sprintf("the write of %s (grant %s, %d -> %d) at %s was accepted on top of what it had not read: %d acknowledged %s lost, of %s",
		e.Client, e.Grant, e.Value.Base.V, e.Value.New.V, Seconds(e.Time), len(overwritten), updates(len(overwritten)), grantsOf(overwritten))
	why := r.in.explainLoss(e, overwritten)
	f := r.add(why.rule, why.class, e, overwritten, message)
	f.Lost = int64(len(overwritten))
	f.because(why.cause)
	f.Reason, f.Doubtful = why.reason, why.class == NoClass || (why.class == Inherent && why.cause.unasked())
}

// fence checks the token rules on what the fenced register accepted, reads included.
func (r *replay) fence(e *history.Event) {
	switch {
	case !e.Token.Set:
		r.add("no-token", NoClass, e, nil, fmt.Sprintf("the fenced register accepted a %s of %s without a token", e.F, e.Grant))
	case r.highest.Set && e.Token.V < r.highest.V:
		r.add("stale-accepted", NoClass, e, nil, fmt.Sprintf("the fenced register accepted the %s of %s with token %d after token %d: the fence is open", e.F, e.Grant, e.Token.V, r.highest.V))
	case r.highest.Set && e.Token.V == r.highest.V && !r.sameHolder(e.Grant):
		r.add("equal-token", NoClass, e, nil, fmt.Sprintf("the fenced register accepted the token %d from %s and from %s", e.Token.V, r.holder, e.Grant))
	default:
		r.highest, r.holder = e.Token, e.Grant
	}
}

// sameHolder reports whether a grant may bring the highest token again: it brought it before,
// or is held together with the one that did.
func (r *replay) sameHolder(grant string) bool {
	if grant == r.holder {
		return true
	}
	a, b := r.in.ByID[grant], r.in.ByID[r.holder]
	return a != nil && b != nil && r.in.Model.Together(a, b)
}

// acknowledged counts the updates that clients were told of. That the register's log has them
// is what assumptions asks.
func (r *replay) acknowledged() {
	for _, g := range r.in.ByLock[r.lock] {
		for _, u := range g.Uses {
			if u.Invoke.F == history.FWrite && u.Invoke.Register == r.register && u.Outcome() == history.OK {
				r.acked++
			}
		}
	}
}

func (r *replay) add(rule string, class Class, e *history.Event, others []*history.Event, message string) *Finding {
	f := Finding{Rule: rule, Class: class, Cause: noCause.Text, CauseKind: CauseNone, Gating: true, Message: message, Events: []int64{e.Index}, From: e.Time, To: e.Time, Grants: []string{e.Grant}}
	for _, o := range others {
		f.Events = append(f.Events, o.Index)
		f.From = min(f.From, o.Time)
		if !slices.Contains(f.Grants, o.Grant) {
			f.Grants = append(f.Grants, o.Grant)
		}
	}
	slices.Sort(f.Events)
	r.findings = append(r.findings, f)
	return &r.findings[len(r.findings)-1]
}

func updates(n int) string {
	if n == 1 {
		return "update"
	}
	return "updates"
}

func grantsOf(events []*history.Event) string {
	var ids []string
	for _, e := range events {
		ids = append(ids, e.Grant)
	}
	const shown = 3
	if len(ids) > shown {
		return fmt.Sprintf("%s and %d more", joined(ids[:shown], nil), len(ids)-shown)
	}
	return joined(ids, nil)
}
