package redislibs

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/rueidis"

	"github.com/lockstorm/lockstorm/backends"
)

// attempt is one try of the library and what became of its keys.
type attempt struct {
	env   backends.Env
	req   backends.Request
	sent  int64
	named bool // its value is known; guarded by the spy

	mu       sync.Mutex
	keys     map[string]*keyState
	done     func(backends.Renewal, error) // of the extension under way; nil: none
	began    int64                         // when that one left
	stopped  bool
	granted  bool // the caller was told that it holds the lock
	gaveUp   bool // the library deletes a majority of the keys by itself
	busy     sync.WaitGroup
	released chan struct{}
	once     sync.Once
}

type keyState struct {
	end      int64 // ms, as the library wants it
	deleting bool  // its deletion was asked for
	deadline int64 // on the run's clock, confirmed
	state    fate
}

// fate is what is known of a key.
type fate int

const (
	asked   fate = iota // the acquire is under way
	held                // it was set or extended
	deleted             // it was deleted as ours
	foreign             // the server says it is not ours
	unheard             // no answer to the last request
	unsent              // the acquire never left: it is certainly not ours
)

// before is called with a script on its way; what it returns takes the answer.
func (a *attempt) before(ctx context.Context, key string, end int64, deletes bool) (func(int64, error), error) {
	a.mu.Lock()
	k := a.keys[key]
	switch {
	case deletes && k != nil:
		return a.beforeDelete(k)
	case k == nil || (k.state == asked && k.end == end):
		k = &keyState{end: end}
		a.keys[key] = k
		a.mu.Unlock()
		return func(_ int64, err error) { a.acquired(k, err) }, nil
	case end > k.end:
		return a.beforeExtend(ctx, k, end)
	default: // an extension to the same end, after an invalidation
		a.mu.Unlock()
		return func(n int64, err error) { a.confirmed(k, n, err) }, nil
	}
}

// beforeDelete tells, before the lock is lost by it, that the library gives it up by
// itself: after an error of an extension it deletes its keys. It is called with the attempt
// locked.
func (a *attempt) beforeDelete(k *keyState) (func(int64, error), error) {
	defer a.mu.Unlock()
	k.deleting = true
	done := func(error) {}
	if !a.isReleased() && !a.gaveUp && a.goneOrGoing() >= rueidisMajority {
		a.gaveUp = true
		if a.granted {
			recorded, err := a.req.Hooks.GivingUp(a.req.Owner, "the library gives the lock up after an error")
			if err != nil {
				return nil, err
			}
			done = recorded
		}
	}
	return func(n int64, err error) {
		a.freed(k, n, err)
		done(errors.New("what became of all keys is not known"))
	}, nil
}

// goneOrGoing counts the keys that are not ours any more or will not be.
func (a *attempt) goneOrGoing() (n int) {
	for _, k := range a.keys {
		if k.deleting || k.state == deleted || k.state == foreign || k.state == unsent {
			n++
		}
	}
	return n
}

// mayHold counts the keys that may be ours.
func (a *attempt) mayHold() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.keys {
		if k.state == asked || k.state == held || k.state == unheard {
			n++
		}
	}
	return n
}

// refused reports whether the server said of a key that somebody else has it.
func (a *attempt) refused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.keys {
		if k.state == foreign {
			return true
		}
	}
	return false
}

// grant notes that the caller is told that it holds the lock; false when the library has
// given it up already.
func (a *attempt) grant() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted = true
	return !a.gaveUp
}

// confirmed takes the answer to an extension that changes nothing.
func (a *attempt) confirmed(k *keyState, n int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && n == 0 && k.state != deleted {
		k.state = foreign
	}
}

func (a *attempt) acquired(k *keyState, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case errors.Is(err, errNoScript):
	case rueidis.IsRedisNil(err):
		k.state = foreign
	case err == nil:
		k.state, k.deadline = held, a.sent+a.env.TTL.Nanoseconds()
	case errors.Is(err, backends.ErrNotSent):
		k.state = unsent
	default:
		k.state = unheard
	}
}

// beforeExtend records an extension before its first request leaves. It is called with the
// attempt locked.
func (a *attempt) beforeExtend(ctx context.Context, k *keyState, end int64) (func(int64, error), error) {
	if a.stopped {
		a.mu.Unlock()
		select { // nothing is extended between the end of the renewals and the release
		case <-a.released:
		case <-ctx.Done():
		}
		return nil, context.Canceled
	}
	defer a.mu.Unlock()
	if a.done == nil {
		done, err := a.req.Hooks.Renewing(a.req.Owner)
		if err != nil {
			return nil, err
		}
		a.done, a.began = done, a.env.Now()
	}
	began, last := a.began, k.end
	k.end = end
	a.busy.Add(1)
	return func(n int64, err error) {
		defer a.busy.Done()
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case errors.Is(err, errNoScript):
			k.end = last
			return
		case err != nil:
			k.state = unheard
		case n == 0:
			k.state = foreign
		default:
			k.deadline = began + a.env.TTL.Nanoseconds()
		}
		a.conclude()
	}, nil
}

// conclude ends the extension under way once its outcome is certain: a majority of the
// keys was extended, or cannot be any more.
func (a *attempt) conclude() {
	if a.done == nil {
		return
	}
	r := backends.Renewal{Sent: a.began, TTL: a.env.TTL, Deadline: a.began + a.env.TTL.Nanoseconds()}
	extended, lost, unknown := 0, 0, 0
	for _, k := range a.keys {
		switch {
		case k.deadline >= r.Deadline:
			extended++
		case k.state == foreign || k.state == deleted || k.state == unsent:
			lost++
		case k.state == unheard:
			unknown++
		}
	}
	switch {
	case extended >= rueidisMajority:
		a.done(r, nil)
	case lost >= rueidisMajority:
		a.done(r, backends.ErrNotHeld)
	case lost+unknown >= rueidisMajority:
		a.done(r, errors.New("no answer to the extension"))
	default:
		return
	}
	a.done = nil
}

func (a *attempt) freed(k *keyState, n int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case errors.Is(err, errNoScript), errors.Is(err, backends.ErrNotSent):
	case err != nil && k.state != unsent:
		k.state = unheard
	case err != nil:
	case n == 0 && k.state == unheard && !a.granted: // the acquire may still be on its way
	case n == 0 && k.state != deleted:
		k.state = foreign
	case n != 0:
		k.state = deleted
	}
}

// stop waits for the extension under way and lets no other one out.
func (a *attempt) stop() {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	a.busy.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done != nil { // the majority was not asked any more
		a.done(backends.Renewal{Sent: a.began, TTL: a.env.TTL}, errors.New("the extension was not completed"))
		a.done = nil
	}
}

func (a *attempt) giveBack() { a.once.Do(func() { close(a.released) }) }

func (a *attempt) givenBack() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isReleased()
}

func (a *attempt) isReleased() bool {
	select {
	case <-a.released:
		return true
	default:
		return false
	}
}

// outcome is what the release amounts to, by the answers to the deletions. After the
// library has given the lock up, a release of its caller sends nothing.
func (a *attempt) outcome() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gaveUp {
		return fmt.Errorf("%w: the library had given the lock up already", backends.ErrNotSent)
	}
	gone, foreignKeys := 0, 0
	for _, k := range a.keys {
		switch k.state {
		case deleted:
			gone++
		case foreign:
			foreignKeys++
		}
	}
	switch {
	case gone >= rueidisMajority:
		return nil
	case foreignKeys >= rueidisMajority:
		return backends.ErrNotHeld
	default:
		return fmt.Errorf("%d of %d keys were deleted, %d were not ours", gone, len(a.keys), foreignKeys)
	}
}
