package harness

import (
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

const (
	stallTick = 5 * time.Millisecond
	clockTick = 100 * time.Millisecond
	clockStep = int64(time.Millisecond) // a smaller move of the wall clock is slewing
)

// watchStalls records when a ticker of this process comes late by more than limit: the
// process, or the whole host, was held up. The function that it returns ends it.
func watchStalls(rec *history.Recorder, limit time.Duration) func() error {
	return every(stallTick, func() func() error {
		last := rec.Clock().Now()
		return func() error {
			now := rec.Clock().Now()
			late := now - last - stallTick.Nanoseconds()
			last = now
			if late <= limit.Nanoseconds() {
				return nil
			}
			return rec.Notice(history.Event{
				F: history.FStall, Client: history.ClientOf(rec.Party()), Value: history.ValueOf(history.Stall{Late: late}),
			})
		}
	}())
}

// watchClock records when the wall clock moves against the monotonic one.
func watchClock(rec *history.Recorder) func() error {
	return every(clockTick, func() func() error {
		last := history.WallOffset()
		return func() error {
			now := history.WallOffset()
			step := now - last
			if max(step, -step) < clockStep {
				return nil // keep last: a slow drift adds up and shows
			}
			last = now
			return rec.Notice(history.Event{F: history.FClock, Value: history.ValueOf(history.ClockStep{Step: step})})
		}
	}())
}

// every calls f until the returned function is called, which waits for its end and
// returns its first error; after an error f is not called again.
func every(period time.Duration, f func() error) func() error {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var err error
	wg.Go(func() {
		t := time.NewTicker(period)
		defer t.Stop()
		for {
			select {
			case <-stop:
				err = f() // what came since the last tick
				return
			case <-t.C:
				if err = f(); err != nil {
					return
				}
			}
		}
	})
	return func() error {
		close(stop)
		wg.Wait()
		return err
	}
}
