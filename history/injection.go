package history

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/lists"
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

	unhealed bool  // a heal was begun, and whether it worked is not known
	stopped  int   // how many of its clients have recorded nothing since its effect, if it stops them
	resumed  int64 // when the last of the others did; 0: none did
}

// Injected returns the fault of an id; nil: there is none.
func (r *Record) Injected(id int) *Injection {
	f, _ := lists.Find(r.Faults, func(f *Injection) bool { return id > 0 && f.ID == id })
	return f
}

// Unhealed reports whether healing the fault was tried with unknown outcome: it lasts to the end of the record.
func (f *Injection) Unhealed() bool { return f.unhealed }

// Effective reports whether the fault proved that it took effect.
func (f *Injection) Effective() bool { return f.Effect != nil && f.Effect.Type() == OK }

// Hurts reports whether the fault can harm a client: one that it names, or any if it names none.
func (f *Injection) Hurts(client string) bool {
	return (len(f.Clients) == 0 && f.Family != FamilyClient) || slices.Contains(f.Clients, client)
}

// OfServersOf reports whether the fault names a server that gave the grant. If the fault names none, or the servers
// that gave the grant are not known, it may be any.
func (f *Injection) OfServersOf(g *Grant) bool {
	if len(f.Nodes) == 0 || !g.Granted() || len(g.Acquire.Return.Nodes()) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Nodes, func(n string) bool { return slices.Contains(g.Acquire.Return.Nodes(), n) })
}

// Disconnects reports whether the fault can end the connection that holds a grant: it hits a link between the client
// and the store, a server that gave the grant, or the connection itself. Faults that hold back the client's requests
// to its data, move a clock or change what a server keeps do not.
func (f *Injection) Disconnects(g *Grant) bool {
	switch f.Family {
	case FamilyClient, FamilyClock:
		return false
	case FamilyStore:
		return slices.Contains(f.Clients, g.Client)
	}
	return !f.Delays && f.Hurts(g.Client) && f.OfServersOf(g)
}

// Late reports whether the fault makes a client late: it holds up the client itself, or its requests to the resource.
func (f *Injection) Late(client string) bool {
	return (f.Family == FamilyClient || f.Delays) && f.Hurts(client)
}

// Aftermath returns the span of a fault of servers plus the time that they may need after it to agree again; for
// other faults it returns their span.
func (f *Injection) Aftermath(recovery int64) Interval {
	span := f.Span()
	if len(f.Clients) == 0 && f.Family != FamilyClient && span.To < Forever {
		span.To += recovery
	}
	return span
}

// Began returns when the fault struck: just before the signal was sent, the link cut, the key deleted. Most faults
// strike as soon as they are asked for; a record that does not say is read so.
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

// Gradual reports whether the fault took its time: a fail-over kills first and is proven when another master is
// there.
func (f *Injection) Gradual() bool {
	return f.Effect != nil && f.Effect.Time-f.Began() > gradual
}

// CutShort reports whether the fault was healed clearly before its planned length, and not as planned.
func (f *Injection) CutShort() bool {
	return f.For > 0 && f.Ends == "" && f.Effect != nil && f.HealEnd != nil && f.HealEnd.Time-f.Effect.Time < f.For*9/10
}

// Until returns when the fault was healed. A fault with nothing to heal ends with its proof, and one whose healing
// has an unknown outcome never ends. One that stops its clients has ended when all of them have recorded something again: on a
// busy host its healing may be on record long after that.
func (f *Injection) Until() int64 {
	switch {
	case f.HealEnd != nil && f.resumed > 0 && f.stopped == 0:
		return min(f.resumed, f.HealEnd.Time)
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

// Span returns the time in which the fault was at work, its last moment included.
func (f *Injection) Span() Interval {
	to := f.Until()
	if to < Forever {
		to++
	}
	return Interval{From: f.Began(), To: to}
}
