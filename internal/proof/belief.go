package proof

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// granted are the grants of a claim, each of which was given to its client, all of one lock.
func (s *scene) granted(c Claim, n int) ([]*history.Grant, error) {
	if len(c.Grants) != n {
		return nil, fmt.Errorf("the finding names %d grants, but a finding of rule %s must name %d", len(c.Grants), c.Rule, n)
	}
	var out []*history.Grant
	for i, id := range c.Grants {
		g := s.ByID[id]
		switch {
		case g == nil || g.Acquire == nil:
			return nil, fmt.Errorf("the finding names grant %s, but the events do not show the request for this grant", id)
		case !g.Granted():
			return nil, fmt.Errorf("the finding names grant %s, but the events do not show that the request for this grant succeeded", id)
		case i > 0 && g.Lock != out[0].Lock:
			return nil, fmt.Errorf("grants %s and %s belong to different locks, but all grants of a finding must belong to the same lock",
				out[0].ID, id)
		case i > 0 && g.ID == out[0].ID:
			return nil, fmt.Errorf("the finding names grant %s twice, but a finding must name different grants", id)
		}
		out = append(out, g)
	}
	return out, nil
}

// seen is until when something is known of what a client did: its last event, or all where it was killed or its log ends.
func (s *scene) seen(client string) int64 {
	if _, killed := s.Kills[client]; killed || s.Finished[client] {
		return history.Forever
	}
	return s.Last[client]
}

// belief is when the client of a grant took itself for the holder, for certain. It begins with the answer and ends with the first
// of: its release, its death, a notice of loss, the deadline that it goes by (less the tolerance), its next request for the same;
// where none of them is here, its last event. It lasts until its last use of the grant in any case: who acts as the holder
// believes that it is.
//
//nolint:gocyclo // a list of what ends a belief
func (s *scene) belief(g *history.Grant) history.Interval {
	end := int64(history.Forever)
	ends := func(at int64) { end = min(end, at) }
	answered := int64(history.Forever) // when the store had answered its release
	asked := false
	for _, rel := range g.Releases {
		if !rel.Unasked() && !asked {
			ends(rel.Start())
			asked = true
		}
		if rel.Outcome() == history.OK || rel.NotHeld() {
			answered = min(answered, rel.End())
		}
	}
	if kill, killed := s.Kills[g.Client]; killed {
		ends(kill)
	}
	if s.Run.Discipline != history.Trusting && len(g.Losses) > 0 {
		ends(g.Losses[0].Time)
	}
	if lapse := g.Lapses(); s.Run.ByDeadline() && lapse.Set {
		ends(lapse.V - s.Run.Tolerance)
	}
	if len(g.Releases) == 0 {
		if next := s.Follower(g); next != nil && s.Model.MovesOn() {
			ends(next.Acquire.Start())
		}
		if end > s.seen(g.Client) {
			ends(s.Last[g.Client])
		}
	}
	if end == history.Forever {
		ends(s.Last[g.Client])
	}
	if s.whole && s.End == nil {
		ends(s.Events[len(s.Events)-1].Time) // what came then is not known
	}
	if s.Run.Discipline == history.Told && g.Assured.Set && g.Assured.V <= answered {
		end = max(end, g.Assured.V) // its library said so
	}
	for _, use := range g.Uses {
		if use.Start() <= answered {
			end = max(end, use.Start())
		}
	}
	return history.Interval{From: g.From(), To: end}
}
