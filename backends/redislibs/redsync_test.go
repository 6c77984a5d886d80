package redislibs

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockstorm/lockstorm/backends"
)

// What five nodes say, as redsync joins it, and what it amounts to.
func TestTally(t *testing.T) {
	notSent := func(n int) error {
		return &redsync.RedisError{Node: n, Err: fmt.Errorf("dial: %w", backends.ErrNotSent)}
	}
	lost := func(n int) error { return &redsync.RedisError{Node: n, Err: errors.New("EOF")} }
	taken := func(n int) error { return &redsync.ErrNodeTaken{Node: n} }
	join := func(errs ...error) (all error) {
		for _, e := range errs { // as redsync does: one into the other
			all = errors.Join(all, e)
		}
		return all
	}
	for name, c := range map[string]struct {
		err              error
		refused, notHeld bool
	}{
		"taken by a majority":         {&redsync.ErrTaken{Nodes: []int{0, 1, 2}}, true, true},
		"two said no, two are dead":   {join(taken(0), notSent(1), taken(2), notSent(3)), true, false},
		"all are dead":                {join(notSent(0), notSent(1), notSent(2), notSent(3), notSent(4)), true, false},
		"three answers were lost":     {join(lost(0), lost(1), lost(2)), false, false},
		"two no, one answer was lost": {join(taken(0), taken(1), lost(2)), false, false},
		"expired everywhere":          {join(redsync.ErrLockAlreadyExpired, redsync.ErrLockAlreadyExpired, redsync.ErrLockAlreadyExpired), true, true},
		"too late":                    {redsync.ErrFailed, false, false},
		"no error":                    {nil, false, false},
	} {
		r := &redsyncLock{nodes: 5}
		if got := r.refused(c.err); got != c.refused {
			t.Errorf("%s: refused %v", name, got)
		}
		if got := r.notHeld(c.err); got != c.notHeld {
			t.Errorf("%s: not held %v", name, got)
		}
	}
}
