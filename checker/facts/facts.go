// Package facts tells what a record shows, without a verdict: who held what and when, what waited for what,
// which releases freed the lock of somebody else, when the host or a fault of ours held somebody up, what the
// logs of registers show. It is small, it is read only, and every check reads it. A check of your own reads the
// record through [Facts].
//
//	history.History -> New -> Facts
package facts

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/beliefs"
)

// Facts are what a history shows. What is dear to find is found when it is first asked for; all may ask at once, once Hold was
// asked of every grant.
type Facts struct {
	*history.Record
	Raw   *history.History
	Limit time.Duration // for each check that can take long

	Unplanned []Stall // unplanned ones
	holds     map[*history.Grant]history.Interval
	lazy      lazily

	mu       sync.Mutex
	answered map[string][]*history.Grant   // by lock: see shown
	excuses  map[string][]history.Interval // see stallsOf
	acts     map[string][]int64            // see actsOf
	waits    map[string][]history.Interval // see waitsOf

	holding sync.Mutex // of holds
}

// New finds the facts of a history. It fails where the history does not even say what was run.
func New(h *history.History) (*Facts, error) {
	rec, err := history.Build(h)
	if err != nil {
		return nil, err
	}
	in := Of(rec)
	in.Raw = h
	return in, nil
}

// Of are the facts of a record, without the history that it was made from. They are found once: whoever asks for those
// of the same record later gets the same.
func Of(rec *history.Record) *Facts {
	return rec.Derived(func() any { return of(rec) }).(*Facts) //nolint:forcetypeassert // nobody else derives anything
}

func of(rec *history.Record) *Facts {
	in := &Facts{Record: rec, Limit: 10 * time.Second, holds: make(map[*history.Grant]history.Interval, len(rec.Grants))}
	in.Unplanned = in.unplannedStalls()
	in.lazy = lazily{
		foreignReleases: sync.OnceValue(in.findForeignReleases),
		robbers:         sync.OnceValue(in.findRobbers),
		lateReleases:    sync.OnceValue(in.findLateReleases),
		wentOn:          sync.OnceValue(in.findWentOn),
		steps:           sync.OnceValue(in.findSteps),
		stands:          sync.OnceValue(in.findStands),
		losses:          sync.OnceValue(in.findLosses),
		clients:         sync.OnceValue(in.findClients),
		plain:           sync.OnceValue(func() replayed { return in.replay(RegPlain) }),
		fenced:          sync.OnceValue(func() replayed { return in.replay(RegFenced) }),
	}
	in.excuses, in.answered = map[string][]history.Interval{}, map[string][]*history.Grant{}
	return in
}

// lazily is what is found when it is first asked for, once.
type lazily struct {
	foreignReleases func() []ForeignRelease
	robbers         func() map[*history.Grant]ForeignRelease // by victim
	lateReleases    func() []ForeignRelease
	wentOn          func() map[*history.Grant]bool
	steps           func() []step
	stands          func() map[string][]history.Interval
	losses          func() map[[2]string]Loss
	clients         func() []string
	plain, fenced   func() replayed // of the two registers
}

// ForeignReleases are the releases that freed the lock of another grant, in the order of their answers.
func (in *Facts) ForeignReleases() []ForeignRelease { return in.lazy.foreignReleases() }

// LateReleases are the releases of grants whose lease had run out, or after which another client had been granted the lock; they
// name no victim.
func (in *Facts) LateReleases() []ForeignRelease { return in.lazy.lateReleases() }

// WentOn are the grants that were used after their release was answered.
func (in *Facts) WentOn() map[*history.Grant]bool { return in.lazy.wentOn() }

// Steps are the steps of the wall clock on record, in order.
func (in *Facts) Steps() []step { return in.lazy.steps() }

// Stands are the times, by client, for which we kept it at an armed point.
func (in *Facts) Stands() map[string][]history.Interval { return in.lazy.stands() }

// Clients are all that began a log, sorted.
func (in *Facts) Clients() []string { return in.lazy.clients() }

func (in *Facts) findClients() []string {
	of := map[string]bool{}
	for i := range in.Events {
		if e := &in.Events[i]; e.Seq == 0 && history.ClientOf(e.Party) != "" {
			of[e.Party] = true
		}
	}
	return slices.Sorted(maps.Keys(of))
}

// Hold is the proven hold of a grant: when its client certainly believed that it had the
// lock. Empty for grants that were never certain.
func (in *Facts) Hold(g *history.Grant) history.Interval {
	in.holding.Lock()
	defer in.holding.Unlock()
	h, ok := in.holds[g]
	if !ok {
		h = beliefs.Hold(in.Record, g)
		in.holds[g] = h
	}
	return h
}
