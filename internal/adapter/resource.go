package adapter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

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
	a := h.ask(request{Op: opRead, Hold: h.id, Register: register})
	if a.err != nil {
		return 0, a.err
	}
	if err := definite(a.Answer, a.Message); err != nil {
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
	a := h.ask(request{
		Op: opWrite, Hold: h.id, Register: register, Base: strconv.FormatInt(base, 10),
		Value: strconv.FormatInt(value, 10),
	})
	if a.err != nil {
		return a.err
	}
	return definite(a.Answer, a.Message)
}
