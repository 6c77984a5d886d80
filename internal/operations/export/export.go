// Package export makes of a record of ours a history of operations, for tools that know no leases.
//
//	history.Record -> Record.Believed -> acquire and release of each grant -> operations.WriteJepsen, WritePorcupine
//
// Each grant is a process of its own; the client is in the value. A hold that ended without a release, because its lease
// was over, its holder was told or died, becomes a release of unknown outcome at its end: from then on the lock may have
// been free. A grant that was over before its client learned of it becomes an acquire of unknown outcome: nobody held it,
// and without leases nothing can be said of when it was granted.
//
// So an exported history is linearizable if and only if no two clients held the lock at once: the check mutual-exclusion
// and whoever judges the history agree. Not linearizable if two did: at the moment at which both held it, each acquire has
// returned, and neither release has begun. Linearizable if none did: each acquire takes effect at its end, and each
// release at its beginning. Of leases, of what a release was answered and of refusals (lock-linearizability), it says nothing.
package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/operations"
)

// Model is the name of the model by which an exported record can be judged; empty where there is none.
func Model(rec *history.Record) string {
	switch rec.Model.Kind {
	case "", history.ModelExclusive:
		return "mutex"
	case history.ModelReentrant:
		return "reentrant-mutex"
	}
	return ""
}

// Exported are the steps of a record.
type Exported struct {
	Steps []operations.Step
	Model string
	Keyed bool // there are several locks
}

// Of exports the locks of a record. It fails where the model of its lock cannot be expressed.
func Of(rec *history.Record) (*Exported, error) {
	x := &Exported{Model: Model(rec), Keyed: len(rec.Locks) > 1}
	if x.Model == "" {
		return nil, fmt.Errorf("a lock of model %s cannot be exported: export supports only exclusive and reentrant locks",
			rec.Model.Kind)
	}
	known := facts.Of(rec)
	var all []placed
	for i, g := range rec.Grants {
		if g.Acquire != nil {
			all = append(all, stepsOf(i, ownerOf(rec.Model, g), g, known.Hold(g))...)
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.rank, b.rank)) })
	for _, p := range all {
		x.Steps = append(x.Steps, p.Step)
	}
	return x, nil
}

// placed is a step with its rank among those of the same moment: a lock that is free from some moment on can be granted
// in that moment.
type placed struct {
	operations.Step
	rank rank
}

type rank int

const (
	asks      rank = iota // an acquire begins
	gives                 // a hold ends
	takes                 // a grant is known
	concludes             // all else
)

// ownerOf is who holds a grant: its client, and where a lock tells the owners of one client apart, the owner as well.
func ownerOf(m history.Model, g *history.Grant) string {
	if m.Counts() && g.Owner != "" {
		return g.Client + "/" + g.Owner // clients may have owners of one name
	}
	return g.Client
}

// stepsOf are the steps of one grant, in order.
func stepsOf(process int, owner string, g *history.Grant, hold history.Interval) []placed {
	step := func(r rank, typ, f string, at int64) placed {
		return placed{operations.Step{Type: typ, F: f, Process: process, Key: g.Lock, Client: owner, Time: at}, r}
	}
	out := []placed{step(asks, operations.Invoke, "acquire", g.Acquire.Start())}
	switch {
	case g.Acquire.Outcome() == history.Fail:
		return append(out, step(concludes, operations.Fail, "acquire", g.Acquire.Return.Time))
	case !g.Granted():
		return append(out, step(concludes, operations.Info, "acquire", g.Acquire.Unanswered()))
	case hold.Empty():
		return append(out, step(concludes, operations.Info, "acquire", g.From()))
	}
	known := step(takes, operations.OK, "acquire", g.From())
	if t := g.Token(); t.Set {
		known.Fence = &t.V
	}
	out = append(out, known, step(gives, operations.Invoke, "release", hold.To))
	if r := released(g, hold.To); r != nil {
		return append(out, step(concludes, operations.OK, "release", r.Return.Time))
	}
	return append(out, step(concludes, operations.Info, "release", hold.To))
}

// released is the release that ended a hold and was answered, if one did.
func released(g *history.Grant, end int64) *history.Call {
	r, _ := lists.Find(g.Releases, func(r *history.Call) bool { return r.Start() == end && r.Outcome() == history.OK })
	return r
}
