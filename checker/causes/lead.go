package causes

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// Lead returns what the record says of a violation beside its cause: the mistake of the lock, if its rule names one,
// or, without a cause, what points to one. It is empty if there is nothing to say. The second grant may be nil.
func (in Causes) Lead(f *checker.Finding, first, second *history.Grant) string {
	rule, kind, fault := f.Rule, f.CauseKind, f.Fault
	known := second != nil && first.Granted() && second.Granted()
	switch {
	case rule == "foreign-release" || rule == "release-of-none":
		return "the lock was released without a check of its owner"
	case kind == checker.CauseRenewal:
		return "the library renewed the lease for less than the time to live"
	case kind == checker.CauseFault && known:
		if f := in.heldAsking(first, second); f != nil && f.ID == fault {
			return fmt.Sprintf("%s took the lock over without checking it again", checker.Joined(f.Clients, nil))
		}
		return ""
	case kind != checker.CauseNone || !known:
		return ""
	case first.From() > second.Sent():
		return fmt.Sprintf("%s and %s asked for the lock at the same time, and both got it", first.Client, second.Client)
	}
	for _, g := range []*history.Grant{first, second} {
		if c := in.deniedBy(g); c != nil {
			return fmt.Sprintf("the store later said that %s does not hold the lock (grant %s, %s at %s): its entry was gone or replaced",
				g.Client, g.ID, c.Invoke.F(), checker.Seconds(c.End()))
		}
	}
	return fmt.Sprintf("the store granted the lock to %s while %s had not released it", second.Client, first.Client)
}

// deniedBy is the first release or renewal of a grant of which the store said that its client does not hold the lock; nil: none.
func (in Causes) deniedBy(g *history.Grant) *history.Call {
	c, _ := lists.Find(slices.Concat(g.Renews, g.Releases), (*history.Call).NotHeld)
	return c
}
