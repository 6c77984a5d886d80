package history

import (
	"math"
	"sync"
)

// Forever is the end of an interval that nothing on record closes.
const Forever = math.MaxInt64

// Call is an operation: its invocation and, where there is one, its return.
type Call struct {
	Invoke *Event
	Return *Event // nil: the client never recorded one
	Grant  *Grant // nil: of a renewal, which is of a lease
}

// Outcome returns what is known: OK, Fail, or Info for everything unknown, a missing return included.
func (c *Call) Outcome() Type {
	if c.Return == nil {
		return Info
	}
	return c.Return.Type()
}

// Unasked reports whether the library made a release that its client did not ask for.
func (c *Call) Unasked() bool {
	var by Unasked
	return c.Invoke.HasJSON() && c.Invoke.Value().Into(&by) == nil && by.Unasked
}

// NotHeld reports whether the store said that the caller does not hold the lock.
func (c *Call) NotHeld() bool { return c.Outcome() == Fail && c.Return.Code() == ErrNotHeld }

// Start returns when the call was invoked.
func (c *Call) Start() int64 { return c.Invoke.Time }

// Unanswered returns when the client of a call of unknown outcome gave up on its answer; if it never did, the call's
// invocation.
func (c *Call) Unanswered() int64 {
	if c.Return != nil {
		return c.Return.Time
	}
	return c.Start()
}

// End returns when its outcome was known. An unknown outcome may still take effect at any later time, so it is
// Forever.
func (c *Call) End() int64 {
	if c.Outcome() == Info {
		return Forever
	}
	return c.Return.Time
}

// Grant is one acquire attempt and all that followed under its id. Only an attempt whose acquire is OK was certainly
// granted.
type Grant struct {
	ID       string
	Number   int // among the grants of its record
	Client   string
	Lock     string
	Owner    string // the owner that the store sees: as returned, else as invoked
	Lease    string
	Mode     string
	Acquire  *Call
	Under    *Lease  // nil: its lease is not on record
	Renews   []*Call // of its lease, in order; each shows that it was held; none under a session
	Releases []*Call
	Uses     []*Call  // reads, writes and work, in order
	Losses   []*Event // notices that its lease was lost while it waited or held
	Assured  Opt      // when the library last answered, asked after the deadline, that the lock is held

	answer answer
	few    [3]*Call // what Uses and Releases are at first: most grants read, write and release once
}

// answer is what the answer to an acquire says, once it is known: sorting and searching ask for it again and again.
type answer struct {
	known, granted bool
	session        bool // see InSession
	sent, from     int64
}

// settle keeps the answer to the acquire: the record is whole.
func (g *Grant) settle() {
	if g.Granted() {
		g.answer = answer{true, true, g.InSession(), g.Sent(), g.From()}
	} else if g.Acquire != nil {
		g.answer = answer{known: true, session: g.InSession(), sent: g.Sent()}
	}
}

// Granted reports whether the client was told that it has the lock.
func (g *Grant) Granted() bool {
	if g.answer.known {
		return g.answer.granted
	}
	return g.Acquire != nil && g.Acquire.Outcome() == OK
}

// Sent returns the time just before the granted request left the client, or the acquire's invocation if that is not
// on record.
func (g *Grant) Sent() int64 {
	if g.answer.known {
		return g.answer.sent
	}
	if g.Granted() && g.Acquire.Return.Sent().Set {
		return g.Acquire.Return.Sent().V
	}
	return g.Acquire.Start()
}

// From returns when the client learned of the grant. Call it only for granted ones.
func (g *Grant) From() int64 {
	if g.answer.granted {
		return g.answer.from
	}
	return g.Acquire.Return.Time
}

// Token returns the fencing token of the grant.
func (g *Grant) Token() Opt {
	if !g.Granted() {
		return Opt{}
	}
	return g.Acquire.Return.Token()
}

// Record is a history whose events are paired into calls and grants.
type Record struct {
	Run        Run
	Model      Model // of the lock: as the run says or, in old records, as the modes show
	Events     []Event
	Calls      []*Call
	Grants     []*Grant            // in order of their first event
	ByID       map[string]*Grant   //
	ByLock     map[string][]*Grant // in order of their first event
	Locks      []string            // in order of first use
	Kills      map[string]int64    // client -> when it was killed
	Deaths     []*Event            // kills of nodes
	Registered []*Event            // what registers recorded, in order
	Requests   []*Grant            // the grant that each of these names; nil: there is none of this id
	Ends       []*Event            // of logs
	Breaches   []*Event            // of the protocol between a client and its lock
	Roles      []*Event            // changes of the roles that nodes report
	Last       map[string]int64    // client -> its last own event
	Finished   map[string]bool     // parties whose log has its f:end
	Faults     []*Injection        // in order of injection
	Stalls     []*Event            // stalls of all parties
	Pressure   []*Event            // times in which the host was busy
	Clocks     []*Event            // steps of the wall clock
	Phases     map[string]int64    // phase -> its start
	End        *End                // nil: the history is cut off
	Leases     []*Lease            // in order of their first event
	Unpaired   []*Event            // returns without an invocation
	Mixed      []*Event            // events whose lock or client differs from that of their grant, or that acquire it again
	Repeated   []*Event            // faults under an id that another one has
	Twice      []*Event            // invocations inside an open call of the same process

	nextOnce sync.Once
	next     map[*Grant]*Grant // see Follower

	derivedOnce sync.Once
	derived     any
}

// Derived returns what f made of the record on the first call. Package facts keeps its results there.
func (r *Record) Derived(f func() any) any {
	r.derivedOnce.Do(func() { r.derived = f() })
	return r.derived
}

// released is when the store said that it had removed the grant; Forever where it did not.
func (g *Grant) released() int64 {
	for _, rel := range g.Releases {
		if rel.Outcome() == OK {
			return rel.End()
		}
	}
	return Forever
}

// CutOff reports whether the log of a client stops without an end although the client was not killed: what it did
// after its last event is unknown, so nothing may rest on missing events.
func (r *Record) CutOff(client string) bool {
	_, killed := r.Kills[client]
	return !killed && !r.Finished[client]
}

// Follower returns the next attempt of the same client for the same lock in the same mode that was not refused; nil
// if there is none.
func (r *Record) Follower(g *Grant) *Grant {
	r.nextOnce.Do(func() {
		type key struct{ client, lock, mode string }
		r.next = map[*Grant]*Grant{}
		last := map[key][]*Grant{} // those that wait for their follower
		for _, g := range r.Grants {
			if g.Acquire == nil || g.Acquire.Outcome() == Fail {
				continue
			}
			k := key{g.Client, g.Lock, g.Mode}
			for _, before := range last[k] {
				r.next[before] = g
			}
			last[k] = append(last[k][:0], g)
		}
	})
	return r.next[g]
}
