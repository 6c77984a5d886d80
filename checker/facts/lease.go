package facts

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// ExpiryBase returns the time from which the store may let the grant expire; false where grants do not run out.
func (in *Facts) ExpiryBase(g *history.Grant) (int64, bool) {
	if !in.Leased() {
		return 0, false
	}
	return g.RunsOut(in.Run.Tolerance), true
}

// IsNotHeld reports whether the store answered that the caller does not hold the lock.
func IsNotHeld(c *history.Call) bool { return c.NotHeld() }

func (in *Facts) findWentOn() map[*history.Grant]bool {
	out := map[*history.Grant]bool{}
	for _, g := range in.Grants {
		if len(g.Releases) > 0 && slices.ContainsFunc(g.Uses, func(u *history.Call) bool { return g.AfterRelease(u) }) {
			out[g] = true
		}
	}
	return out
}
