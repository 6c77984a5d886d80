package history

import (
	"slices"
	"time"
)

// Injection is a fault from its injection to its healing. It begins when it strikes, its effect is
// observed then or later, and it ends when it is healed:
//
//	asked for |--- prepares ---|===== at work =====|============|
//	       Invoke            Began              Effect       HealEnd
type Injection struct {
	Fault
	Invoke  *Event
	Effect  *Event // proven (ok), not injected (fail) or unknown (info); nil: none recorded
	HealEnd *Event // nil: never healed, or nothing to heal

	unhealed bool // a heal was begun, and whether it worked is not known
}

// Injected is the fault of an id; nil: there is none.
func (r *Record) Injected(id int) *Injection {
	for _, f := range r.Faults {
		if id > 0 && f.ID == id {
			return f
		}
	}
	return nil
}

// Unhealed reports whether nobody knows that the fault was healed although it was tried: it
// lasts to the end of the record.
func (f *Injection) Unhealed() bool { return f.unhealed }

// Effective reports whether the fault proved that it took effect.
func (f *Injection) Effective() bool { return f.Effect != nil && f.Effect.Type == OK }

// Hurts reports whether the fault can harm a client: the named ones where it names some,
// else everybody.
func (f *Injection) Hurts(client string) bool {
	return (len(f.Clients) == 0 && f.Family != FamilyClient) || slices.Contains(f.Clients, client)
}

// OfServersOf reports whether the fault names a server that a grant was given by. Where the fault names none, or nobody says who
// gave the grant, it may be any.
func (f *Injection) OfServersOf(g *Grant) bool {
	if len(f.Nodes) == 0 || !g.Granted() || len(g.Acquire.Return.Nodes) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Nodes, func(n string) bool { return slices.Contains(g.Acquire.Return.Nodes, n) })
}

// Disconnects reports whether the fault can end the connection that holds a grant: it is at work on a link between the client and
// the store, on a server that gave the grant, or ends the connection itself. What holds back the client's requests to its data,
// moves a clock or changes what a server keeps does not.
func (f *Injection) Disconnects(g *Grant) bool {
	switch f.Family {
	case FamilyClient, FamilyClock:
		return false
	case FamilyStore:
		return slices.Contains(f.Clients, g.Client)
	}
	return !f.Delays && f.Hurts(g.Client) && f.OfServersOf(g)
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

// Began is when the fault struck: just before the signal was sent, the link cut, the key deleted.
// Most do so when they are asked for. A record that does not say so has no more than that, either.
func (f *Injection) Began() int64 {
	if began := f.Fault.Began; f.Effect != nil && f.Invoke.Time < began && began <= f.Effect.Time {
		return began
	}
	return f.Invoke.Time
}

// Instant reports whether the fault was done at once, with nothing to heal: a key deleted, a process killed.
func (f *Injection) Instant() bool {
	return f.HealEnd == nil && !f.unhealed && f.For == 0 && f.Family != FamilyLink
}

// gradual is from when on a fault hurts clearly before its whole effect is proven.
const gradual = int64(100 * time.Millisecond)

// Gradual reports whether the fault took its time: a fail-over kills first and is proven
// when another master is there.
func (f *Injection) Gradual() bool {
	return f.Effect != nil && f.Effect.Time-f.Began() > gradual
}

// CutShort reports whether the fault was healed clearly before its planned length, and not as planned.
func (f *Injection) CutShort() bool {
	return f.For > 0 && f.Ends == "" && f.Effect != nil && f.HealEnd != nil && f.HealEnd.Time-f.Effect.Time < f.For*9/10
}

// Until is when the fault was healed; a fault with nothing to heal ends with its proof, and
// one of which nobody knows whether it was healed never.
func (f *Injection) Until() int64 {
	switch {
	case f.HealEnd != nil:
		return f.HealEnd.Time
	case f.unhealed:
		return Forever
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
	return Interval{From: f.Began(), To: to}
}
