package watch

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Stalls records when a ticker of this process comes late by more than limit, which is its period as well: the
// process, or the whole host, was held up. Each lasts for twice the limit at least, so
// there are never more than some hundred a second. The function that it returns ends it.
func Stalls(rec *history.Recorder, limit time.Duration) func() error {
	return every(limit, func() func() error {
		last := rec.Clock().Now()
		return func() error {
			now := rec.Clock().Now()
			late := now - last - limit.Nanoseconds()
			last = now
			if late <= limit.Nanoseconds() {
				return nil
			}
			return rec.Notice(history.Line{
				F: history.FStall, Client: history.ClientOf(rec.Party()), Value: history.ValueOf(history.Stall{Late: late}),
			})
		}
	}())
}
