package watch

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

const stallTick = 5 * time.Millisecond

// Stalls records when a ticker of this process comes late by more than limit: the
// process, or the whole host, was held up. Each lasts for a tick and the limit at least, so
// there are never more than some hundred a second. The function that it returns ends it.
func Stalls(rec *history.Recorder, limit time.Duration) func() error {
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
