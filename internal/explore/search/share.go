package search

import (
	"context"
	"slices"
	"time"
)

// Share is a corpus that several searches of one lock have in common. Where it cannot be reached, a search goes on with what it
// has.
type Share interface {
	// Others are the entries that other searches have added since the last call.
	Others(ctx context.Context) ([]*Entry, error)
	// Give offers others the entries of this search: all of them, in order.
	Give(ctx context.Context, mine []*Entry) error
}

// exchangeEach is how long a search goes on with what it has, and exchangeTime how long an exchange takes at most.
const (
	exchangeEach = 10 * time.Second
	exchangeTime = 5 * time.Second
)

// exchange learns what others have learnt, and tells them what this search has, if it is time.
func (w *searching) exchange(ctx context.Context, now bool) {
	if w.Share == nil {
		return
	}
	w.mu.Lock()
	due := now || time.Since(w.exchanged) >= exchangeEach
	if due {
		w.exchanged = time.Now()
	}
	mine := slices.DeleteFunc(slices.Clone(w.corpus.entries), func(e *Entry) bool { return e.foreign })
	w.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	others, err := w.Share.Others(ctx)
	if err == nil {
		err = w.Share.Give(ctx, mine)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.state.Unshared = err
	}
	for _, e := range others {
		if !w.Space.has(e.Genome) {
			continue
		}
		fresh, err := w.corpus.learn(Entry{
			Genome: e.Genome, Features: e.Features, Margin: e.Margin, Violated: e.Violated, foreign: true,
		})
		if err != nil {
			w.give(err)
			return
		}
		if fresh > 0 {
			w.state.Learnt++
		}
	}
}
