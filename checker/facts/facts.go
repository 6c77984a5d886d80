// Package facts lets you ask what a record shows, without a verdict: who held what and when, what waited for what,
// which releases freed another client's lock, when the host or a fault of ours held a party up, what the logs of registers show.
// It is small and read-only, and every check reads it. Your own check reads the record through [Facts].
//
//	history.History -> New -> Facts
package facts

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Facts are what a history shows. Expensive facts are computed lazily. Facts is safe for concurrent use.
type Facts struct {
	*history.Record
	Raw   *history.History
	Limit time.Duration // for each check that can take long

	Unplanned []Stall            // stalls that no fault caused
	holds     []history.Interval // by the grants' numbers
	lazy      lazily

	mu       sync.Mutex
	answered map[string][]*history.Grant   // by lock: see shown
	excuses  map[string][]history.Interval // see stallsOf
	acts     map[string][]int64            // see actsOf
	waits    map[string][]history.Interval // see waitsOf
}

// Registers of the protected resource.
const (
	RegPlain  = "plain"
	RegFenced = "fenced"
)

// Owner identifies the holder of a lock to a counting store.
type Owner struct{ client, name string }

// OwnerOf returns the holder of a grant, as a counting store sees it.
func OwnerOf(g *history.Grant) Owner { return Owner{g.Client, g.Owner} }

// New finds the facts of a history. It fails if the history does not say what was run.
func New(h *history.History) (*Facts, error) {
	rec, err := history.Build(h)
	if err != nil {
		return nil, err
	}
	in := Of(rec)
	in.Raw = h
	return in, nil
}

// Of returns the facts of a record, without the history that it was made from. They are computed once: later calls
// for the same record return the same Facts.
func Of(rec *history.Record) *Facts {
	return rec.Derived(func() any { return of(rec) }).(*Facts) //nolint:forcetypeassert // nobody else derives anything
}

func of(rec *history.Record) *Facts {
	in := &Facts{Record: rec, Limit: 10 * time.Second, holds: make([]history.Interval, len(rec.Grants))}
	for i, g := range rec.Grants {
		in.holds[i] = rec.Believed(g)
	}
	in.Unplanned = in.unplannedStalls()
	in.lazy = lazily{
		foreignReleases: sync.OnceValue(in.findForeignReleases),
		robbers:         sync.OnceValue(in.findRobbers),
		lateReleases:    sync.OnceValue(in.findLateReleases),
		wentOn:          sync.OnceValue(in.findWentOn),
		steps:           sync.OnceValue(in.findSteps),
		stands:          sync.OnceValue(in.findStands),
		asks:            sync.OnceValue(in.findAsks),
		loads:           sync.OnceValue(in.findLoads),
		losses:          sync.OnceValue(in.findLosses),
		clients:         sync.OnceValue(in.findClients),
		plain:           sync.OnceValue(func() replayed { return in.replay(RegPlain) }),
		fenced:          sync.OnceValue(func() replayed { return in.replay(RegFenced) }),
	}
	in.excuses, in.answered = map[string][]history.Interval{}, map[string][]*history.Grant{}
	return in
}

// lazily holds the expensive facts, each computed on first use, once.
type lazily struct {
	foreignReleases func() []ForeignRelease
	robbers         func() map[*history.Grant]ForeignRelease // by victim
	lateReleases    func() []ForeignRelease
	wentOn          func() map[*history.Grant]bool
	steps           func() []step
	stands, asks    func() map[string][]history.Interval // by client
	loads           func() []Load
	losses          func() map[[2]string]Loss
	clients         func() []string
	plain, fenced   func() replayed // of the two registers
}

// ForeignReleases returns the releases that freed the lock of another grant, in the order of their answers.
func (in *Facts) ForeignReleases() []ForeignRelease { return in.lazy.foreignReleases() }

// LateReleases returns the releases of grants whose lease had run out, or after which another client had been granted
// the lock; they name no victim.
func (in *Facts) LateReleases() []ForeignRelease { return in.lazy.lateReleases() }

// WentOn returns the grants that were used after their release was answered.
func (in *Facts) WentOn() map[*history.Grant]bool { return in.lazy.wentOn() }

// Steps returns the recorded steps of the wall clock, in order.
func (in *Facts) Steps() []step { return in.lazy.steps() }

// Stands returns, by client, the times for which we kept it at an armed point.
func (in *Facts) Stands() map[string][]history.Interval { return in.lazy.stands() }

// Clients returns all clients that began a log, sorted.
func (in *Facts) Clients() []string { return in.lazy.clients() }

func (in *Facts) findClients() []string {
	of := map[string]bool{}
	for i := range in.Events {
		if e := &in.Events[i]; e.Seq == 0 && history.ClientOf(e.Party()) != "" {
			of[e.Party()] = true
		}
	}
	return slices.Sorted(maps.Keys(of))
}

// Hold returns the proven hold of a grant: when its client certainly believed that it had the lock. It is empty for
// grants that were never certain.
func (in *Facts) Hold(g *history.Grant) history.Interval { return in.holds[g.Number] }
