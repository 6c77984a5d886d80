package facts

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// tokensTaken finds, by what clients were told alone, a fence that keeps no log and took a token although it had answered a
// higher one before that request was sent, or took one token from two grants that may not be held together.
//
//	b  |--token 3--|ok
//	a                 |--token 2--|ok      stale
func (in *Facts) tokensTaken(register, lock string) (out []Shown) {
	if register != RegFenced {
		return nil
	}
	var taken []*history.Call // requests that were accepted with a token
	for _, g := range in.ByLock[lock] {
		for _, u := range g.Uses {
			if u.Invoke.Register() == register && u.Invoke.Token().Set && u.Outcome() == history.OK {
				taken = append(taken, u)
			}
		}
	}
	answered := slices.Clone(taken)
	slices.SortStableFunc(taken, func(a, b *history.Call) int { return cmp.Compare(a.Start(), b.Start()) })
	slices.SortStableFunc(answered, func(a, b *history.Call) int { return cmp.Compare(a.End(), b.End()) })
	var highest *history.Call // of those that were answered before the one at hand was sent
	told := map[string]bool{}
	for _, u := range taken {
		for len(answered) > 0 && answered[0].End() < u.Start() {
			if a := answered[0]; highest == nil || a.Invoke.Token().V > highest.Invoke.Token().V {
				highest = a
			}
			answered = answered[1:]
		}
		if highest == nil || told[u.Invoke.Grant()] {
			continue
		}
		s := Shown{Event: u.Return, Value: highest.Invoke.Token().V, Holder: highest.Invoke.Grant()}
		switch {
		case u.Invoke.Token().V < s.Value:
			s.What = ShowsStale
		case u.Invoke.Token().V == s.Value && !in.mayShare(u.Invoke.Grant(), s.Holder):
			s.What = ShowsEqual
		default:
			continue
		}
		told[u.Invoke.Grant()] = true
		out = append(out, s)
	}
	return out
}

// mayShare reports whether a fence may take one token from two grants: they are one, or may be held together.
func (in *Facts) mayShare(grant, other string) bool {
	if grant == other {
		return true
	}
	a, b := in.ByID[grant], in.ByID[other]
	return a != nil && b != nil && in.Model.Together(a, b)
}
