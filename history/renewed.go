package history

import "github.com/lockstorm/lockstorm/internal/lists"

// RenewedBy returns the acknowledged renewal behind the deadline in force at time t, as far as the client of the
// grant had been told by then. It returns nil if the deadline is that of the grant itself or of its session's
// creation, or if none is known.
func (g *Grant) RenewedBy(t int64) *Call {
	d := g.DeadlineAt(t)
	if !d.Set {
		return nil
	}
	renews, first := g.Renews, g.Acquire.Return.Deadline()
	if g.InSession() {
		renews, first = g.Under.Renews, Opt{}
		if c := g.Under.Created; c != nil {
			first = c.Deadline()
		}
	}
	if first == d {
		return nil
	}
	rn, _ := lists.Find(byAnswer(renews), func(rn *Call) bool {
		return rn.Return.Time <= t && rn.Return.Deadline() == d && rn.Invoke.Client() == g.Client
	})
	return rn
}
