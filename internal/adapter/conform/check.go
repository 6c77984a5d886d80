package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter"
	"github.com/lockstorm/lockstorm/internal/link"
)

// Target is an adapter, and what it is held against.
type Target struct {
	Argv    []string
	Hello   error             // why it did not say what it is, where it was asked before to find its servers
	Dir     string            // for locks in files
	Servers map[string]string // node -> host:port
	Nodes   []cluster.Ref
	TTL     time.Duration
	Seed    uint64
	Log     io.Writer // for what the adapter prints
}

// Result is what became of one rule.
type Result struct {
	Rule     string // what an adapter and its lock must do, in a sentence
	Broken   string // how they did not; empty: they did
	Lock     bool   // the answers keep the protocol, and what they say is wrong: it is the lock that breaks the rule
	Skipped  string // why it does not apply
	NotTried string // why it could not be checked: what it needs is broken
}

// Count is how many rules are broken by the adapter or by its lock, do not apply, and could not be checked.
func Count(all []Result) (adapter, lock, skipped, notTried int) {
	for _, r := range all {
		switch {
		case r.NotTried != "":
			notTried++
		case r.Skipped != "":
			skipped++
		case r.Broken == "":
		case r.Lock:
			lock++
		default:
			adapter++
		}
	}
	return adapter, lock, skipped, notTried
}

// Unchecked are what an adapter says of itself that only a run with faults can show.
func Unchecked(d adapter.Description) (out []string) {
	for _, one := range []struct {
		said bool
		what string
	}{
		{len(d.Signals) > 0, "notices of a loss"},
		{d.Renews, "renewals"},
		{d.Model.Session, "the end of a session"},
		{len(d.Points) > 0, "points"},
		{slices.Contains(d.Calls, "collect"), "the call collect"},
		{true, "answers while a server is down or cut off"},
	} {
		if one.said {
			out = append(out, one.what)
		}
	}
	return out
}

// first is the name of the first client.
const first = "c1"

// bench is two adapters of one lock, and what they have said.
type bench struct {
	t     Target
	about adapter.Description
	spec  backends.Spec
	clock history.Clock

	mu     sync.Mutex
	broke  []string
	owners int

	suffix string // of the names of locks
	shares bool   // a second client has got a held lock
	a, b   backends.Locker
	net    *link.Network // between them and the servers
}

// shared is a log that several adapters write to.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes one piece after the other.
func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(b)
}

// errSkip says why a rule does not apply.
type errSkip struct{ why string }

func (e errSkip) Error() string { return e.why }

func skip(format string, args ...any) error { return errSkip{fmt.Sprintf(format, args...)} }

// errLock is a mistake of the lock: the adapter has told what the lock did.
type errLock struct{ error }

// What a lock answers for certain; where a rule has no place for it, it is the lock's mistake.
var refusalsOfLock = []error{backends.ErrBusy, backends.ErrNotHeld, backends.ErrConflict}

func ofLock(format string, args ...any) error { return errLock{fmt.Errorf(format, args...)} }

// Check holds an adapter against every rule. After a broken one the others are checked with adapters that are started
// anew, but for those that make no sense without it.
func Check(ctx context.Context, t Target) (all []Result) {
	t.Log = &shared{to: t.Log}
	x := &bench{t: t, clock: history.NewClock(), net: link.New()}
	defer x.net.Close() //nolint:errcheck // nothing goes on
	defer x.end()
	missing := "" // why nothing can be checked any more
	for _, r := range rules {
		one := Result{Rule: r.text, NotTried: missing}
		if missing == "" && r.need == excludes && x.shares {
			one.NotTried = "the lock lets two in"
		}
		if one.NotTried == "" {
			x.hold(ctx, r, &one)
		}
		if one.Broken != "" {
			missing = x.anew(ctx, r)
		}
		all = append(all, one)
	}
	return all
}

// hold holds the adapter against one rule.
func (x *bench) hold(ctx context.Context, r rule, one *Result) {
	err := r.try(x, ctx)
	said := x.breaches()
	for again := 1; again < unheards && said == "" && errors.As(err, new(errUnheard)) && ctx.Err() == nil; again++ {
		x.suffix = fmt.Sprint("-again", again)
		err = r.try(x, ctx)
		said, x.suffix = x.breaches(), ""
	}
	var skipped errSkip
	switch {
	case said != "":
		one.Broken = said
	case errors.As(err, &skipped):
		one.Skipped = skipped.why
	case err != nil:
		refused := slices.ContainsFunc(refusalsOfLock, func(e error) bool { return errors.Is(err, e) })
		one.Broken, one.Lock = err.Error(), refused || errors.As(err, new(errLock))
	}
}

// anew starts both adapters again after a rule was broken, so that those after it are held against ones that are well.
// It says why that is of no use.
func (x *bench) anew(ctx context.Context, after rule) (missing string) {
	if after.need == needed {
		return "needs: " + after.text
	}
	if x.a == nil { // they are yet to be started
		return ""
	}
	x.end()
	x.breaches() // the broken one's end is not asked about
	err := x.opens(ctx)
	if said := x.breaches(); said != "" || err != nil {
		return fmt.Sprintf("it cannot be started again: %s", cmp.Or(said, fmt.Sprint(err)))
	}
	return ""
}

// breaches are those that were told since the last question.
func (x *bench) breaches() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	said := strings.Join(x.broke, "; ")
	x.broke = nil
	return said
}

// open starts one more adapter, behind links of its own.
func (x *bench) open(ctx context.Context, client string) (backends.Locker, error) {
	addrs := map[string]string{}
	for name, upstream := range x.t.Servers {
		x.net.Serve(name, "", upstream)
		addr, err := x.net.Between(cluster.Loopback, client, name, "")
		if err != nil {
			return nil, err
		}
		addrs[name] = addr
	}
	return x.spec.Open(ctx, backends.Env{
		Run: fmt.Sprintf("check-%x", x.t.Seed), Client: client, Nodes: x.t.Nodes, Dir: x.t.Dir, TTL: x.t.TTL, Retry: x.t.TTL / 50,
		Timeout: max(x.t.TTL, 500*time.Millisecond),
		Now:     x.clock.Now, ClockBase: x.clock.Base(), Rand: rand.New(rand.NewPCG(x.t.Seed, 1)),
		Addr: func(node string) string { return addrs[node] },
		Log:  x.t.Log,
		Session: backends.Session{
			Opened:   func(string, backends.Renewal) error { return nil },
			Renewing: func(string) (func(backends.Renewal, error), error) { return func(backends.Renewal, error) {}, nil },
			Lost:     func(string, string) {},
		},
		Breach: func(text string) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.broke = append(x.broke, text)
		},
	})
}

// keep keeps back what goes one way between the first client and the servers, until the function is called that it returns: it
// goes on then, or it is lost, and its connections are closed.
func (x *bench) keep(ctx context.Context, way link.Way, lose bool) (letGo func() error, err error) {
	var kept []*link.Applied
	for name := range x.t.Servers {
		a, held := x.net.Link(first, name).Hold(way)
		kept, err = append(kept, a), errors.Join(err, held)
	}
	return sync.OnceValue(func() (err error) {
		for name := range x.t.Servers {
			if lose {
				x.net.Link(first, name).Reset()
			}
		}
		for _, a := range kept {
			if mended := a.Remove(ctx); !errors.Is(mended, link.ErrReplaced) {
				err = errors.Join(err, mended)
			}
		}
		return err
	}), err
}

// end ends both adapters.
func (x *bench) end() {
	for _, l := range []backends.Locker{x.a, x.b} {
		if l != nil {
			l.Close() //nolint:errcheck // it may be broken: that was told
		}
	}
	x.a, x.b = nil, nil
}

// patience is how long something is waited for that is not to come. A time to live is much longer, so that no lease runs out on a
// busy host.
const patience = 300 * time.Millisecond

// request is one attempt, with an owner of its own.
func (x *bench) request(lock string) backends.Request {
	x.owners++
	return backends.Request{
		Lock: lock + x.suffix, Owner: fmt.Sprintf("check-%x-%d", x.t.Seed, x.owners), TTL: x.t.TTL,
		Hooks: backends.Hooks{
			Lost:     func(string, string) {},
			Renewing: func(string) (func(backends.Renewal, error), error) { return func(backends.Renewal, error) {}, nil },
			GivingUp: func(string, string) (func(error), error) { return func(error) {}, nil },
		},
	}
}

// try is one try of a lock that somebody else holds, or, of a lock that can only wait, a short wait.
func (x *bench) try(ctx context.Context, l backends.Locker, lock string) (backends.Lease, error) {
	return x.attempt(ctx, l, lock, patience)
}

// refusals is how often a free lock may be refused: portalocker's, for one, refuses it on a busy host, where its own subscription
// is not counted within 10 ms. That costs time, and is not unsafe.
const refusals = 3

// errUnheard is an acquire of unknown outcome: on a busy host a library may give up a request that has no answer yet, as
// rueidislock does after 20 ms. The lock may be held from then on, so that its rule is tried again with locks of other names.
type errUnheard struct{ error }

// unheards is how often a rule is tried.
const unheards = 5

func (e errUnheard) Unwrap() error { return e.error }

// take is a try of a free lock: what has nobody to wait for may be slow on a busy host.
func (x *bench) take(ctx context.Context, l backends.Locker, lock string) (lease backends.Lease, err error) {
	for range refusals {
		if lease, err = x.attempt(ctx, l, lock, answerLimit); !errors.Is(err, backends.ErrBusy) {
			break
		}
	}
	if outcome, _ := backends.Outcome(err); outcome == history.Info {
		return nil, errUnheard{err}
	}
	return lease, err
}

func (x *bench) attempt(ctx context.Context, l backends.Locker, lock string, limit time.Duration) (backends.Lease, error) {
	if x.spec.NoTry {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return x.ask(ctx, l, x.request(lock))
}

// ask tries once, or, with a lock that can only wait, waits.
func (x *bench) ask(ctx context.Context, l backends.Locker, req backends.Request) (backends.Lease, error) {
	if x.spec.NoTry {
		return l.Acquire(ctx, req)
	}
	return l.TryAcquire(ctx, req)
}

// acquired is the outcome of an attempt.
type acquired struct {
	lease backends.Lease
	err   error
}

// beside makes an attempt beside what goes on.
func beside(req backends.Request, acquire func(backends.Request) (backends.Lease, error)) <-chan acquired {
	got := make(chan acquired, 1)
	go func() {
		lease, err := acquire(req)
		got <- acquired{lease, err}
	}()
	return got
}

// within runs f, and says what where it takes longer than it may.
func within(d time.Duration, what string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return fmt.Errorf("%s took more than %v", what, d)
	}
}
