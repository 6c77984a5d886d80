package history

// Build pairs the events into calls and grants. It fails only if the history has no run: events that do not fit
// together are listed for the judge of the record.
func Build(h *History) (*Record, error) {
	run, err := h.Run()
	if err != nil {
		return nil, err
	}
	return BuildRun(run, h), nil
}

// eventsOfGrant is how many events a grant has at least, mostly: the maps of grants have their size at once.
const eventsOfGrant = 16

// BuildRun is Build for a history whose run is known.
func BuildRun(run Run, h *History) *Record {
	b := builder{
		rec: &Record{
			Run: run, Events: h.Events,
			ByID: make(map[string]*Grant, len(h.Events)/eventsOfGrant), ByLock: map[string][]*Grant{},
			Kills: map[string]int64{}, Last: map[string]int64{}, Phases: map[string]int64{},
			Finished: map[string]bool{}, Model: run.Model,
		},
		open:    map[int64]*Call{},
		leases:  make(map[string]leaseName, len(h.Events)/eventsOfGrant),
		newest:  make(map[string]*Lease, len(h.Events)/eventsOfGrant),
		notices: map[*Lease][]*Event{},
		faults:  map[int]*Injection{},
	}
	for i := range h.Events {
		b.add(&h.Events[i])
	}
	if run.Model.Kind == "" && b.shared {
		b.rec.Model.Kind = ModelReadWrite // a record from before models were on record
	}
	b.settle()
	return b.rec
}

type builder struct {
	rec     *Record
	open    map[int64]*Call // by process
	leases  map[string]leaseName
	newest  map[string]*Lease   // created under a name last
	notices map[*Lease][]*Event // that a client created or joined it
	faults  map[int]*Injection
	calls   []Call  // chunk from which calls are taken
	spare   []Lease // chunk from which leases are taken
	shared  bool    // a reader was seen
}

func (b *builder) add(e *Event) {
	switch {
	case e.Process.IsOp():
		b.addOp(e)
	default:
		b.addNotice(e)
	}
	switch e.Party {
	case "":
	case e.Client:
		b.rec.Last[e.Client] = e.Time
	case PartyRegister:
		b.rec.Registered = append(b.rec.Registered, e)
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
		b.rec.Unpaired = append(b.rec.Unpaired, e)
		return
	}
	c.Return = e
	delete(b.open, e.Process.N)
	if (e.F == FAcquire || e.F == FTryAcquire) && (e.Lease != "" || e.Owner != "") {
		if g := b.rec.ByID[e.Grant]; g != nil {
			b.under(g, e)
			if e.Owner != "" {
				g.Owner = e.Owner
			}
		}
	}
}

// sameCall reports whether a return belongs to an invocation. Fields that a return leaves
// out are as invoked.
func sameCall(in, ret *Event) bool {
	same := func(a, b string) bool { return b == "" || a == b }
	return in.F == ret.F && in.Grant == ret.Grant && in.Client == ret.Client && same(in.Lock, ret.Lock) &&
		same(in.Register, ret.Register)
}

func (b *builder) newCall(e *Event) *Call {
	if len(b.calls) == 0 {
		b.calls = make([]Call, min(1024, len(b.rec.Events)))
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
		b.under(g, e)
	case FRelease:
		g := b.grant(e)
		g.Releases = append(g.Releases, c)
	case FRead, FWrite, FWork:
		g := b.grant(e)
		g.Uses = append(g.Uses, c)
	case FRenew:
		if l := b.named(e); l != nil {
			l.Renews = append(l.Renews, c)
		}
	}
}

func (b *builder) grant(e *Event) *Grant {
	if g := b.rec.ByID[e.Grant]; g != nil {
		if g.Client != e.Client || (e.Lock != "" && g.Lock != e.Lock) {
			b.rec.Mixed = append(b.rec.Mixed, e)
		}
		return g
	}
	g := &Grant{ID: e.Grant, Client: e.Client, Lock: e.Lock, Mode: e.Mode, Owner: e.Owner}
	b.shared = b.shared || e.Mode == ModeShared
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
		if l := b.named(e); l != nil {
			l.Losses = append(l.Losses, e)
		}
	case FAsked:
		b.addAsked(e)
	case FLease:
		b.addLease(e)
	case FKill:
		if e.Client != "" {
			if _, dead := b.rec.Kills[e.Client]; !dead { // nobody dies twice: the first one counts
				b.rec.Kills[e.Client] = e.Time
			}
		} else {
			b.rec.Deaths = append(b.rec.Deaths, e)
		}
	case FBreach:
		b.rec.Breaches = append(b.rec.Breaches, e)
	case FRole:
		b.rec.Roles = append(b.rec.Roles, e)
	case FStall:
		b.rec.Stalls = append(b.rec.Stalls, e)
	case FPressure:
		b.rec.Pressure = append(b.rec.Pressure, e)
	case FClock:
		b.rec.Clocks = append(b.rec.Clocks, e)
	case FPhase:
		var name string
		if e.Value.Into(&name) == nil {
			b.rec.Phases[name] = e.Time
		}
	case FEnd:
		b.rec.Ends = append(b.rec.Ends, e)
		b.rec.Finished[e.Party] = true
		var end End
		if e.Party == PartyController && e.Value.Into(&end) == nil {
			b.rec.End = &end
		}
	case FFault, FHeal:
		b.addFault(e)
	}
}

func (b *builder) addAsked(e *Event) {
	var a Asked
	if g := b.rec.ByID[e.Grant]; g != nil && e.Value.Into(&a) == nil && a.Held {
		g.Assured = Some(e.Time)
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
	case e.F == FFault && (e.Type == Invoke || in.Effect != nil || in.Fault.Fault != f.Fault):
		b.rec.Repeated = append(b.rec.Repeated, e)
	case e.F == FFault:
		in.Fault, in.Effect = f, e
	case e.F == FHeal && e.Type == OK:
		in.HealEnd, in.unhealed = e, false
	case e.F == FHeal:
		in.unhealed = in.HealEnd == nil
	}
}
