package backends

import (
	"context"
	"time"
)

// Collector is a Locker in a language with a collector of garbage that can be made to run, and that stops the lock
// meanwhile.
type Collector interface {
	// Collect makes the collector run for so long, and returns when it has; the text is the proof.
	Collect(ctx context.Context, length time.Duration) (string, error)
}
