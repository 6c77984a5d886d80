package rueidislib

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis/tap"
	"github.com/lockstorm/lockstorm/points"
)

// attempt is one try of the library and what became of its keys.
type attempt struct {
	env   backends.Env
	req   backends.Request
	need  int   // keys that make a lock
	begun int64 // when the caller asked for the lock
	sent  int64
	named bool     // its value is known; guarded by the spy
	last  *attempt // the try before this one, of a call that waits; nil: none

	mu       sync.Mutex
	keys     map[string]*keyState
	done     func(backends.Renewal, error) // of the extension under way; nil: none
	began    int64                         // when that one left
	until    int64                         // the end that it asks for, on the run's clock
	granted  bool                          // the caller was told that it holds the lock
	gaveUp   bool                          // the library deletes a majority of the keys by itself
	waits    bool                          // the caller waits, and was told
	released chan struct{}
	once     sync.Once
}

type keyState struct {
	asked    int64 // the word of the acquire: an end, or a length
	end      int64 // Unix ms, as the library wants it
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

// reply is what came of a script: its number, its error, and what is certain of it by what was
// sent.
type reply struct {
	n    int64
	err  error
	fate tap.Fate
}

// before is called with a script on its way; what it returns takes the answer.
func (a *attempt) before(key string, end int64, deletes bool) (func(reply), error) {
	a.mu.Lock()
	k := a.keys[key]
	switch {
	case deletes && k != nil:
		return a.beforeDelete(k)
	case k == nil || (k.state == asked && k.asked == end):
		k = &keyState{asked: end, end: a.ends(end)}
		a.keys[key] = k
		a.mu.Unlock()
		return func(r reply) { a.acquired(k, r) }, nil
	case end > k.end+sameEnd:
		return a.beforeExtend(k, end)
	default: // an extension to the same end, after an invalidation
		a.mu.Unlock()
		return func(r reply) { a.confirmed(k, r) }, nil
	}
}

// sameEnd is how much later the library may count the end of a length that it asked for, in ms.
const sameEnd = 20

// ends is the end that an acquire asks for, in Unix ms, and makes the attempt's times those of the
// library: it has looked at its clock before its request came here.
func (a *attempt) ends(word int64) int64 {
	now, ttl := time.Now(), a.env.TTL
	if word < now.Add(-24*time.Hour).UnixMilli() { // FallbackSETPX: a length
		return now.Add(ttl).UnixMilli()
	}
	if len(a.keys) == 0 { // all keys of a try are given the same end
		a.sent = max(a.begun, min(a.sent, a.env.Now()-ago(word, ttl, now)))
	}
	return word
}

// ago is how long ago the library looked at its clock for an end that it asks for, in ns.
func ago(end int64, ttl time.Duration, now time.Time) int64 {
	return max(0, now.Add(ttl).Sub(time.UnixMilli(end)).Nanoseconds())
}

// beforeDelete tells, before the lock is lost by it, that the library gives it up by
// itself: after an error of an extension it deletes its keys. It is called with the attempt
// locked.
func (a *attempt) beforeDelete(k *keyState) (func(reply), error) {
	defer a.mu.Unlock()
	k.deleting = true
	done := func(error) {}
	if !a.isReleased() && !a.gaveUp && a.goneOrGoing() >= a.need {
		a.gaveUp = true
		if a.granted {
			recorded, err := a.req.Hooks.GivingUp(a.req.Owner, "after an error the library gives up the lock by itself")
			if err != nil {
				return nil, err
			}
			done = recorded
		}
	}
	return func(r reply) {
		a.freed(k, r)
		done(errors.New("it is unknown which of the lock's keys were deleted"))
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

// next is the try that a new value belongs to: this one, where it has none yet. It is called
// with the spy locked.
func (a *attempt) next() *attempt {
	if !a.named {
		a.named = true
		return a
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return &attempt{
		env: a.env, req: a.req, need: a.need, begun: a.begun, sent: a.env.Now(), named: true, last: a,
		keys: map[string]*keyState{}, waits: a.waits, released: make(chan struct{}),
	}
}

// maySucceed reports whether the lock may be ours by this try or by one before it.
func (a *attempt) maySucceed() bool {
	for ; a != nil; a = a.last {
		if a.mayHold() >= a.need {
			return true
		}
	}
	return false
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

// grant notes that the caller is told that it holds the lock, and says since when its lease counts;
// kept is false when the library has given it up already.
func (a *attempt) grant() (sent int64, kept bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted = true
	return a.sent, !a.gaveUp
}

// confirmed takes the answer to an extension that changes nothing.
func (a *attempt) confirmed(k *keyState, r reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.err == nil && r.n == 0 && k.state != deleted {
		k.state = foreign
	}
}

func (a *attempt) acquired(k *keyState, r reply) {
	a.mu.Lock()
	switch {
	case errors.Is(r.err, errNoScript):
	case r.err == nil:
		k.state, k.deadline = held, a.sent+a.env.TTL.Nanoseconds()
	case r.fate == tap.Refused:
		k.state = foreign
	case r.fate == tap.Unsent:
		k.state = unsent
	default: // also a refusal of the second time
		k.state = unheard
	}
	tell := k.state == foreign && !a.waits
	a.waits = a.waits || tell
	a.mu.Unlock()
	if tell {
		a.req.Reach(context.Background(), points.Waiting)
	}
}

// beforeExtend records an extension before its first request leaves. It is called with the
// attempt locked.
func (a *attempt) beforeExtend(k *keyState, end int64) (func(reply), error) {
	defer a.mu.Unlock()
	if a.done == nil {
		done, err := a.req.Hooks.Renewing(a.req.Owner)
		if err != nil {
			return nil, err
		}
		a.done, a.began = done, a.env.Now()
		a.until = a.began + a.env.TTL.Nanoseconds()
	}
	last, deadline := k.end, a.env.Now()+a.env.TTL.Nanoseconds()-ago(end, a.env.TTL, time.Now())
	a.until = min(a.until, deadline) // each key has its own, in the same breath
	k.end = end
	return func(r reply) {
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case errors.Is(r.err, errNoScript):
			k.end = last
			return
		case r.err != nil:
			k.state = unheard
		case r.n == 0:
			k.state = foreign
		default:
			k.deadline = deadline
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
	r := backends.Renewal{Sent: a.began, TTL: time.Duration(a.until - a.began), Deadline: a.until}
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
	case extended >= a.need:
		a.done(r, nil)
	case lost >= a.need:
		a.done(r, backends.ErrNotHeld)
	case lost+unknown >= a.need:
		a.done(r, errors.New("the request to extend the lock got no answer"))
	default:
		return
	}
	a.done = nil
}

func (a *attempt) freed(k *keyState, r reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case errors.Is(r.err, errNoScript), r.err != nil && r.fate == tap.Unsent:
	case r.err != nil && k.state != unsent:
		k.state = unheard
	case r.err != nil:
	case r.n == 0 && k.state == unheard && !a.granted: // the acquire may still be on its way
	case r.n == 0 && r.fate == tap.Lost: // ours or not, by the first time of asking: it is gone
		k.state = unheard
	case r.n == 0 && k.state != deleted:
		k.state = foreign
	case r.n != 0:
		k.state = deleted
	}
}

// stop ends the extension that is on record as under way when the lock is given back: what came
// of it is not known.
func (a *attempt) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done != nil {
		a.done(backends.Renewal{Sent: a.began, TTL: a.env.TTL}, errors.New("unknown outcome of the extension: the client released the lock before the server answered the extension"))
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
		return fmt.Errorf("%w: the library had already given up the lock", backends.ErrNotSent)
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
	case gone >= a.need:
		return nil
	case foreignKeys >= a.need:
		return backends.ErrNotHeld
	default:
		return fmt.Errorf("unknown outcome of the release (keys of the lock: %d, deleted: %d, owned by other clients: %d)", len(a.keys), gone, foreignKeys)
	}
}
