package checker_test

import "github.com/lockstorm/lockstorm/history"

// believes says, from the words of the contract and point by point, whether the client
// of a grant believes at time t+1/2 that it holds the lock.
func (r gridRun) believes(i int, t int64) bool {
	g := r.grants[i]
	if g.outcome != history.OK || t < g.ok {
		return false
	}
	for _, u := range g.uses {
		if answered := g.release != nil && g.release.outcome != history.Info && g.release.ret < u; u > t && !answered {
			return true // it will act as the holder
		}
	}
	stopped, known := false, false
	note := func(at int64) {
		known = true
		stopped = stopped || at <= t
	}
	if g.release != nil {
		note(g.release.call)
	}
	if at, moved := r.movesOn(i); moved {
		note(at)
	}
	if at := r.kills[g.client]; at > 0 {
		note(at)
	}
	if r.discipline == history.Obey {
		if g.lost > 0 {
			note(g.lost)
		}
		switch r.ends {
		case history.EndsLease:
			note(r.lapses(g) - r.tolerance)
		case history.EndsSession:
			note(r.sessionLapses(g) - r.tolerance)
			if lost := r.sessions[g.client].lost; lost >= g.invoke && lost > 0 {
				note(lost)
			}
		}
	}
	if !known {
		note(r.lastEvent(g.client))
	}
	return !stopped
}

// movesOn is when a client that did not release a grant asks for the lock again in the same
// mode, which nobody does who still believes in it: unless the lock is reentrant. Tries that
// are refused change nothing.
func (r gridRun) movesOn(i int) (int64, bool) {
	g := r.grants[i]
	if g.release != nil || r.model.Kind == history.ModelReentrant {
		return 0, false
	}
	at, found := int64(history.Forever), false
	for k, o := range r.grants {
		later := o.invoke > g.invoke || (o.invoke == g.invoke && k > i)
		if later && o.client == g.client && o.shared == g.shared && o.outcome != history.Fail {
			at, found = min(at, o.invoke), true
		}
	}
	return at, found
}

// lapses is the first moment at which the deadline that is known to the client then has
// passed.
func (r gridRun) lapses(g gridGrant) int64 {
	for t := int64(0); ; t++ {
		deadline := g.sent + r.ttl
		for _, c := range g.renews {
			if c.outcome == history.OK && c.ret < t {
				deadline = max(deadline, c.call+r.ttl)
			}
		}
		if t >= deadline {
			return t
		}
	}
}

// sessionLapses is the same for a grant of a session: from the grant on.
func (r gridRun) sessionLapses(g gridGrant) int64 {
	s := r.sessions[g.client]
	for t := g.ok; ; t++ {
		deadline := s.created + r.ttl
		for _, c := range s.renews {
			if c.outcome == history.OK && (c.ret < t || c.ret <= g.ok) {
				deadline = max(deadline, c.call+r.ttl)
			}
		}
		if t >= deadline {
			return t
		}
	}
}

// pairs counts the grants that were believed in at once although they may not be held
// together.
func (r gridRun) pairs() int {
	n := 0
	for i := range r.grants {
		for k := i + 1; k < len(r.grants); k++ {
			for at := int64(0); at <= gridEnd+10 && !r.together(i, k); at++ {
				if r.believes(i, at) && r.believes(k, at) {
					n++
					break
				}
			}
		}
	}
	return n
}
