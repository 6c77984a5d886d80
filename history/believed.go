package history

// Believed is when the client of a grant certainly believed that it held the lock: from its acquire-ok to the earliest of the
// release's invocation, its kill, its first loss notice (unless it is trusting) or the deadline in force (see
// [Run.ByDeadline]), and, where it never released, its next acquire of that lock in that mode (unless the lock is reentrant);
// where none of these is on record, its last own event; then on to the last use that it invoked under the grant, for who acts
// as the holder believes that it holds. A deadline counts from the tolerance before it: the lock may let the grant go from then
// on. A client that goes by a method of its library believes in what the method last answered. A use after the store had
// answered the grant's own release is the client's error and extends nothing.
func (r *Record) Believed(g *Grant) Interval {
	if !g.Granted() {
		return Interval{}
	}
	from := g.From()
	end := int64(Forever)
	end = min(end, g.GaveBack())
	if kill, ok := r.Kills[g.Client]; ok {
		end = min(end, kill)
	}
	if len(g.Releases) == 0 && r.Model.MovesOn() {
		if next := r.Follower(g); next != nil {
			end = min(end, next.Acquire.Start()) // it has moved on
		}
	}
	if r.Run.Discipline != Trusting {
		end = min(end, g.ToldLost())
	}
	if r.Run.ByDeadline() {
		end = min(end, early(g.Lapses(), r.Run.Tolerance))
	}
	if end == Forever || (len(g.Releases) == 0 && r.CutOff(g.Client)) {
		end = min(end, r.Last[g.Client]) // what it did after that is not known
	}
	if r.End == nil {
		end = min(end, r.Events[len(r.Events)-1].Time) // cut off: what came then is not known
	}
	answered := g.Answered()
	if r.Run.Discipline == Told && g.Assured.Set && g.Assured.V <= answered {
		end = max(end, g.Assured.V) // its library says so
	}
	for _, u := range g.Uses {
		if u.Start() <= answered {
			end = max(end, u.Start())
		}
	}
	return Interval{From: from, To: end}
}

// BeliefEnds is when an obeying client stops to believe: its first loss notice, or the first moment at which the deadline in
// force has passed, unless its library, asked after that, said that the lock is held. A later renewal does not bring the belief
// back.
func (g *Grant) BeliefEnds() int64 {
	return max(min(g.ToldLost(), g.Lapses().Or(Forever)), g.Assured.V)
}

// AfterRelease reports whether a use was invoked after the store had answered the grant's own release: then that client is
// wrong, not the lock.
func (g *Grant) AfterRelease(u *Call) bool { return u.Start() > g.Answered() }

// early is a deadline minus the tolerance; Forever where there is none.
func early(deadline Opt, tolerance int64) int64 {
	if !deadline.Set {
		return Forever
	}
	return deadline.V - tolerance
}
