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

// BuildRun is Build for a history whose run is known.
func BuildRun(run Run, h *History) *Record {
	n := count(h.Events)
	b := builder{
		rec: &Record{
			Run: run, Events: h.Events,
			ByID: make(map[string]*Grant, n.grants), ByLock: map[string][]*Grant{},
			Kills: map[string]int64{}, Last: map[string]int64{}, Phases: map[string]int64{},
			Finished: map[string]bool{}, Model: run.Model,
			Calls: make([]*Call, 0, n.calls), Grants: make([]*Grant, 0, n.grants), Leases: make([]*Lease, 0, n.leases),
			Registered: make([]*Event, 0, n.requests), Requests: make([]*Grant, 0, n.requests),
		},
		procs:   map[int64]*process{},
		latest:  map[string]*Grant{},
		leases:  make(map[string]leaseName, n.leases),
		newest:  map[string]*Lease{},
		notices: map[*Lease][]*Event{},
		faults:  map[int]*Injection{},
		stopped: map[string][]*Injection{},
		calls:   slab[Call](n.calls),
		grants:  slab[Grant](n.grants),
		spare:   slab[Lease](n.leases),
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
	procs   map[int64]*process
	latest  map[string]*Grant // by client: that of its last request to a register
	leases  map[string]leaseName
	newest  map[string]*Lease   // created under a name last
	notices map[*Lease][]*Event // that a client created or joined it
	faults  map[int]*Injection
	stopped map[string][]*Injection // by client: faults that have stopped it, and it has recorded nothing since
	calls   []Call                  // those that are not taken yet; so are grants and leases
	grants  []Grant
	spare   []Lease
	shared  bool // a reader was seen
}

// process is what is known of a logical process: its open call, and the grant of its last one, which is mostly that of its
// next one, too.
type process struct {
	open  *Call
	grant *Grant
}

func (b *builder) add(e *Event) {
	switch {
	case e.Process().IsOp():
		b.addOp(e)
	default:
		b.addNotice(e)
	}
	switch e.Party() {
	case "":
	case e.Client():
		b.rec.Last[e.Client()] = e.Time
		if len(b.stopped) > 0 {
			b.resume(e)
		}
	case PartyRegister:
		g := b.latest[e.Client()]
		if g == nil || g.ID != e.Grant() {
			g = b.rec.ByID[e.Grant()]
			b.latest[e.Client()] = g
		}
		b.rec.Registered, b.rec.Requests = append(b.rec.Registered, e), append(b.rec.Requests, g)
	}
}

// resume ends the stops of a client, which has recorded something.
func (b *builder) resume(e *Event) {
	for _, f := range b.stopped[e.Client()] {
		f.stopped, f.resumed = f.stopped-1, e.Time
	}
	delete(b.stopped, e.Client())
}

func (b *builder) addOp(e *Event) {
	p := b.procs[e.Process().N]
	if p == nil {
		p = &process{}
		b.procs[e.Process().N] = p
	}
	if e.Type() == Invoke {
		if p.open != nil {
			b.rec.Twice = append(b.rec.Twice, e)
		}
		p.open = b.newCall(e)
		b.rec.Calls = append(b.rec.Calls, p.open)
		b.attach(p)
		return
	}
	c := p.open
	if c == nil || !sameCall(c.Invoke, e) {
		b.rec.Unpaired = append(b.rec.Unpaired, e)
		return
	}
	c.Return, p.open = e, nil
	if (e.F() == FAcquire || e.F() == FTryAcquire) && (e.Lease() != "" || e.Owner() != "") {
		if g := c.Grant; g != nil {
			b.under(g, e)
			if e.Owner() != "" {
				g.Owner = e.Owner()
			}
		}
	}
}

// sameCall reports whether a return belongs to an invocation. Fields that a return leaves
// out are as invoked.
func sameCall(in, ret *Event) bool {
	same := func(a, b string) bool { return b == "" || a == b }
	return in.F() == ret.F() && in.Grant() == ret.Grant() && in.Client() == ret.Client() && same(in.Lock(), ret.Lock()) &&
		same(in.Register(), ret.Register())
}

func (b *builder) newCall(e *Event) *Call {
	c := taken(&b.calls)
	c.Invoke = e
	return c
}

// counts are how many of its parts a record has, mostly: each kind is allocated at once.
type counts struct{ calls, grants, leases, requests int }

func count(events []Event) (n counts) {
	for i := range events {
		e := &events[i]
		acquires := func() bool { return e.F() == FAcquire || e.F() == FTryAcquire }
		switch {
		case e.process != 0:
			if e.Party() == PartyRegister {
				n.requests++
			}
		case e.Type() == Invoke:
			n.calls++
			if acquires() {
				n.grants++
			}
		case e.terms != 0 && e.Lease() != "" && acquires():
			n.leases++
		}
	}
	return n
}

// taken is the next one of a slab; behind its end, one alone.
func taken[T any](slab *[]T) *T {
	if len(*slab) == 0 {
		return new(T)
	}
	t := &(*slab)[0]
	*slab = (*slab)[1:]
	return t
}

func (b *builder) newGrant(e *Event) *Grant {
	g := taken(&b.grants)
	g.ID, g.Client, g.Lock, g.Mode, g.Owner = e.Grant(), e.Client(), e.Lock(), e.Mode(), e.Owner()
	g.Number = len(b.rec.Grants)
	g.Uses, g.Releases = g.few[:0:2], g.few[2:2]
	return g
}

func (b *builder) attach(p *process) {
	c, e := p.open, p.open.Invoke
	switch e.F() {
	case FAcquire, FTryAcquire:
		g := b.grant(p, e)
		if g.Acquire != nil {
			b.rec.Mixed = append(b.rec.Mixed, e)
			return
		}
		g.Acquire = c
		b.under(g, e)
	case FRelease:
		g := b.grant(p, e)
		g.Releases = append(g.Releases, c)
	case FRead, FWrite, FWork:
		g := b.grant(p, e)
		g.Uses = append(g.Uses, c)
	case FRenew:
		if l := b.named(e); l != nil {
			l.Renews = append(l.Renews, c)
		}
	}
}

// grant is that of an invocation: a new one if none has its id.
func (b *builder) grant(p *process, e *Event) *Grant {
	g := p.grant
	if g == nil || g.ID != e.Grant() {
		g = b.rec.ByID[e.Grant()]
	}
	if g != nil {
		p.grant, p.open.Grant = g, g
		if g.Client != e.Client() || (e.Lock() != "" && g.Lock != e.Lock()) {
			b.rec.Mixed = append(b.rec.Mixed, e)
		}
		return g
	}
	g = b.newGrant(e)
	p.grant, p.open.Grant = g, g
	b.shared = b.shared || e.Mode() == ModeShared
	b.rec.ByID[e.Grant()] = g
	b.rec.Grants = append(b.rec.Grants, g)
	if _, known := b.rec.ByLock[e.Lock()]; !known {
		b.rec.Locks = append(b.rec.Locks, e.Lock())
	}
	b.rec.ByLock[e.Lock()] = append(b.rec.ByLock[e.Lock()], g)
	return g
}

func (b *builder) addNotice(e *Event) {
	switch e.F() {
	case FLost:
		if l := b.named(e); l != nil {
			l.Losses = append(l.Losses, e)
		}
	case FAsked:
		b.addAsked(e)
	case FLease:
		b.addLease(e)
	case FKill:
		if e.Client() != "" {
			if _, dead := b.rec.Kills[e.Client()]; !dead { // nobody dies twice: the first one counts
				b.rec.Kills[e.Client()] = e.Time
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
		if e.Value().Into(&name) == nil {
			b.rec.Phases[name] = e.Time
		}
	case FEnd:
		b.rec.Ends = append(b.rec.Ends, e)
		b.rec.Finished[e.Party()] = true
		var end End
		if e.Party() == PartyController && e.Value().Into(&end) == nil {
			b.rec.End = &end
		}
	case FFault, FHeal:
		b.addFault(e)
	}
}

func (b *builder) addAsked(e *Event) {
	var a Asked
	if g := b.rec.ByID[e.Grant()]; g != nil && e.Value().Into(&a) == nil && a.Held {
		g.Assured = Some(e.Time)
	}
}

func (b *builder) addFault(e *Event) {
	var f Fault
	if e.Value().Into(&f) != nil {
		return
	}
	in := b.faults[f.ID]
	switch {
	case in == nil:
		in = &Injection{Fault: f, Invoke: e}
		b.faults[f.ID] = in
		b.rec.Faults = append(b.rec.Faults, in)
	case e.F() == FFault && (e.Type() == Invoke || in.Effect != nil || in.Fault.Fault != f.Fault):
		b.rec.Repeated = append(b.rec.Repeated, e)
	case e.F() == FFault:
		in.Fault, in.Effect = f, e
		if f.Stops && e.Type() == OK {
			in.stopped = len(f.Clients)
			for _, client := range f.Clients {
				b.stopped[client] = append(b.stopped[client], in)
			}
		}
	case e.F() == FHeal && e.Type() == OK:
		in.HealEnd, in.unhealed = e, false
	case e.F() == FHeal:
		in.unhealed = in.HealEnd == nil
	}
}
