// Package export makes of a record of ours a history of operations, for tools that know no leases.
//
//	history.Record -> beliefs.Hold -> acquire and release of each grant -> operations.WriteJepsen, WritePorcupine
//
// Each grant is a process of its own, and so is the end of a lease (a process below 0) that its holder had not learned
// of; the client is in the value. A hold that ended without a release, because its lease
// was over, its holder was told or died, becomes a release of unknown outcome at its end: from then on the lock may have
// been free. So a history that is exported is linearizable if no two clients held the lock at once and no release
// answered otherwise than a lock would.
package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/operations"
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
		return nil, fmt.Errorf("a lock of model %s cannot be exported: only exclusive and reentrant locks can", rec.Model.Kind)
	}
	known := facts.Of(rec)
	var all []placed
	for i, g := range rec.Grants {
		if g.Acquire != nil {
			all = append(all, stepsOf(i, g, known.Hold(g))...)
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
	passes                // a grant that is held for no time is known
	passed                // and ends
	takes                 // any other grant is known
	concludes             // all else
)

// stepsOf are the steps of one grant, in order.
func stepsOf(process int, g *history.Grant, hold history.Interval) []placed {
	base := operations.Step{Process: process, Key: g.Lock, Client: cmp.Or(g.Owner, g.Client)}
	step := func(r rank, typ, f string, at int64) placed {
		s := base
		s.Type, s.F, s.Time = typ, f, at
		return placed{s, r}
	}
	out := []placed{step(asks, operations.Invoke, "acquire", g.Acquire.Start())}
	switch {
	case g.Acquire.Outcome() == history.Fail:
		return append(out, step(concludes, operations.Fail, "acquire", g.Acquire.Return.Time))
	case !g.Granted():
		return append(out, step(concludes, operations.Info, "acquire", g.Acquire.Unanswered()))
	}
	begin, end := takes, gives
	at := hold.To
	switch {
	case at < g.From(): // its lease was over before its client knew of it: as if somebody else had freed it
		over := step(gives, operations.Invoke, "release", max(at, g.Acquire.Start()))
		over.Process = -1 - process
		unknown := over
		unknown.Type, unknown.rank = operations.Info, concludes
		return append(out, over, unknown, step(passes, operations.OK, "acquire", g.From()))
	case at == g.From():
		begin, end = passes, passed
	}
	known := step(begin, operations.OK, "acquire", g.From())
	if t := g.Token(); t.Set {
		known.Fence = t.V
	}
	out = append(out, known, step(end, operations.Invoke, "release", at))
	if r := released(g, at); r != nil {
		return append(out, step(concludes, operations.OK, "release", r.Return.Time))
	}
	return append(out, step(concludes, operations.Info, "release", at))
}

// released is the release that ended a hold and was answered, if one did.
func released(g *history.Grant, end int64) *history.Call {
	for _, r := range g.Releases {
		if r.Start() == end && r.Outcome() == history.OK {
			return r
		}
	}
	return nil
}
