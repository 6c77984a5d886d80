package proof

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// showed are the requests of a lock that a fence without a log accepted with a token, by what their clients were told.
func (s *scene) showed(lock string) (out []*history.Call) {
	for _, g := range s.ByLock[lock] {
		for _, u := range g.Uses {
			if u.Invoke.Register() == fencedReg && u.Invoke.Token().Set && u.Outcome() == history.OK {
				out = append(out, u)
			}
		}
	}
	return out
}

// forbids is the rule that a fence broke which had answered one request before another one was sent, and accepted that; empty:
// none.
func (s *scene) forbids(one, other *history.Call) string {
	a, b := one.Invoke, other.Invoke
	switch {
	case one.End() >= other.Start():
	case a.Token().V > b.Token().V:
		return "stale-accepted"
	case a.Token().V == b.Token().V && a.Grant() != b.Grant() && !s.together(a.Grant(), b.Grant()):
		return "equal-token"
	}
	return ""
}

// tookOutdated are what a fence without a log accepted against its rules, of each grant the first.
func (s *scene) tookOutdated(register, lock string) (out []damage) {
	if register != fencedReg {
		return nil
	}
	all := s.showed(lock)
	slices.SortStableFunc(all, func(a, b *history.Call) int { return cmp.Compare(a.End(), b.End()) })
	tops := make([]*history.Call, len(all)) // the one with the highest token that was answered up to each
	for i, u := range all {
		if tops[i] = u; i > 0 && tops[i-1].Invoke.Token().V >= u.Invoke.Token().V {
			tops[i] = tops[i-1]
		}
	}
	sent := slices.SortedStableFunc(slices.Values(all), func(a, b *history.Call) int { return cmp.Compare(a.Start(), b.Start()) })
	seen := map[string]bool{}
	for _, u := range sent {
		n, _ := slices.BinarySearchFunc(all, u.Start(), func(o *history.Call, at int64) int { return cmp.Compare(o.End(), at) })
		if n == 0 || seen[u.Invoke.Grant()] {
			continue
		}
		if rule := s.forbids(tops[n-1], u); rule != "" {
			seen[u.Invoke.Grant()] = true
			out = append(out, damage{rule: rule, event: u.Return})
		}
	}
	return out
}

// outdated: a fence without a log accepted a request although it had answered one before that forbids it.
func (s *scene) outdated(c Claim) error {
	g := s.ByID[c.Grants[0]]
	for _, u := range s.showed(g.Lock) {
		if u.Invoke.Grant() == g.ID && u.End() == c.To &&
			slices.ContainsFunc(s.showed(g.Lock), func(o *history.Call) bool { return s.forbids(o, u) == c.Rule }) {
			return nil
		}
	}
	return errors.New("the events do not show that the fence had answered a request before that forbids the one of the finding")
}
