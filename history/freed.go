package history

// Freed is the earliest moment at which the store may free the grant because its holder died, or
// its connection ended: only for locks that end with the process or the connection. From just before
// the kill signal or, with no kill on record, from the client's last event. The holder may also have
// released it itself, where its log is cut off.
func (r *Record) Freed(g *Grant) int64 {
	switch {
	case r.CutOff(g.Client):
		return r.Last[g.Client]
	case r.Run.Ends == EndsConnection:
		from, _ := r.Disconnected(g)
		return from
	case r.Run.Ends != EndsProcess:
		return Forever
	}
	if kill, ok := r.Kills[g.Client]; ok {
		return kill
	}
	return r.Last[g.Client]
}

// Disconnected is the earliest moment at which the connection that holds a grant may have ended: its
// client was killed, or a fault struck that can end this connection. Where the client noticed that it had
// ended, or got no answer to its release, before any of that, it may have been any time after the
// request for the lock: explained is false. Forever: it cannot have ended.
func (r *Record) Disconnected(g *Grant) (from int64, explained bool) {
	from = Forever
	kill, killed := r.Kills[g.Client]
	if killed {
		from = max(kill, g.Sent())
	}
	for _, f := range r.Faults {
		if !f.Disconnects(g) || (f.Effect != nil && f.Effect.Type() == Fail) {
			continue
		}
		if span := f.Span(); span.To > g.Sent() {
			from = min(from, max(span.From, g.Sent()))
		}
	}
	noticed := g.ToldLost()
	for _, rel := range g.Releases {
		// Who was killed while it waited for the answer noticed nothing.
		if rel.Outcome() == Info && (rel.Return != nil || !killed) {
			noticed = min(noticed, rel.Unanswered())
		}
	}
	if noticed < from {
		return g.Sent(), false // also where something came later that could explain it
	}
	return from, true
}
