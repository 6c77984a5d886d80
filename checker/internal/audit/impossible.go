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

// event looks at an event alone, for what no party can have recorded.
func (a *audit) event(e *history.Event) {
	op := operation(e.F())
	switch e.Type() {
	case history.Invoke, history.OK, history.Fail, history.Info:
	default:
		a.add("type", fmt.Sprintf("event %d has the unknown type %q: the type must be invoke, ok, fail or info", e.Index, e.Type()), e)
	}
	switch {
	case op && !e.Process().IsOp() && e.Party() != history.PartyRegister:
		a.add("named-process", fmt.Sprintf("event %d is an operation (%s) of the process %q: the process of an operation must be "+
			"a number", e.Index, e.F(), e.Process().Name), e)
	case e.Code() != "" && !errorCodes[e.Code()]:
		a.add("error", fmt.Sprintf("event %d has the unknown error code %q", e.Index, e.Code()), e)
	case op && e.Type() == history.Fail && e.Code() == "":
		a.add("error", fmt.Sprintf("event %d says that the operation %s failed, but gives no error code", e.Index, e.F()), e)
	case op && e.Type() == history.OK && e.Code() != "":
		a.add("error", fmt.Sprintf("event %d says that the operation %s succeeded, but also has the error code %q", e.Index, e.F(),
			e.Code()), e)
	}
	if e.Register() != "" && op {
		a.register(e)
	}
	if e.F() == history.FLease {
		a.times(e, nil)
	}
}

// register checks that the run has the register that an event uses.
func (a *audit) register(e *history.Event) {
	_, listed := a.in.Run.Registers[e.Register()]
	switch {
	case !a.in.Run.Resource:
		a.add("register", fmt.Sprintf("event %d uses the register %q, but according to the run event (which describes the run) the "+
			"workload uses no data", e.Index, e.Register()), e)
	case !listed:
		a.add("register", fmt.Sprintf("event %d uses the register %q, but the run event (which describes the run) does not list this "+
			"register", e.Index, e.Register()), e)
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
			case !e.Token().Set || e.Token() == given:
			case !given.Set:
				a.add("token", fmt.Sprintf("event %d sends the fencing token %d under grant %s, but the lock issued no token with this grant",
					e.Index, e.Token().V, g.ID), e)
			default:
				a.add("token", fmt.Sprintf("event %d sends the fencing token %d under grant %s, but the lock issued token %d with this grant",
					e.Index, e.Token().V, g.ID, given.V), e)
			}
		}
	}
}

// afterInfo checks that nobody goes on under a number whose last operation has no known outcome.
func (a *audit) afterInfo() {
	unknown := map[int64]bool{}
	for _, c := range a.in.Calls {
		n := c.Invoke.Process().N
		was, is := unknown[n], c.Return != nil && c.Return.Type() == history.Info
		if was {
			a.add("process-after-info", fmt.Sprintf("process %d starts another operation (event %d) after an operation with an unknown "+
				"outcome: a client must continue under a new process number", n, c.Invoke.Index), c.Invoke)
		}
		if was != is {
			unknown[n] = is
		}
	}
}

// grants checks the fields of grants that succeeded.
func (a *audit) grants() {
	run := a.in.Run
	for _, g := range a.in.Grants {
		a.refused(g)
		if !g.Granted() {
			continue
		}
		e := g.Acquire.Return
		a.times(e, g.Acquire.Invoke)
		own := run.Ends == history.EndsLease && !run.Model.Session
		if !run.NoDeadlines && (own || e.Deadline().Set) && (!e.Sent().Set || !e.TTL().Set || !e.Deadline().Set) {
			a.add("lease-times", fmt.Sprintf("the acquire event of grant %s needs the fields `sent`, `ttl` and `deadline`: add the "+
				"missing fields, or set `no_deadlines` in the run event", g.ID), e)
		}
		if own && e.Deadline().Set && e.Deadline().V <= 0 {
			a.add("lease-times", fmt.Sprintf("the lease of grant %s ends before the run begins: a deadline must be a time on the run's "+
				"clock (the time of the request plus the remaining time to live)", g.ID), e)
		}
		switch {
		case run.Tokens && !e.Token().Set && g.Mode != history.ModeShared:
			a.add("token", fmt.Sprintf("grant %s has no fencing token, but according to the run event (which describes the run) the "+
				"lock issues tokens", g.ID), e)
		case !run.Tokens && e.Token().Set:
			a.add("token", fmt.Sprintf("grant %s has a fencing token, but according to the run event (which describes the run) the lock "+
				"issues no tokens", g.ID), e)
		}
	}
}

// refused checks that nobody acts as the holder under an attempt that was refused.
func (a *audit) refused(g *history.Grant) {
	if len(g.Uses) > 0 && g.Acquire != nil && g.Acquire.Outcome() == history.Fail {
		a.add("used-refused", fmt.Sprintf("%s used the lock under grant %s, although this attempt was refused: the client is at "+
			"fault, not the lock", g.Client, g.ID), g.Uses[0].Invoke)
	}
}

// renewals checks the fields of renewals that succeeded.
func (a *audit) renewals() {
	for _, l := range a.in.Leases {
		for _, rn := range l.Renews {
			if rn.Outcome() == history.OK {
				a.times(rn.Return, rn.Invoke)
				if e := rn.Return; e.Deadline().Set && (!e.Sent().Set || !e.TTL().Set) {
					a.add("lease-times", fmt.Sprintf("event %d has the field `deadline`, but the field `sent` or the field `ttl` is missing",
						e.Index), e)
				}
			}
		}
	}
}

// faults checks that a fault began between its request and its proof.
func (a *audit) faults() {
	for _, e := range a.in.Repeated {
		a.add("fault-id", fmt.Sprintf("event %d tells of another fault under an id that a fault has already: give each fault an id "+
			"of its own", e.Index), e)
	}
	for _, f := range a.in.Faults {
		if began := f.Fault.Began; began != 0 && f.Effect != nil && (began < f.Invoke.Time || began > f.Effect.Time) {
			a.add("began", fmt.Sprintf("fault %d began at %s, but a fault must begin between the request for the fault (%s) and the "+
				"proof of its effect (%s)", f.ID, checker.Seconds(began), checker.Seconds(f.Invoke.Time), checker.Seconds(f.Effect.Time)),
				f.Effect)
		}
	}
}

// times checks when something was sent, and that no deadline is later than its lease lasts.
// A grant of a session may also have the deadline of its session, as far as that had been
// renewed by then.
func (a *audit) times(e, invoke *history.Event) {
	switch {
	case e.Sent().Set && invoke != nil && e.Sent().V < invoke.Time:
		a.add("sent", fmt.Sprintf("event %d: the field `sent` (%s) is earlier than the start of the operation", e.Index,
			checker.Seconds(e.Sent().V)), e)
	case e.Sent().Set && e.Sent().V > e.Time:
		a.add("sent", fmt.Sprintf("event %d: the field `sent` (%s) is later than the arrival of the answer", e.Index,
			checker.Seconds(e.Sent().V)), e)
	case e.TTL().Set && e.TTL().V <= 0:
		a.add("ttl", fmt.Sprintf("event %d has a time to live (ttl) of %s: a time to live must be above 0", e.Index,
			checker.Millis(e.TTL().V)), e)
	}
	if !e.Deadline().Set || !e.Sent().Set || !e.TTL().Set {
		return
	}
	latest := e.Sent().V + e.TTL().V
	if g := a.in.ByID[e.Grant()]; g != nil && g.InSession() {
		latest = max(latest, min(g.Under.RunsOut(0).Or(latest), e.Time+e.TTL().V))
	}
	if e.Deadline().V > latest {
		a.add("deadline", fmt.Sprintf("the deadline of event %d is %s, but according to the time to live (ttl) the lease ends "+
			"earlier, at %s", e.Index, checker.Seconds(e.Deadline().V), checker.Seconds(latest)), e)
	}
}

// values checks that acknowledged updates of a counter say what they replaced by what.
func (a *audit) values() {
	for _, c := range a.in.Calls {
		e := c.Invoke
		counter := e.Register() == facts.RegPlain || e.Register() == facts.RegFenced
		if !counter || e.F() != history.FWrite || c.Outcome() != history.OK {
			continue
		}
		for _, e := range []*history.Event{e, c.Return} {
			if !e.Base().Set || !e.New().Set {
				a.add("value", fmt.Sprintf("event %d belongs to an acknowledged write, but the old value or the new value is missing",
					e.Index), e)
			}
		}
		if c.Invoke.Base() != c.Return.Base() || c.Invoke.New() != c.Return.New() {
			a.add("value", fmt.Sprintf("the answer to the write of event %d contains other values than the request", e.Index), c.Return)
		}
	}
}
