package watch

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

const (
	clockTick = 100 * time.Millisecond
	clockStep = int64(time.Millisecond) // a smaller move of the wall clock is slewing
)

// WallClock records when the wall clock moves against the monotonic one.
func WallClock(rec *history.Recorder) func() error {
	return every(clockTick, steps(rec, history.WallOffset))
}

// steps compares the wall clock's offset with that of the last step.
func steps(rec *history.Recorder, offset func() int64) func() error {
	last := offset()
	return func() error {
		now := offset()
		step := now - last
		if max(step, -step) < clockStep {
			return nil // keep last: a slow drift adds up and shows
		}
		last = now
		return rec.Notice(history.Line{F: history.FClock, Value: history.ValueOf(history.ClockStep{Step: step})})
	}
}
