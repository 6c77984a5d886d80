package harness

import (
	"context"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

const (
	lookEvery = 500 * time.Millisecond
	lookShare = 20 // of the time is spent on looking, at most
)

// endEarly ends the work of a run once its record shows enough. The work does not wait for a look: one that ends later counts
// for nothing.
func (s *session) endEarly(ctx context.Context, begun int64, end func()) {
	for wait := lookEvery; nemesis.Wait(ctx, wait); {
		began, seen := time.Now(), make(chan *checker.Results, 1)
		go func() {
			r, err := s.soFar()
			if err != nil {
				r = nil // it was of logs that are only half there; the whole record is judged in any case
			}
			seen <- r
		}()
		select {
		case <-ctx.Done():
			return
		case r := <-seen:
			if r != nil && ctx.Err() == nil && s.r.Enough(r) {
				s.worked = time.Duration(s.clock.Now() - begun)
				end()
				return
			}
		}
		wait = max(lookEvery, lookShare*time.Since(began))
	}
}

// soFar judges what is recorded until now. Logs are read one after the other: what an earlier one does not have yet,
// a later one must not show.
func (s *session) soFar() (*checker.Results, error) {
	now := s.clock.Now()
	h, err := history.MergeDir(s.dir)
	if err != nil {
		return nil, err
	}
	h.Events = slices.DeleteFunc(h.Events, func(e history.Event) bool { return e.Time > now })
	in, err := checker.NewInput(h)
	if err != nil {
		return nil, err
	}
	return checker.Judge(in, s.r.cat.Checks), nil
}
