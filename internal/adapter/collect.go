package adapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/backends"
)

var _ backends.Collector = (*locker)(nil)

// collectLimit is how long an adapter may take beyond the pause itself: it needs garbage first.
const collectLimit = 30 * time.Second

// Collect has the adapter's garbage collector stop it for so long. Half of that must have been seen, between two moments of ours;
// the adapter's message says what its collector logged.
func (l *locker) Collect(_ context.Context, length time.Duration) (string, error) {
	if !l.clock {
		return "", errors.New("the description lacks \"clock\": \"monotonic\", by which collections are timed")
	}
	a := l.call(request{Op: opCollect, Length: length.Nanoseconds()}, length+collectLimit)
	switch {
	case a.err != nil:
		return "", l.broke(a.err)
	case a.Answer != ansOK:
		return "", fmt.Errorf("the adapter answered \"collect\" with %q, not \"ok\"%s", a.Answer,
			after(a.Message))
	case a.From == nil || a.To == nil || a.Message == "":
		return "", l.broke(breach("the answer to \"collect\" needs \"from\", \"to\" and \"message\""))
	}
	if err := errors.Join(l.within("from", *a.From, a.sent, a.at), l.within("to", *a.To, a.sent, a.at)); err != nil {
		return "", l.broke(err)
	}
	took := time.Duration(*a.To - *a.From)
	if took < length/2 {
		return "", fmt.Errorf("the collection took %v, not %v: %s",
			took.Round(time.Millisecond), length, a.Message)
	}
	return fmt.Sprintf("for %v (%s)", took.Round(time.Millisecond), a.Message), nil
}
