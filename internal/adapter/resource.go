package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/backends"
)

// A store that is its own fence keeps the data beside the lock: data is read and written under a grant, and writes
// take effect with the release, or not at all.
var (
	_ backends.Resource = (*locker)(nil)
	_ backends.Access   = (*hold)(nil)
)

// Open finds the attempt that was granted.
func (l *locker) Open(_ context.Context, lock, _ string, info backends.Info) (backends.Access, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []int64
	for id, h := range l.holds {
		if h.req.Lock == lock && cmp.Or(h.info.Owner, h.req.Owner) == cmp.Or(info.Owner, h.req.Owner) && h.info.Sent == info.Sent {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w: the client does not hold lock %s", backends.ErrNotSent, lock)
	}
	return l.holds[slices.Max(ids)], nil
}

// Read reads a register of the store.
func (h *hold) Read(_ context.Context, register string) (int64, error) {
	a, err := h.ask(request{Op: opRead, Register: register})
	if err != nil {
		return 0, err
	}
	if a.Value == nil {
		return 0, h.l.broke(breach("the answer to \"read\" lacks \"value\""))
	}
	n, err := strconv.ParseInt(*a.Value, 10, 64)
	if err != nil {
		return 0, h.l.broke(breach("the answer to \"read\" has the value %q: it must be a whole number in a string", *a.Value))
	}
	return n, nil
}

// Write writes a register of the store.
func (h *hold) Write(_ context.Context, register string, base, value int64) error {
	_, err := h.ask(request{
		Op: opWrite, Register: register, Base: strconv.FormatInt(base, 10), Value: strconv.FormatInt(value, 10),
	})
	return err
}

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
