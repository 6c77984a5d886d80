package backends

import (
	"context"
	"time"
)

// Collector is a Locker in a language whose garbage collector can be run on demand and stops the lock meanwhile.
type Collector interface {
	// Collect runs the collector for length and returns when it is done; the text is the proof.
	Collect(ctx context.Context, length time.Duration) (string, error)
}
