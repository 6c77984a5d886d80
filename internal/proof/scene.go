package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// scene is a few events, put together.
type scene struct {
	*history.Record
	whole  bool // they are all events of a record: what is not among them did not happen
	digits int  // of seconds, in what is told; 0: three

	order []string // the longest that a lock allows, where it does not allow what was answered
	stuck string   // the first answer that cannot follow it
	began int64    // when the grant was known that was asked for last: then a violation by several begins
}

// read puts events together. They come in order, each once.
func read(events []history.Event) (*scene, error) {
	if len(events) == 0 || events[0].F() != history.FRun {
		return nil, errors.New("the first event of a proof must be the run event, which describes the run")
	}
	for i := range events[1:] {
		if events[i+1].Index <= events[i].Index || events[i+1].Time < events[i].Time {
			return nil, fmt.Errorf("the events of the proof are not in the order of the record: see event %d", events[i+1].Index)
		}
	}
	rec, err := history.Build(&history.History{Events: events})
	if err != nil {
		return nil, err
	}
	s := &scene{Record: rec}
	return s, s.fits()
}

// fits says what of the events does not belong together.
func (s *scene) fits() error {
	switch {
	case len(s.Mixed) > 0:
		return fmt.Errorf("all events of a grant must have the same client and the same lock, but event %d differs from the other "+
			"events of its grant", s.Mixed[0].Index)
	case len(s.Unpaired) > 0:
		return fmt.Errorf("event %d is an answer, but the proof does not contain its request", s.Unpaired[0].Index)
	}
	return nil
}

// built is a scene of events that are known to be in order, of a run that is known.
func built(run history.Run, events []history.Event) *scene {
	return &scene{Record: history.BuildRun(run, &history.History{Events: events})}
}

// before reports whether a grant was answered before another one, or at the same time and is earlier on record.
func (s *scene) before(a, b *history.Grant) bool {
	return cmp.Or(cmp.Compare(a.From(), b.From()), s.place(a)-s.place(b)) < 0
}

// askedFirst reports whether a grant was asked for before another one, or at the same time and is earlier on record.
func (s *scene) askedFirst(a, b *history.Grant) bool {
	return cmp.Or(cmp.Compare(a.Sent(), b.Sent()), s.place(a)-s.place(b)) < 0
}

// place is where a grant stands among those of its lock: the order of the first events of each.
func (s *scene) place(g *history.Grant) int { return slices.Index(s.ByLock[g.Lock], g) }
