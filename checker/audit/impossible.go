package audit

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// errorCodes is the closed list of errors.
var errorCodes = map[string]bool{
	history.ErrBusy: true, history.ErrNotHeld: true, history.ErrNotSent: true, history.ErrTimeout: true,
	history.ErrClosed: true, history.ErrStaleToken: true, history.ErrDeadlock: true, history.ErrConflict: true,
	history.ErrOther: true,
}

// events looks at each event by itself: what no party can have recorded.
func (a *audit) events() {
	for i := range a.in.Events {
		e := &a.in.Events[i]
		op := operation(e.F)
		switch e.Type {
		case history.Invoke, history.OK, history.Fail, history.Info:
		default:
			a.add("type", fmt.Sprintf("event %d has the type %q, which does not exist", e.Index, e.Type), e)
		}
		switch {
		case op && !e.Process.IsOp() && e.Party != history.PartyRegister:
			a.add("named-process", fmt.Sprintf("event %d is the operation %s of the process %q: only numbered processes perform operations", e.Index, e.F, e.Process.Name), e)
		case e.Error != "" && !errorCodes[e.Error]:
			a.add("error", fmt.Sprintf("event %d has the error %q, which is not a known error code", e.Index, e.Error), e)
		case op && e.Type == history.Fail && e.Error == "":
			a.add("error", fmt.Sprintf("event %d: a %s failed, but the event gives no error", e.Index, e.F), e)
		case op && e.Type == history.OK && e.Error != "":
			a.add("error", fmt.Sprintf("event %d: a %s succeeded, yet the event has the error %q", e.Index, e.F, e.Error), e)
		}
		if e.Register != "" && op {
			a.register(e)
		}
		if e.F == history.FLease {
			a.times(e, nil)
		}
	}
}

// register checks that the run has the register that an event uses.
func (a *audit) register(e *history.Event) {
	_, listed := a.in.Run.Registers[e.Register]
	switch {
	case !a.in.Run.Resource:
		a.add("register", fmt.Sprintf("event %d uses the register %q, but the run's workload uses no data", e.Index, e.Register), e)
	case !listed:
		a.add("register", fmt.Sprintf("event %d uses the register %q, which the run does not list", e.Index, e.Register), e)
	}
}

// presented checks that a client presents the fencing token of its grant to the resource, and no other: it
// was told of it by the answer to its acquire and by nothing else. What the register says of a request is
// held against the client's log elsewhere.
func (a *audit) presented() {
	for _, g := range a.in.Grants {
		given := g.Token()
		for _, u := range g.Uses {
			switch e := u.Invoke; {
			case !e.Token.Set || e.Token == given:
			case !given.Set:
				a.add("token", fmt.Sprintf("event %d presents token %d for grant %s, which has no token", e.Index, e.Token.V, g.ID), e)
			default:
				a.add("token", fmt.Sprintf("event %d presents token %d for grant %s, whose token is %d", e.Index, e.Token.V, g.ID, given.V), e)
			}
		}
	}
}

// afterInfo checks that nobody goes on under a number whose last operation has no known outcome.
func (a *audit) afterInfo() {
	unknown := map[int64]bool{}
	for _, c := range a.in.Calls {
		n := c.Invoke.Process.N
		was, is := unknown[n], c.Return != nil && c.Return.Type == history.Info
		if was {
			a.add("process-after-info", fmt.Sprintf("process %d continues at event %d after an operation with an unknown outcome: a process must end with such an operation", n, c.Invoke.Index), c.Invoke)
		}
		if was != is {
			unknown[n] = is
		}
	}
}

// grants checks what is said of grants that succeeded.
func (a *audit) grants() {
	run := a.in.Run
	for _, g := range a.in.Grants {
		if !g.Granted() {
			continue
		}
		e := g.Acquire.Return
		a.times(e, g.Acquire.Invoke)
		own := run.Ends == history.EndsLease && !run.Model.Session
		if !run.NoDeadlines && (own || e.Deadline.Set) && (!e.Sent.Set || !e.TTL.Set || !e.Deadline.Set) {
			a.add("lease-times", fmt.Sprintf("the lease of %s has no sent, ttl or deadline on record, although the run does not declare them unknown", g.ID), e)
		}
		if own && e.Deadline.Set && e.Deadline.V <= 0 {
			a.add("lease-times", fmt.Sprintf("the lease of %s ends before the run begins: a deadline must be a time on the run's clock (when the request was sent, plus the remaining time to live)", g.ID), e)
		}
		switch {
		case run.Tokens && !e.Token.Set && g.Mode != history.ModeShared:
			a.add("token", fmt.Sprintf("grant %s has no token, although the lock issues tokens", g.ID), e)
		case !run.Tokens && e.Token.Set:
			a.add("token", fmt.Sprintf("grant %s has a token, although the lock issues none", g.ID), e)
		}
	}
}

// renewals checks what is said of renewals that succeeded.
func (a *audit) renewals() {
	for _, l := range a.in.Leases {
		for _, rn := range l.Renews {
			if rn.Outcome() == history.OK {
				a.times(rn.Return, rn.Invoke)
				if e := rn.Return; e.Deadline.Set && (!e.Sent.Set || !e.TTL.Set) {
					a.add("lease-times", fmt.Sprintf("event %d has a deadline, but lacks sent or ttl", e.Index), e)
				}
			}
		}
	}
}

// faults checks that a fault began between its request and its proof.
func (a *audit) faults() {
	for _, f := range a.in.Faults {
		if began := f.Fault.Began; began != 0 && f.Effect != nil && (began < f.Invoke.Time || began > f.Effect.Time) {
			a.add("began", fmt.Sprintf("fault %d has the begin time %s, which is not between its request (%s) and its proof (%s)", f.ID, checker.Seconds(began), checker.Seconds(f.Invoke.Time), checker.Seconds(f.Effect.Time)), f.Effect)
		}
	}
}

// times checks when something was sent, and that no deadline is later than its lease lasts.
// A grant of a session may also have the deadline of its session, as far as that had been
// renewed by then.
func (a *audit) times(e, invoke *history.Event) {
	switch {
	case e.Sent.Set && invoke != nil && e.Sent.V < invoke.Time:
		a.add("sent", fmt.Sprintf("event %d says that its request was sent at %s, which is before the operation was invoked", e.Index, checker.Seconds(e.Sent.V)), e)
	case e.Sent.Set && e.Sent.V > e.Time:
		a.add("sent", fmt.Sprintf("event %d says that its request was sent at %s, which is after the answer", e.Index, checker.Seconds(e.Sent.V)), e)
	case e.TTL.Set && e.TTL.V <= 0:
		a.add("ttl", fmt.Sprintf("event %d has a ttl of %s: a ttl must be above 0", e.Index, checker.Millis(e.TTL.V)), e)
	}
	if !e.Deadline.Set || !e.Sent.Set || !e.TTL.Set {
		return
	}
	latest := e.Sent.V + e.TTL.V
	if g := a.in.ByID[e.Grant]; g != nil && g.InSession() {
		latest = max(latest, min(g.Under.RunsOut(0).Or(latest), e.Time+e.TTL.V))
	}
	if e.Deadline.V > latest {
		a.add("deadline", fmt.Sprintf("the deadline %s of event %d is later than the end of its lease (%s)", checker.Seconds(e.Deadline.V), e.Index, checker.Seconds(latest)), e)
	}
}

// values checks that acknowledged updates of a counter say what they replaced by what.
func (a *audit) values() {
	for _, c := range a.in.Calls {
		e := c.Invoke
		counter := e.Register == facts.RegPlain || e.Register == facts.RegFenced
		if !counter || e.F != history.FWrite || c.Outcome() != history.OK {
			continue
		}
		for _, e := range []*history.Event{e, c.Return} {
			if !e.Value.Base.Set || !e.Value.New.Set {
				a.add("value", fmt.Sprintf("event %d is an acknowledged write without its old and new value", e.Index), e)
			}
		}
		if c.Invoke.Value.Base != c.Return.Value.Base || c.Invoke.Value.New != c.Return.Value.New {
			a.add("value", fmt.Sprintf("the write of event %d returned other values than it was invoked with", e.Index), c.Return)
		}
	}
}
