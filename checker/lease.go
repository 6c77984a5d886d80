package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// expiryBase is the moment from which the store may let the grant expire; none where
// grants do not run out.
func (in *Input) expiryBase(g *history.Grant) (int64, bool) {
	if !in.Leased() {
		return 0, false
	}
	return g.RunsOut(in.Run.Tolerance), true
}

func isNotHeld(c *history.Call) bool { return c.NotHeld() }

func (in *Input) findWentOn() map[*history.Grant]bool {
	out := map[*history.Grant]bool{}
	for _, g := range in.Grants {
		if len(g.Releases) > 0 && slices.ContainsFunc(g.Uses, g.AfterRelease) {
			out[g] = true
		}
	}
	return out
}
