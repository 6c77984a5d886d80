package election

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

// Points of an election, at which a candidate may be paused.
const (
	pointTaking = "taking"
	pointTaken  = "taken"
	pointRenews = "renews"
	pointGives  = "gives"
)

var points = []lockstorm.Fields{
	{"name": pointTaking, "doc": "the candidate has found the Lease missing, free or ended, and is about to write its name into it"},
	{"name": pointTaken, "doc": "the candidate has written its name into the Lease, and its caller is not told yet"},
	{"name": pointRenews, "doc": "the leader is about to renew the Lease"},
	{"name": pointGives, "doc": "the leader is about to mark the Lease as free, and has read it for that where its client-go does so"},
}

// told is client-go's own lock of a Lease. It passes every call on, and tells lockstorm what that means for the lock.
type told struct {
	resourcelock.Interface
	program *lockstorm.Program
	attempt int64
	deaf    bool // a renewal that fails passes for one that did not: a bug that is planted

	mu          sync.Mutex
	holder      string // by what was read last, from the beginning of a release on
	sent        int64  // of the request that took the lock; 0: none did
	ttl         int64
	transitions int   // as of that request
	doubt       bool  // a request that could have taken it had no answer
	held        bool  // the caller was told that it holds the lock
	releasing   bool  // the caller gives it up
	asked       bool  // the release was sent
	given       error // of its release
}

func (l *told) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	rec, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.mu.Lock()
		l.holder = rec.HolderIdentity
		l.mu.Unlock()
	}
	return rec, raw, err
}

func (l *told) Create(ctx context.Context, rec resourcelock.LeaderElectionRecord) error {
	return l.change(rec, func() error { return l.Interface.Create(ctx, rec) })
}

func (l *told) Update(ctx context.Context, rec resourcelock.LeaderElectionRecord) error {
	return l.change(rec, func() error { return l.Interface.Update(ctx, rec) })
}

func (l *told) change(rec resourcelock.LeaderElectionRecord, write func() error) error {
	l.mu.Lock()
	held, releasing, first := l.held, l.releasing, l.sent == 0
	l.mu.Unlock()
	gives := rec.HolderIdentity == ""
	switch {
	case gives && releasing:
		l.program.Point(l.attempt, pointGives)
		err := write()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked, l.given = true, err
		return err
	case held && gives:
		l.program.Point(l.attempt, pointGives)
		n := l.program.Wait("giving-up", lockstorm.Fields{"hold": l.attempt})
		err := write()
		l.program.Tell("gave-up", n, failed(err))
		return err
	case held:
		l.program.Point(l.attempt, pointRenews)
		n := l.program.Wait("renewing", lockstorm.Fields{"hold": l.attempt})
		sent := lockstorm.Now()
		err := write()
		if err != nil && !l.deaf {
			l.program.Tell("renewed", n, failed(err))
			return err
		}
		ttl := length(rec)
		l.program.Tell("renewed", n, lockstorm.Fields{"sent": sent, "ttl_ns": ttl, "deadline": sent + ttl})
		return nil
	}
	if first && !gives {
		l.program.Point(l.attempt, pointTaking)
	}
	sent := lockstorm.Now()
	err := write()
	if first && !gives && err == nil {
		l.program.Point(l.attempt, pointTaken)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && !gives {
		l.sent, l.ttl, l.transitions = sent, length(rec), rec.LeaderTransitions
	}
	if l.deaf && l.sent != 0 { // the first renewal is under way before the caller is told that it leads
		return nil
	}
	l.doubt = l.doubt || err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err)
	return err
}

func length(rec resourcelock.LeaderElectionRecord) int64 {
	return int64(rec.LeaseDurationSeconds) * 1e9
}

// failed are the fields of a change that did not succeed, or of one that did. After a change of unknown outcome the next one may
// meet what that one wrote: a conflict does not say that somebody else has the lock.
func failed(err error) lockstorm.Fields {
	if err == nil {
		return lockstorm.Fields{}
	}
	return lockstorm.Fields{"failed": "error", "message": err.Error()}
}

// grant notes that the caller is told that it holds the lock, and is what lockstorm is told of it.
func (l *told) grant() lockstorm.Fields {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
	return lockstorm.Fields{
		"sent": l.sent, "ttl_ns": l.ttl, "deadline": l.sent + l.ttl, "token": strconv.Itoa(l.transitions + 1),
	}
}

func (l *told) uncertain() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doubt || l.sent != 0
}

func (l *told) isReleasing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.releasing
}

// release notes that the caller gives the lock up.
func (l *told) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releasing, l.holder = true, ""
}

// released returns the error of the release, once the election has ended.
func (l *told) released() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.asked:
		return l.given
	case l.holder != "" && l.holder != l.Identity():
		return fmt.Errorf("%w: the Lease names %s as the leader", lockstorm.ErrNotHeld, l.holder)
	}
	return errors.New("the library did not mark the Lease as free, so the lock stays held until its lease ends")
}
