package workloads

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Calls are the calls beside acquire and release that a section makes. Its zero value makes none.
type Calls struct {
	Extend  string  // Extend constants
	Ask     bool    // whether the lock is held is asked before each write
	Token   string  // Token constants
	Release string  // Release constants
	Cancel  float64 // share of the waits that are cancelled
	Reuse   bool    // the lock object is used again
	Pair    bool    // a second lock is tried for and held inside the first, by the same object
}

// When a section extends its lock.
const (
	ExtendNone       = "none"
	ExtendHalf       = "half"       // once, half way between read and write
	ExtendBackground = "background" // every third of the time to live, beside the section
)

// Owner values that the store gets.
const (
	TokenUnique = "unique" // a nonce for each attempt
	TokenEqual  = "equal"  // the same for all clients
	TokenPrefix = "prefix" // one for each client, each the beginning of the next client's
)

// When a section gives the lock back.
const (
	ReleaseEnd       = "end"       // at its end
	ReleaseLate      = "late"      // when the lease is over
	ReleaseExtending = "extending" // while an extension is under way
)

// CallParams returns the parameters that make a workload's sections make [Calls].
func CallParams() []Param {
	return []Param{
		{Name: "extend", Default: ExtendNone, Doc: "when the client extends the lock (none: never; half: once, halfway between read " +
			"and write; background: every third of the ttl, in parallel with the critical " +
			"section)", Choices: []string{ExtendNone, ExtendHalf, ExtendBackground}},
		{Name: "ask", Default: "no", Doc: "yes: before each write, the client asks the library whether the lock is still held; no: " +
			"the client writes without asking", Choices: catalog.YesNo()},
		{Name: "token", Default: TokenUnique, Doc: "the owner name that the client gives to the lock (unique: a new name for each " +
			"attempt; equal: the same name for all clients; prefix: each client's name is the beginning of the next client's " +
			"name)", Choices: []string{TokenUnique, TokenEqual, TokenPrefix}},
		{Name: "release", Default: ReleaseEnd, Doc: "when the client releases the lock (end: at the end of the critical section; " +
			"late: when the lease is over; extending: while an extension is in " +
			"progress)", Choices: []string{ReleaseEnd, ReleaseLate, ReleaseExtending}},
		{Name: "cancel", Default: "0", Doc: "fraction (0 to 1) of the acquire calls that get a random time limit of at most `hold`: " +
			"the client cancels such a call if the call still waits for the lock at the time limit"},
		{Name: "reuse", Default: "no", Doc: "yes: a client uses one lock object of the library for all its critical sections; no: " +
			"each critical section gets a new lock object", Choices: catalog.YesNo()},
		{Name: "pair", Default: "no", Doc: "yes: inside its critical section, the client tries to acquire a second lock, and then " +
			"holds both locks (needs --locks 2 or more); no: one lock for each critical " +
			"section", Choices: catalog.YesNo()},
	}
}

// newCalls reads them; a workload without the parameters makes none.
func newCalls(v Values) (c Calls, err error) {
	if _, has := v["extend"]; !has {
		return Calls{}, nil
	}
	c = Calls{Extend: v["extend"], Token: v["token"], Release: v["release"]}
	c.Ask, c.Reuse, c.Pair = v["ask"] == "yes", v["reuse"] == "yes", v["pair"] == "yes"
	c.Cancel, err = v.Fraction("cancel")
	return c, err
}

// Needs returns the calls that a backend must have for it: Call constants of package backends.
func (c Calls) Needs() (needs []string) {
	if (c.Extend != "" && c.Extend != ExtendNone) || c.Release == ReleaseExtending {
		needs = append(needs, backends.CallExtend)
	}
	if c.Ask {
		needs = append(needs, backends.CallAsk)
	}
	if c.Token != "" && c.Token != TokenUnique {
		needs = append(needs, backends.CallToken)
	}
	if c.Reuse {
		needs = append(needs, backends.CallReuse)
	}
	return needs
}

// token is what a client gives as the owner; empty: a nonce.
func (c Calls) token(client int64) string {
	switch c.Token {
	case TokenEqual:
		return "worker"
	case TokenPrefix:
		return "worker-" + strings.Repeat("1", int(client))
	}
	return ""
}

// Extend extends the lease, as a user of the library does. It is recorded as a renewal; if the library says that the
// lock is lost, the client was told of the loss.
func (h *Hold) Extend(ctx context.Context) error {
	ext, can := h.lease.(backends.Extender)
	if !can {
		return errors.New("the workload tries to extend the lease (extend=), but this lock has no call that extends a lease: use " +
			"extend=none")
	}
	done, err := h.renewing(h.info.Lease)
	if err != nil {
		return err
	}
	re, err := ext.Extend(context.WithoutCancel(ctx))
	done(re, err)
	if errors.Is(err, backends.ErrNotHeld) {
		h.loss(h.info.Lease, "the library refused to extend the lease, because the client no longer holds the lock")
	}
	return nil
}

// Ask asks the library whether the lock is held. If it says no, or does not answer, the client was told of the loss.
func (h *Hold) Ask(ctx context.Context) {
	asker, can := h.lease.(backends.Asker)
	if !can {
		return
	}
	switch held, err := asker.Held(context.WithoutCancel(ctx)); {
	case err != nil:
		h.loss(h.info.Lease, "the client asked the library whether the lock is still held, but got no answer: "+err.Error())
	case !held:
		h.loss(h.info.Lease, "the library answered that the lock is no longer held")
	}
}

// inBackground extends every third of the time to live until it is stopped, which waits for the
// extension under way.
func (h *Hold) inBackground(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(h.info.TTL / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := h.Extend(ctx); err != nil || h.isLost() {
				return // or the log cannot be written: its client is stopping
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func (h *Hold) isLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// second tries for another lock than the one that is held; nil: there is none, or it was not
// granted. A try cannot deadlock.
func (s *Settings) second(ctx context.Context, c *Client, h *Hold, t Turn) (*Hold, error) {
	if !s.Calls.Pair || t.Last {
		return nil, nil
	}
	i := slices.Index(s.Locks, h.Lock)
	return c.Acquire(ctx, Ask{Lock: s.Locks[(i+1)%len(s.Locks)], Try: true, Token: s.Calls.token(c.cfg.Index)})
}

// giveBack ends a section in the way of its calls.
func (s *Settings) giveBack(ctx context.Context, h *Hold, t Turn) error {
	if t.Last {
		return h.Release(ctx)
	}
	switch s.Calls.Release {
	case ReleaseLate:
		h.mu.Lock()
		over := h.deadline
		h.mu.Unlock()
		if over.Set {
			pause(ctx, min(time.Duration(over.V-h.c.cfg.Recorder.Clock().Now())+s.TTL/20, s.TTL*2))
		}
	case ReleaseExtending:
		var wg sync.WaitGroup
		var err error
		wg.Go(func() { err = h.Extend(ctx) })
		released := h.Release(ctx)
		wg.Wait()
		return errors.Join(released, err)
	}
	return h.Release(ctx)
}

// Keep stays inside for a while, between read and write; half way it extends the lease if the section does so.
func (s *Settings) Keep(ctx context.Context, h *Hold, t Turn) error {
	if s.Calls.Extend != ExtendHalf || t.Last {
		s.Stay(ctx, t)
		return nil
	}
	half := s.upTo(s.Hold) / 2
	pause(ctx, half)
	if err := h.Extend(ctx); err != nil {
		return err
	}
	pause(ctx, half)
	return nil
}

// begin asks for the lock as the section's calls have it; where it is not granted, the client pauses.
func (s *Settings) begin(ctx context.Context, c *Client, ask Ask, t Turn) (h *Hold, err error) {
	defer func() {
		if h == nil && err == nil {
			s.Pause(ctx, t)
		}
	}()
	ask.Token, ask.Reuse = s.Calls.token(c.cfg.Index), s.Calls.Reuse
	if t.Last || s.Calls.Cancel == 0 || s.Rand.Float64() >= s.Calls.Cancel {
		return c.Acquire(ctx, ask)
	}
	waiting, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(s.upTo(s.Hold), cancel)
	defer timer.Stop()
	h, err = c.Acquire(waiting, ask)
	if h == nil {
		cancel() // else it is left to the end of ctx: some libraries keep it for as long as the lock
	}
	return h, err
}
