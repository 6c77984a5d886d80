package checker

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Input is a history prepared for the checks, which only read it.
type Input struct {
	*history.Record
	Raw   *history.History
	Limit time.Duration // for each check that can take long

	stalls          []stall // unplanned ones
	holds           map[*history.Grant]history.Interval
	foreignReleases func() []foreignRelease                  // computed once
	robbers         func() map[*history.Grant]foreignRelease // by victim; computed once
	tooLate         func() []foreignRelease                  // late releases that were carried out, without a victim; computed once
	wentOn          func() map[*history.Grant]bool           // used after their release was answered; computed once
	steps           func() []step                            // of the wall clock; computed once
	stands          func() map[string][]history.Interval     // by client: how long we kept it; computed once
	plain, fenced   func() replayed                          // of the two registers; computed once
	losses          func() map[[2]string]int64               // by writer and who lost an update to it; computed once
	clients         func() []string                          // whoever began a log, sorted; computed once

	mu       sync.Mutex
	answered map[string][]*history.Grant   // by lock: see shown
	excuses  map[string][]history.Interval // see stallsOf
	acts     map[string][]int64            // see actsOf
	waits    map[string][]history.Interval // see waitsOf
}

// NewInput prepares a history. It fails where the history does not even say what was
// run.
func NewInput(h *history.History) (*Input, error) {
	rec, err := history.Build(h)
	if err != nil {
		return nil, err
	}
	in := &Input{
		Record: rec, Raw: h, Limit: 10 * time.Second,
		holds: make(map[*history.Grant]history.Interval, len(rec.Grants)),
	}
	in.stalls = in.unplannedStalls()
	in.foreignReleases = sync.OnceValue(in.findForeignReleases)
	in.robbers = sync.OnceValue(in.findRobbers)
	in.tooLate = sync.OnceValue(in.findLateReleases)
	in.wentOn = sync.OnceValue(in.findWentOn)
	in.steps = sync.OnceValue(in.findSteps)
	in.stands = sync.OnceValue(in.findStands)
	in.plain = sync.OnceValue(func() replayed { return in.replay(regPlain) })
	in.fenced = sync.OnceValue(func() replayed { return in.replay(regFenced) })
	in.losses = sync.OnceValue(in.findLosses)
	in.clients = sync.OnceValue(in.findClients)
	in.excuses, in.answered = map[string][]history.Interval{}, map[string][]*history.Grant{}
	return in, nil
}

func (in *Input) findClients() []string {
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
func (in *Input) Hold(g *history.Grant) history.Interval {
	h, ok := in.holds[g]
	if !ok {
		h = in.ProvenHold(g)
		in.holds[g] = h
	}
	return h
}
