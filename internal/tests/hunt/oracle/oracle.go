// Package oracle says, from the truth of a simulation alone, what a judge of its record must
// find and what it may find. It shares no code with the judge, and never looks at the record.
//
//	sim.Trace -> Wants -> []Want
package oracle

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
)

// Want is something that a judge must find, or may.
type Want struct {
	Check  string
	Rules  []string // any of them
	Grants []string // that the finding names: all of them, or any one
	Any    bool
	Must   bool
	Class  []string // any of them; none: not asked
	Blame  *Blame   // nil: not asked
	Needs  []string // further grants without which it means nothing
	InWay  []string // of an orphan: the grants that were in the way; none: not asked
	// Figure is a number of the check's that must be Value; where Most is another one, Value must be between the two, or be
	// more by no more than Hidden. Verdicts are what it may answer. Such a want is about no finding.
	Figure   string
	Most     string
	Hidden   int64
	Value    int64
	Verdicts []string
	// True is whether what a finding says of grants and a span is true; nil: not asked.
	True func(grants []string, from, to int64) bool
}

// Names of the checks, as the record has them.
const (
	exclusion = "mutual-exclusion"
	object    = "lock-linearizability"
	tokens    = "fencing-tokens"
	ownership = "ownership"
	notice    = "loss-notice"
	liveness  = "liveness"
)

// Classes, as in results.
const (
	defect   = "defect"
	inherent = "inherent"
	noClass  = "none"
)

// Wants are all that a judge must or may find in the record of a run.
func Wants(t *sim.Trace) []Want {
	o := &oracle{t: t, cfg: &t.Config, truth: t.Truth, pieces: map[string][]Want{}}
	return slices.Concat(o.overlaps(), o.lostUpdates(), o.lasting(), o.object(), o.ownership(), o.tokens(), o.fence(), o.notices(),
		o.liveness(),
		o.covered(), o.order(), o.crossed(), o.tries(), o.jobs(), o.stock(), o.wires())
}

type oracle struct {
	t     *sim.Trace
	cfg   *sim.Config
	truth *sim.Truth
	// pieces are the changes of each lock's stock that were overwritten unseen.
	pieces map[string][]Want
}

// together reports whether two grants of a lock may be held at once.
func (o *oracle) together(a, b *sim.Grant) bool { return o.cfg.Together(a, b) }

// acked are the grants of a lock that clients know of.
func (o *oracle) acked() map[string][]*sim.Grant {
	out := map[string][]*sim.Grant{}
	for _, g := range o.truth.Grants {
		if g.Known >= 0 {
			out[g.Lock] = append(out[g.Lock], g)
		}
	}
	return out
}

// pairs calls f for every two known grants of one lock that must not be held at once, the one
// that was known first before the other.
func (o *oracle) pairs(f func(a, b *sim.Grant)) {
	for _, grants := range o.acked() {
		slices.SortStableFunc(grants, func(a, b *sim.Grant) int { return int(a.Known - b.Known) })
		for i, a := range grants {
			for _, b := range grants[i+1:] {
				if !o.together(a, b) {
					f(a, b)
				}
			}
		}
	}
}

// broken reports whether the service broke its word about a lock.
func (o *oracle) broken(lock string) bool {
	return slices.ContainsFunc(o.truth.Breaches, func(b sim.Breach) bool {
		return (b.Grant != nil && b.Grant.Lock == lock) || (b.Victim != nil && b.Victim.Lock == lock)
	})
}

// breaksObject are the bugs by which the lock itself breaks its word: about a grant, and who it was.
var breaksObject = []sim.Bug{
	sim.Hangs, sim.DoubleGrant, sim.EarlyExpiry, sim.ForeignRelease, sim.RevivedLease, sim.LiesNotHeld, sim.FreesAll,
	sim.ReleaseOfNone, sim.Forgets,
}

// touched reports whether the lock broke its word about a grant, or in its favour. What it did to all
// others was right, and what really happened is a legal order of them: a finding that names none of the
// touched ones is a false alarm. Which grant of an owner or of several readers a breach was about, the record may
// not tell where the store counts or readers share.
func (o *oracle) touched(g *sim.Grant) bool {
	return slices.ContainsFunc(o.truth.Breaches, func(b sim.Breach) bool {
		return slices.Contains(breaksObject, b.Kind) && (o.mayBe(g, b.Grant) || o.mayBe(g, b.Victim))
	})
}

// mayBe reports whether a record may take one grant for another.
func (o *oracle) mayBe(g, of *sim.Grant) bool {
	return g == of || (of != nil && g.Lock == of.Lock && o.cfg.Model != history.ModelExclusive && o.together(g, of))
}

// span is a belief: certain up to strict; between strict and lenient it may be judged either
// way, since a lease may run out that much early.
type span struct{ from, strict, lenient int64 }

// belief is when the client of a grant believed that it held the lock.
func (o *oracle) belief(g *sim.Grant) span {
	if g.Known < 0 {
		return span{}
	}
	end := earliest(g.Released, g.Killed)
	if g.Moved >= 0 && g.Released < 0 {
		end = min(end, g.Moved)
	}
	if o.cfg.Discipline != history.Trusting {
		end = min(end, earliest(g.Lost))
	}
	strict := end
	if d := lapses(g, 0); d < sim.Forever && o.cfg.Discipline != history.Trusting && o.cfg.Discipline != history.Told {
		strict, end = min(end, d-o.cfg.Tolerance), min(end, d)
	}
	return span{g.Known, max(strict, g.LastUse), max(end, g.LastUse)}
}

// lapses is when the deadline that the client knew of, moved by shift, had passed before it learned of
// a later one: of the last one, where that never happens; Forever where it knew of none.
func lapses(g *sim.Grant, shift int64) int64 {
	if len(g.Deadlines) == 0 {
		return sim.Forever
	}
	d := g.Deadlines[0].Deadline + shift
	for _, next := range g.Deadlines[1:] {
		if next.At >= d {
			break
		}
		d = max(d, next.Deadline+shift)
	}
	return d
}

func ids(grants ...*sim.Grant) []string {
	return lists.Map(grants, func(g *sim.Grant) string { return g.ID })
}

// earliest is the first of some moments; Forever if all are Never.
func earliest(moments ...int64) int64 {
	first := sim.Forever
	for _, at := range moments {
		if at >= 0 {
			first = min(first, at)
		}
	}
	return first
}
