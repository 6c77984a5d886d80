package history

import (
	"math"
	"slices"
	"time"
)

// Forever is the end of an interval that nothing on record closes.
const Forever = math.MaxInt64

// Call is an operation: its invocation and, where there is one, its return.
type Call struct {
	Invoke *Event
	Return *Event // nil: the client never recorded one
}

// Outcome is what is known: OK, Fail, or Info for everything unknown, a missing return
// included.
func (c *Call) Outcome() Type {
	if c.Return == nil {
		return Info
	}
	return c.Return.Type
}

// Start is when the call was invoked.
func (c *Call) Start() int64 { return c.Invoke.Time }

// End is when its outcome was known; an unknown outcome may still take effect at any
// later time, so it ends never.
func (c *Call) End() int64 {
	if c.Outcome() == Info {
		return Forever
	}
	return c.Return.Time
}

// Grant is one acquire attempt and all that followed under its id. Only an attempt
// whose acquire is OK was granted for certain.
type Grant struct {
	ID       string
	Client   string
	Lock     string
	Lease    string
	Mode     string
	Acquire  *Call
	Renews   []*Call // by lease, in order
	Releases []*Call
	Uses     []*Call  // reads, writes and work, in order
	Losses   []*Event // notices that the lease was lost
}

// Granted reports whether the client was told that it has the lock.
func (g *Grant) Granted() bool { return g.Acquire != nil && g.Acquire.Outcome() == OK }

// Sent is the moment just before the granted request left the client, or the acquire's
// invocation where that is not on record.
func (g *Grant) Sent() int64 {
	if g.Granted() && g.Acquire.Return.Sent.Set {
		return g.Acquire.Return.Sent.V
	}
	return g.Acquire.Start()
}

// From is when the client learned of the grant. Only for granted ones.
func (g *Grant) From() int64 { return g.Acquire.Return.Time }

// Token is the fencing token of the grant.
func (g *Grant) Token() Opt {
	if !g.Granted() {
		return Opt{}
	}
	return g.Acquire.Return.Token
}

// Record is a history with its events put together.
type Record struct {
	Run      Run
	Events   []Event
	Calls    []*Call
	Grants   []*Grant            // in order of their first event
	ByID     map[string]*Grant   //
	ByLock   map[string][]*Grant // in order of their first event
	Locks    []string            // in order of first use
	Kills    map[string]int64    // client -> when it was killed
	Deaths   []*Event            // kills of nodes
	Roles    []*Event            // changes of what nodes say of themselves
	Last     map[string]int64    // client -> its last own event
	Finished map[string]bool     // parties whose log has its f:end
	Faults   []*Injection        // in order of injection
	Stalls   []*Event            // stalls of all parties
	Phases   map[string]int64    // phase -> its start
	End      *End                // nil: the history is cut off
	Orphan   []*Event            // returns without an invocation
	Mixed    []*Event            // events whose lock or client is not that of their grant, or that acquire it again
	Twice    []*Event            // invocations inside an open call of the same process
}

// Injection is a fault from its injection to its healing.
type Injection struct {
	Fault
	Invoke  *Event
	Effect  *Event // proven (ok), not injected (fail) or unknown (info); nil: none recorded
	HealEnd *Event // nil: never healed, or nothing to heal
}

// Effective reports whether the fault proved that it took effect.
func (f *Injection) Effective() bool { return f.Effect != nil && f.Effect.Type == OK }

// Hurts reports whether the fault can harm a client: the named ones where it names some,
// else everybody.
func (f *Injection) Hurts(client string) bool {
	return (len(f.Clients) == 0 && f.Family != FamilyClient) || slices.Contains(f.Clients, client)
}

// Late reports whether the fault makes a client late: it holds the client itself up, or
// what it asks of the resource.
func (f *Injection) Late(client string) bool {
	return (f.Family == FamilyClient || f.Delays) && f.Hurts(client)
}

// Aftermath is the span of a fault of servers with the time that they may need after it
// to agree again; that of other faults is their span.
func (f *Injection) Aftermath(recovery int64) Interval {
	span := f.Span()
	if len(f.Clients) == 0 && f.Family != FamilyClient && span.To < Forever {
		span.To += recovery
	}
	return span
}

// gradual is from when on a fault hurts clearly before its whole effect is proven.
const gradual = int64(100 * time.Millisecond)

// Gradual reports whether the fault took its time: a fail-over kills first and is proven
// when another master is there.
func (f *Injection) Gradual() bool {
	return f.Effect != nil && f.Effect.Time-f.Invoke.Time > gradual
}

// CutShort reports whether the fault was healed clearly before its planned length.
func (f *Injection) CutShort() bool {
	return f.For > 0 && f.Effect != nil && f.HealEnd != nil && f.HealEnd.Time-f.Effect.Time < f.For*9/10
}

// Until is when the fault was healed; a fault with nothing to heal ends with its proof.
func (f *Injection) Until() int64 {
	switch {
	case f.HealEnd != nil:
		return f.HealEnd.Time
	case f.Effect != nil:
		return f.Effect.Time
	default:
		return Forever
	}
}

// Span is the time in which the fault was at work, its last moment included.
func (f *Injection) Span() Interval {
	to := f.Until()
	if to < Forever {
		to++
	}
	return Interval{From: f.Invoke.Time, To: to}
}

// Build pairs the events into calls and grants. It never fails: what does not fit
// together is listed for the judge of the record.
func Build(h *History) (*Record, error) {
	run, err := h.Run()
	if err != nil {
		return nil, err
	}
	b := builder{
		rec: &Record{
			Run: run, Events: h.Events,
			ByID: map[string]*Grant{}, ByLock: map[string][]*Grant{},
			Kills: map[string]int64{}, Last: map[string]int64{}, Phases: map[string]int64{},
			Finished: map[string]bool{},
		},
		open:    map[int64]*Call{},
		byLease: map[string][]*Grant{},
		faults:  map[int]*Injection{},
	}
	for i := range h.Events {
		b.add(&h.Events[i])
	}
	return b.rec, nil
}

type builder struct {
	rec     *Record
	open    map[int64]*Call // by process
	byLease map[string][]*Grant
	faults  map[int]*Injection
	calls   []Call // chunk from which calls are taken
}

func (b *builder) add(e *Event) {
	switch {
	case e.Process.IsOp():
		b.addOp(e)
	default:
		b.addNotice(e)
	}
	if e.Client != "" && e.Party == e.Client {
		b.rec.Last[e.Client] = e.Time
	}
}

func (b *builder) addOp(e *Event) {
	if e.Type == Invoke {
		if b.open[e.Process.N] != nil {
			b.rec.Twice = append(b.rec.Twice, e)
		}
		c := b.newCall(e)
		b.open[e.Process.N] = c
		b.rec.Calls = append(b.rec.Calls, c)
		b.attach(c)
		return
	}
	c := b.open[e.Process.N]
	if c == nil || !sameCall(c.Invoke, e) {
		b.rec.Orphan = append(b.rec.Orphan, e)
		return
	}
	c.Return = e
	delete(b.open, e.Process.N)
	if (e.F == FAcquire || e.F == FTryAcquire) && e.Lease != "" {
		if g := b.rec.ByID[e.Grant]; g != nil && g.Lease == "" {
			g.Lease = e.Lease
			b.byLease[e.Lease] = append(b.byLease[e.Lease], g)
		}
	}
}

// sameCall reports whether a return belongs to an invocation. Fields that a return leaves
// out are as invoked.
func sameCall(in, ret *Event) bool {
	same := func(a, b string) bool { return b == "" || a == b }
	return in.F == ret.F && in.Grant == ret.Grant && in.Client == ret.Client && same(in.Lock, ret.Lock) && same(in.Register, ret.Register)
}

func (b *builder) newCall(e *Event) *Call {
	if len(b.calls) == 0 {
		b.calls = make([]Call, 1024)
	}
	c := &b.calls[0]
	b.calls = b.calls[1:]
	c.Invoke = e
	return c
}

func (b *builder) attach(c *Call) {
	e := c.Invoke
	switch e.F {
	case FAcquire, FTryAcquire:
		g := b.grant(e)
		if g.Acquire != nil {
			b.rec.Mixed = append(b.rec.Mixed, e)
			return
		}
		g.Acquire = c
	case FRelease:
		g := b.grant(e)
		g.Releases = append(g.Releases, c)
	case FRead, FWrite, FWork:
		g := b.grant(e)
		g.Uses = append(g.Uses, c)
	case FRenew:
		for _, g := range b.ofLease(e) {
			g.Renews = append(g.Renews, c)
		}
	}
}

// ofLease finds the grants that a renewal or a loss is about.
func (b *builder) ofLease(e *Event) []*Grant {
	if gs := b.byLease[e.Lease]; e.Lease != "" && len(gs) > 0 {
		return gs
	}
	if g := b.rec.ByID[e.Grant]; g != nil {
		return []*Grant{g}
	}
	return nil
}

func (b *builder) grant(e *Event) *Grant {
	if g := b.rec.ByID[e.Grant]; g != nil {
		if g.Client != e.Client || (e.Lock != "" && g.Lock != e.Lock) {
			b.rec.Mixed = append(b.rec.Mixed, e)
		}
		return g
	}
	g := &Grant{ID: e.Grant, Client: e.Client, Lock: e.Lock, Mode: e.Mode}
	b.rec.ByID[e.Grant] = g
	b.rec.Grants = append(b.rec.Grants, g)
	if _, known := b.rec.ByLock[e.Lock]; !known {
		b.rec.Locks = append(b.rec.Locks, e.Lock)
	}
	b.rec.ByLock[e.Lock] = append(b.rec.ByLock[e.Lock], g)
	return g
}

func (b *builder) addNotice(e *Event) {
	switch e.F {
	case FLost:
		for _, g := range b.ofLease(e) {
			g.Losses = append(g.Losses, e)
		}
	case FKill:
		if e.Client != "" {
			b.rec.Kills[e.Client] = e.Time
		} else {
			b.rec.Deaths = append(b.rec.Deaths, e)
		}
	case FRole:
		b.rec.Roles = append(b.rec.Roles, e)
	case FStall:
		b.rec.Stalls = append(b.rec.Stalls, e)
	case FPhase:
		var name string
		if e.Value.Into(&name) == nil {
			b.rec.Phases[name] = e.Time
		}
	case FEnd:
		b.rec.Finished[e.Party] = true
		var end End
		if e.Party == PartyController && e.Value.Into(&end) == nil {
			b.rec.End = &end
		}
	case FFault, FHeal:
		b.addFault(e)
	}
}

func (b *builder) addFault(e *Event) {
	var f Fault
	if e.Value.Into(&f) != nil {
		return
	}
	in := b.faults[f.ID]
	switch {
	case in == nil:
		in = &Injection{Fault: f, Invoke: e}
		b.faults[f.ID] = in
		b.rec.Faults = append(b.rec.Faults, in)
	case e.F == FFault && e.Type != Invoke:
		in.Fault, in.Effect = f, e
	case e.F == FHeal && e.Type == OK:
		in.HealEnd = e
	}
}
