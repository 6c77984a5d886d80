package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter"
	"github.com/lockstorm/lockstorm/internal/link"
)

// rule is one that adapters and their locks keep.
type rule struct {
	text string
	need need
	try  func(x *bench, ctx context.Context) error
}

// need is what a rule has to do with others.
type need int

const (
	alone    need = iota
	needed        // those after it make no sense without it
	excludes      // it makes no sense where a second client gets a held lock
)

// answerLimit is how long what nobody keeps back may take.
const answerLimit = 5 * time.Second

var rules = []rule{
	{"\"hello\" is answered with a valid description", needed, (*bench).describes},
	{"\"open\" is answered; times come from CLOCK_MONOTONIC, if the description says so", needed, (*bench).opens},
	{"an unknown request is answered \"unsupported\", and unknown fields are ignored", alone, (*bench).unknown},
	{"two clients see each other alive", alone, (*bench).seesOther},
	{"a free lock is granted", needed, (*bench).free},
	{"a held lock is not granted to another client", alone, (*bench).exclusive},
	{"a waiting client gets the lock when the holder releases it", excludes, (*bench).handsOver},
	{"fencing tokens grow", alone, (*bench).tokens},
	{"a cancelled acquire stops waiting", excludes, (*bench).cancels},
	{"the second release of a grant is not answered \"ok\"", alone, (*bench).releasesOnce},
	{"a client that holds two locks and releases one keeps the other", excludes, (*bench).keeps},
	{"\"extend\" and \"ask\" are answered correctly", alone, (*bench).calls},
	{"a client reads what the previous holder wrote", alone, (*bench).settles},
	{"nothing is granted before the store has answered", alone, (*bench).early},
	{"\"not-sent\" means that nothing was sent to the store", alone, (*bench).notSent},
	{"the adapter exits when its pipe closes, and releases nothing", alone, (*bench).ends},
}

func (x *bench) describes(context.Context) (err error) {
	if x.t.Hello != nil { // without its topology it would be opened without servers
		return x.t.Hello
	}
	if x.about, err = adapter.Describe(x.t.Argv); err != nil {
		return err
	}
	x.spec, err = adapter.SpecOf(x.about, x.t.Argv)
	return err
}

func (x *bench) unknown(context.Context) error { return adapter.Probe(x.a) }

func (x *bench) opens(ctx context.Context) (err error) {
	if x.a, err = x.open(ctx, first); err != nil {
		return err
	}
	x.b, err = x.open(ctx, "c2")
	return err
}

// free takes a lock and gives it back.
func (x *bench) free(ctx context.Context) error {
	lease, err := x.take(ctx, x.a, "free")
	if err != nil {
		return fmt.Errorf("answer \"granted\" to a try of a free lock: %w", err)
	}
	return released(ctx, lease)
}

func released(ctx context.Context, held backends.Lease) error {
	if err := held.Release(ctx); err != nil {
		return fmt.Errorf("answer \"ok\" to the holder's release: %w", err)
	}
	return nil
}

func (x *bench) exclusive(ctx context.Context) error {
	if !x.about.Model.Locks() {
		return skip("model %s allows several holders", x.about.Model.Kind)
	}
	held, err := x.take(ctx, x.a, "exclusive")
	if err != nil {
		return err
	}
	granted := time.Now()
	for tries := 0; tries < 3 && time.Since(granted) < x.t.TTL/2; tries++ { // a library's own wait may last as long as the lease
		if lease, err := x.try(ctx, x.b, "exclusive"); err == nil {
			x.shares = true
			return errLock{errors.Join(errors.New("c2 got the lock while c1 held it"), lease.Release(ctx))}
		} else if outcome, _ := backends.Outcome(err); !errors.Is(err, backends.ErrBusy) {
			err = fmt.Errorf("answer \"busy\" to a try of a held lock: %w", err)
			if outcome == history.Info {
				return errors.Join(errUnheard{err}, held.Release(ctx))
			}
			return err
		}
	}
	if err := held.Release(ctx); !errors.Is(err, backends.ErrNotHeld) || time.Since(granted) < x.t.TTL {
		return err
	}
	return nil
}

func (x *bench) handsOver(ctx context.Context) error {
	held, err := x.take(ctx, x.a, "over")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit+x.t.TTL)
	defer cancel()
	got := beside(x.request("over"), func(req backends.Request) (backends.Lease, error) { return x.b.Acquire(ctx, req) })
	select {
	case a := <-got:
		if a.err == nil {
			return ofLock("the waiting c2 got the lock while c1 held it")
		}
		return fmt.Errorf("let an acquire wait until the lock is released: %v",
			a.err) //nolint:errorlint // a refusal is no mistake of the lock here
	case <-time.After(patience):
	}
	if err := released(ctx, held); err != nil {
		return err
	}
	a := <-got
	if a.err != nil {
		return fmt.Errorf("grant a released lock to the client that waits: %w", a.err)
	}
	return a.lease.Release(ctx)
}

func (x *bench) tokens(ctx context.Context) error {
	if !x.about.Tokens {
		return skip("no fencing tokens")
	}
	var last int64
	for i := range 5 {
		l := []backends.Locker{x.a, x.b}[i%2]
		lease, err := x.take(ctx, l, "tokens")
		if err != nil {
			return err
		}
		if now := lease.Info().Token; i > 0 && now <= last {
			return ofLock("after token %d came %d: each must be larger", last, now)
		} else {
			last = now
		}
		if err := lease.Release(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (x *bench) cancels(ctx context.Context) error {
	held, err := x.take(ctx, x.a, "cancel")
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = within(answerLimit, "the answer to a cancelled acquire", func() error {
		lease, err := x.b.Acquire(short, x.request("cancel"))
		if err == nil {
			return errLock{errors.Join(errors.New("a cancelled acquire of c2 got the lock while c1 held it"), lease.Release(ctx))}
		}
		return nil
	})
	return errors.Join(err, held.Release(ctx))
}

func (x *bench) releasesOnce(ctx context.Context) error {
	lease, err := x.take(ctx, x.a, "once")
	if err != nil {
		return err
	}
	if err := lease.Release(ctx); err != nil {
		return err
	}
	if lease.Release(ctx) == nil {
		return ofLock("it said \"ok\" again: delete only what is still the owner's")
	}
	return nil
}

// keeps holds two locks in one client. A client may, even of one lock: what answers after lockstorm has given it up is released
// when the next grant is already held.
func (x *bench) keeps(ctx context.Context) error {
	if !x.about.Model.Locks() {
		return skip("model %s allows several holders", x.about.Model.Kind)
	}
	first, err := x.take(ctx, x.a, "keeps-first")
	if err != nil {
		return err
	}
	other, err := x.take(ctx, x.a, "keeps-other")
	switch {
	case errors.As(err, new(errUnheard)): // it is tried again
		return errors.Join(err, first.Release(ctx))
	case err != nil:
		return cmp.Or(first.Release(ctx), skip("a client gets only one lock: %v", err))
	}
	if err := first.Release(ctx); err != nil { // as where a lock is held for the time of a function: then the inner one ends first
		return cmp.Or(other.Release(ctx), skip("the first of two locks cannot be released first: %v", err))
	}
	lease, err := x.try(ctx, x.b, "keeps-other")
	switch over := x.spec.Ends == history.EndsLease && x.clock.Now() >= other.Info().Deadline; {
	case over && err == nil:
		return lease.Release(ctx)
	case over:
		return nil // the host was busy
	case err == nil:
		return errLock{errors.Join(errors.New("c1 released one lock, and c2 got the other: release one at a time"), lease.Release(ctx))}
	}
	return other.Release(ctx)
}

// settles writes and releases, reads and writes as another client, and reads again; what a client writes it reads itself.
func (x *bench) settles(ctx context.Context) error {
	if !x.about.Settles {
		return skip("not supported")
	}
	const register = "plain"
	for i := range int64(3) {
		l := []backends.Locker{x.a, x.b}[i%2]
		lease, err := x.take(ctx, l, "settles")
		if err != nil {
			return err
		}
		access, err := l.(backends.Resource).Open(ctx, "settles"+x.suffix, "",
			lease.Info()) //nolint:forcetypeassert // every adapter's is one
		if err != nil {
			return err
		}
		switch got, err := access.Read(ctx, register); {
		case err != nil:
			return fmt.Errorf("let a new holder read: %w", err)
		case got != i:
			return ofLock("a new holder read %d: the last value written is %d", got, i)
		}
		if err := access.Write(ctx, register, i, i+1); err != nil {
			return fmt.Errorf("let the holder write: %w", err)
		}
		switch got, err := access.Read(ctx, register); {
		case err != nil:
			return fmt.Errorf("let the holder read what it wrote: %w", err)
		case got != i+1:
			return ofLock("the holder wrote %d and read %d", i+1, got)
		}
		if err := released(ctx, lease); err != nil {
			return err
		}
	}
	return nil
}

func (x *bench) calls(ctx context.Context) error {
	if len(x.about.Calls) == 0 {
		return skip("not supported")
	}
	lease, err := x.take(ctx, x.a, "calls")
	if err != nil {
		return err
	}
	if slices.Contains(x.about.Calls, backends.CallExtend) {
		if _, err := lease.(backends.Extender).Extend(ctx); err != nil {
			return fmt.Errorf("let the holder extend its lease: %w", err)
		}
	}
	asks := slices.Contains(x.about.Calls, backends.CallAsk)
	if asks {
		switch held, err := lease.(backends.Asker).Held(ctx); {
		case err != nil:
			return fmt.Errorf("answer \"ask\" with \"held\": %w", err)
		case !held:
			return ofLock("\"ask\" says held: false to the holder")
		}
	}
	if err := lease.Release(ctx); err != nil {
		return err
	}
	if asks {
		if held, err := lease.(backends.Asker).Held(ctx); err == nil && held {
			return ofLock("\"ask\" says held: true after the release")
		}
	}
	return nil
}

// early keeps the store's answers back.
func (x *bench) early(ctx context.Context) error {
	if len(x.t.Servers) == 0 {
		return skip("no server")
	}
	warm, err := x.take(ctx, x.a, "early-warm") // it is connected
	if err != nil {
		return err
	}
	if err := warm.Release(ctx); err != nil {
		return err
	}
	letGo, err := x.keep(ctx, link.From, false)
	if err != nil {
		return errors.Join(err, letGo())
	}
	got := beside(x.request("early"), func(req backends.Request) (backends.Lease, error) { return x.ask(ctx, x.a, req) })
	select {
	case a := <-got:
		if mended := letGo(); a.err != nil {
			return mended // it has given up
		}
		a.lease.Release(ctx) //nolint:errcheck // what is tested is over
		return errors.New("wait for the store's answer before \"granted\"")
	case <-time.After(patience):
	}
	if err := letGo(); err != nil {
		return err
	}
	return within(answerLimit+x.t.TTL, "the answer to an acquire, after the store's,", func() error {
		a := <-got
		if errors.Is(a.err, backends.ErrBusy) {
			return errors.New("answer \"busy\" only if the store says that the lock is held")
		}
		if a.err == nil {
			a.lease.Release(ctx) //nolint:errcheck // what is tested is over
		}
		return nil // or it has given up: nobody can tell
	})
}

// notSent keeps back what leaves, and closes the connections then.
func (x *bench) notSent(ctx context.Context) error {
	if len(x.t.Servers) == 0 {
		return skip("no server")
	}
	var sent atomic.Int64 // bytes
	defer x.net.Watch(link.Watch{
		Of: func(p link.Pair) bool { return p.From == first },
		Passing: func(m link.Message) {
			if !m.Reply {
				sent.Add(int64(len(m.Data)))
			}
		},
	})()
	letGo, err := x.keep(ctx, link.To, true)
	if err != nil {
		return errors.Join(err, letGo())
	}
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	got := beside(x.request("not-sent"), func(req backends.Request) (backends.Lease, error) { return x.ask(short, x.a, req) })
	var a acquired
	select {
	case a = <-got:
	case <-time.After(time.Second):
		letGo() //nolint:errcheck // it is asked again
		a = <-got
	}
	mended := letGo()
	if n := sent.Load(); errors.Is(a.err, backends.ErrNotSent) && n > 0 {
		return fmt.Errorf("answer \"error\" once anything was sent: %d bytes had left", n)
	}
	return mended
}

func (x *bench) ends(ctx context.Context) error {
	const lock = "ends"
	lease, err := x.take(ctx, x.b, lock)
	if err != nil {
		return err
	}
	began := time.Now()
	closing := x.b
	err = closing.Close()
	took := time.Since(began)
	x.b = nil
	if err != nil {
		return err
	}
	if took > adapter.EndLimit && adapter.EndedBySignal(closing) {
		return fmt.Errorf("exit at the end of the pipe: a signal had to end it after %v", took.Round(time.Millisecond))
	}
	if x.shares || x.spec.Ends != history.EndsLease || time.Since(began) > x.t.TTL/2 {
		return nil
	}
	if next, err := x.try(ctx, x.a, lock); err == nil && x.clock.Now() < lease.Info().Deadline {
		return errors.Join(errors.New("it released a lock: leave that to the store"), next.Release(ctx))
	}
	return nil
}
