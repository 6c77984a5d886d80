package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/adapter"
	"github.com/lockstorm/lockstorm/history"
)

// rule is one that adapters keep.
type rule struct {
	text   string
	needed bool // those after it make no sense without it
	try    func(x *bench, ctx context.Context) error
}

// answerLimit is how long what nobody keeps back may take.
const answerLimit = 5 * time.Second

var rules = []rule{
	{"it says what it is", true, (*bench).describes},
	{"it answers what it does not know with unsupported, and leaves unknown fields alone", false, (*bench).unknown},
	{"it opens, and its clock is CLOCK_MONOTONIC where it says so", true, (*bench).opens},
	{"it is granted a free lock", true, (*bench).free},
	{"it is refused what another one holds", true, (*bench).exclusive},
	{"it releases what it holds, and who waits is granted it", true, (*bench).handsOver},
	{"tokens grow", false, (*bench).tokens},
	{"a wait that is cancelled ends", false, (*bench).cancels},
	{"a second release is no release", false, (*bench).releasesOnce},
	{"extend and ask say what is so", false, (*bench).calls},
	{"it is granted nothing before the store has answered", false, (*bench).early},
	{"not-sent means that nothing left", false, (*bench).notSent},
	{"it ends with its pipe, and releases nothing", false, (*bench).ends},
}

func (x *bench) describes(context.Context) (err error) {
	if x.about, err = adapter.Describe(x.t.Argv); err != nil {
		return err
	}
	x.spec, err = adapter.SpecOf(x.about, x.t.Argv)
	return err
}

func (x *bench) unknown(context.Context) error { return adapter.Probe(x.t.Argv) }

func (x *bench) opens(ctx context.Context) (err error) {
	if x.a, err = x.open(ctx, "c1"); err != nil {
		return err
	}
	x.b, err = x.open(ctx, "c2")
	return err
}

// free takes a lock and gives it back.
func (x *bench) free(ctx context.Context) error {
	lease, err := x.try(ctx, x.a, "free")
	if err != nil {
		return fmt.Errorf("asked for a lock that nobody has, on servers that all are well, it says: %w", err)
	}
	if err := lease.Release(ctx); err != nil {
		return fmt.Errorf("asked to release it, it says: %w", err)
	}
	return nil
}

func (x *bench) exclusive(ctx context.Context) error {
	if !x.about.Model.Locks() {
		return skip("its model is %s", x.about.Model.Kind)
	}
	held, err := x.try(ctx, x.a, "exclusive")
	if err != nil {
		return err
	}
	for range 3 {
		if lease, err := x.try(ctx, x.b, "exclusive"); err == nil {
			return errors.Join(errors.New("a second client was granted what the first one holds"), lease.Release(ctx))
		} else if !errors.Is(err, backends.ErrBusy) {
			return fmt.Errorf("asked for what another one holds, it says: %w", err)
		}
	}
	return held.Release(ctx)
}

func (x *bench) handsOver(ctx context.Context) error {
	held, err := x.try(ctx, x.a, "over")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit+x.t.TTL)
	defer cancel()
	type answer struct {
		lease backends.Lease
		err   error
	}
	got := make(chan answer, 1)
	req := x.request("over")
	go func() {
		lease, err := x.b.Acquire(ctx, req)
		got <- answer{lease, err}
	}()
	select {
	case a := <-got:
		return fmt.Errorf("it was to wait, and has ended at once: %w", cmp.Or(a.err, errors.New("it was granted what another one holds")))
	case <-time.After(patience):
	}
	if err := held.Release(ctx); err != nil {
		return fmt.Errorf("asked to release what it holds, it says: %w", err)
	}
	a := <-got
	if a.err != nil {
		return fmt.Errorf("the lock is free, and who waited for it is told: %w", a.err)
	}
	return a.lease.Release(ctx)
}

func (x *bench) tokens(ctx context.Context) error {
	if !x.about.Tokens {
		return skip("it says that it has none")
	}
	var last int64
	for i := range 5 {
		l := []backends.Locker{x.a, x.b}[i%2]
		lease, err := x.try(ctx, l, "tokens")
		if err != nil {
			return err
		}
		if now := lease.Info().Token; i > 0 && now <= last {
			return fmt.Errorf("after the token %d came %d", last, now)
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
	held, err := x.try(ctx, x.a, "cancel")
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = within(answerLimit, "a wait that was cancelled", func() error {
		lease, err := x.b.Acquire(short, x.request("cancel"))
		if err == nil {
			return errors.Join(errors.New("a wait that was cancelled was granted what another one holds"), lease.Release(ctx))
		}
		return nil
	})
	return errors.Join(err, held.Release(ctx))
}

func (x *bench) releasesOnce(ctx context.Context) error {
	lease, err := x.try(ctx, x.a, "once")
	if err != nil {
		return err
	}
	if err := lease.Release(ctx); err != nil {
		return err
	}
	if lease.Release(ctx) == nil {
		return errors.New("asked twice to release one grant, it answers ok twice")
	}
	return nil
}

func (x *bench) calls(ctx context.Context) error {
	if len(x.about.Calls) == 0 {
		return skip("it says that it has neither")
	}
	lease, err := x.try(ctx, x.a, "calls")
	if err != nil {
		return err
	}
	if slices.Contains(x.about.Calls, backends.CallExtend) {
		if _, err := lease.(backends.Extender).Extend(ctx); err != nil {
			return fmt.Errorf("asked to extend what it holds, it says: %w", err)
		}
	}
	asks := slices.Contains(x.about.Calls, backends.CallAsk)
	if asks {
		if held, err := lease.(backends.Asker).Held(ctx); err != nil || !held {
			return fmt.Errorf("asked whether it holds what it was granted, it says: %t, %w", held, cmp.Or(err, errors.New("without an error")))
		}
	}
	if err := lease.Release(ctx); err != nil {
		return err
	}
	if asks {
		if held, err := lease.(backends.Asker).Held(ctx); err == nil && held {
			return errors.New("it says that it holds what it has released")
		}
	}
	return nil
}

// early keeps the store's answers back.
func (x *bench) early(ctx context.Context) error {
	if len(x.t.Servers) == 0 {
		return skip("it needs no server")
	}
	warm, err := x.try(ctx, x.a, "early-warm") // it is connected
	if err != nil {
		return err
	}
	if err := warm.Release(ctx); err != nil {
		return err
	}
	x.holdAll(x.a, true)
	got := make(chan error, 1)
	req := x.request("early")
	go func() {
		lease, err := x.a.TryAcquire(ctx, req)
		if x.spec.NoTry {
			lease, err = x.a.Acquire(ctx, req)
		}
		if err == nil {
			defer lease.Release(ctx) //nolint:errcheck // what is tested is over
		}
		got <- err
	}()
	select {
	case err = <-got:
		x.holdAll(x.a, false)
		if err == nil {
			return errors.New("it was granted a lock while every answer of the store was kept back")
		}
		return nil // it has given up
	case <-time.After(patience):
	}
	x.holdAll(x.a, false)
	return within(answerLimit+x.t.TTL, "the answer, once the store's had come,", func() error {
		if err := <-got; errors.Is(err, backends.ErrBusy) {
			return errors.New("asked for a lock that nobody has, whose answer came late, it says: busy")
		}
		return nil // or it has given up: nobody can tell
	})
}

func (x *bench) holdAll(l backends.Locker, on bool) {
	for _, r := range x.relayed[l] {
		r.hold(on)
	}
}

// notSent swallows what leaves, and closes the connections then.
func (x *bench) notSent(ctx context.Context) error {
	if len(x.t.Servers) == 0 {
		return skip("it needs no server")
	}
	before := int64(0)
	for _, r := range x.relayed[x.a] {
		r.swallow.Store(true)
		before += r.sent.Load()
	}
	got := make(chan error, 1)
	req := x.request("not-sent")
	go func() {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if x.spec.NoTry {
			_, err := x.a.Acquire(ctx, req)
			got <- err
			return
		}
		_, err := x.a.TryAcquire(ctx, req)
		got <- err
	}()
	var err error
	select {
	case err = <-got:
	case <-time.After(time.Second):
		x.mend(x.a)
		err = <-got
	}
	x.mend(x.a)
	after := int64(0)
	for _, r := range x.relayed[x.a] {
		after += r.sent.Load()
	}
	if errors.Is(err, backends.ErrNotSent) && after > before {
		return fmt.Errorf("it says not-sent, and %d bytes had left", after-before)
	}
	return nil
}

// mend lets what leaves go on, on connections that are made anew.
func (x *bench) mend(l backends.Locker) {
	for _, r := range x.relayed[l] {
		r.swallow.Store(false)
		r.reset()
	}
}

func (x *bench) ends(ctx context.Context) error {
	lease, err := x.try(ctx, x.b, "ends")
	if err != nil {
		return err
	}
	began := time.Now()
	err = x.b.Close()
	took := time.Since(began)
	x.b = nil
	if err != nil {
		return err
	}
	if took > adapter.EndLimit {
		return fmt.Errorf("its pipe has ended, and it ran on for %v, until it was told to end by a signal", took.Round(time.Millisecond))
	}
	if x.spec.Ends != history.EndsLease || time.Since(began) > x.t.TTL/2 {
		return nil
	}
	if next, err := x.try(ctx, x.a, "ends"); err == nil && x.clock.Now() < lease.Info().Deadline {
		return errors.Join(errors.New("its pipe has ended, and it has released what it held"), next.Release(ctx))
	}
	return nil
}
