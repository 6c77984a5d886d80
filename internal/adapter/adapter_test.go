package adapter_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter"
	"github.com/lockstorm/lockstorm/internal/adapter/adaptertest"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// TestMain lets this binary start itself as an adapter.
func TestMain(m *testing.M) {
	adaptertest.Main()
	os.Exit(m.Run())
}

// seen is what a client is told by its lock.
type seen struct {
	stalled  chan time.Duration
	mu       sync.Mutex
	breaches []string
	lost     chan string
	renewed  chan backends.Renewal
}

func (s *seen) hooks() backends.Hooks {
	return backends.Hooks{
		Lost: func(_, reason string) { s.lost <- reason },
		Renewing: func(string) (func(backends.Renewal, error), error) {
			return func(r backends.Renewal, _ error) { s.renewed <- r }, nil
		},
	}
}

func (s *seen) breach() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.breaches, "; ")
}

// chosen is the backend of a fake adapter that lies in one way.
func chosen(t *testing.T, way string) (backends.Spec, error) {
	t.Helper()
	spec, _, err := chosenWith(t, way, "")
	return spec, err
}

func chosenWith(t *testing.T, way, params string) (backends.Spec, catalog.Values, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := catalog.New[backends.Spec]("backend")
	c.AddUnlisted(adapter.Spec())
	return backends.Choose(c, "exec:cmd="+self+params, adaptertest.AsAdapter+way)
}

// An adapter says what parameters it has; it is told all of them, and nobody can give another.
func TestParams(t *testing.T) {
	t.Parallel()
	if _, _, err := chosenWith(t, "params", ",gifen=yes"); err == nil ||
		!strings.Contains(err.Error(), `no parameter "gifen": did you mean "given"? choose from cmd, given, left`) {
		t.Errorf("error %v", err)
	}
	if _, _, err := chosenWith(t, "honest", ",given=yes"); err == nil ||
		!strings.Contains(err.Error(), `no parameter "given": choose from cmd`) {
		t.Errorf("error %v", err)
	}
	spec, values, err := chosenWith(t, "params", ",given=yes")
	if err != nil {
		t.Fatal(err)
	}
	clock := history.NewClock()
	l, err := spec.Open(t.Context(), backends.Env{
		Run: "run", Client: "c1", Dir: t.TempDir(), TTL: time.Second, Timeout: time.Second, Values: values,
		Now: clock.Now, ClockBase: clock.Base(), Rand: rand.New(rand.NewPCG(1, 2)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func opened(t *testing.T, way string) (backends.Locker, *seen) {
	t.Helper()
	spec, err := chosen(t, way)
	if err != nil {
		t.Fatal(err)
	}
	s := &seen{stalled: make(chan time.Duration, 1), lost: make(chan string, 10), renewed: make(chan backends.Renewal, 10)}
	clock := history.NewClock()
	l, err := spec.Open(t.Context(), backends.Env{
		Run: "run", Client: "c1", Dir: t.TempDir(), TTL: time.Second, Retry: 20 * time.Millisecond, Timeout: time.Second,
		Now: clock.Now, ClockBase: clock.Base(), Rand: rand.New(rand.NewPCG(1, 2)),
		Stalled: func(late time.Duration) {
			select {
			case s.stalled <- late:
			default:
			}
		},
		Breach: func(text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.breaches = append(s.breaches, text)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, s
}

// Of an adapter that is held up while nothing is asked of it, the record says so.
func TestStalls(t *testing.T) {
	l, s := opened(t, "sleepy")
	select {
	case late := <-s.stalled:
		if late < 60*time.Millisecond {
			t.Errorf("held up for %v", late)
		}
	case <-time.After(time.Minute):
		t.Error("nobody noticed")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestHonestAdapter(t *testing.T) {
	l, s := opened(t, "honest")
	ctx := t.Context()
	req := backends.Request{Lock: "L1", Owner: "o1", TTL: time.Second, Hooks: s.hooks()}
	lease, err := l.Acquire(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	info := lease.Info()
	if info.Lease != "o1" || info.TTL != time.Second || info.Deadline != info.Sent+time.Second.Nanoseconds() || info.HasToken {
		t.Errorf("%+v", info)
	}
	if _, err := l.TryAcquire(ctx, req); !errors.Is(err, backends.ErrBusy) {
		t.Errorf("a try at what is held: %v", err)
	}
	if r, err := lease.(backends.Extender).Extend(ctx); err != nil || r.TTL != 2*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
	if held, err := lease.(backends.Asker).Held(ctx); err != nil || !held {
		t.Errorf("%t, %v", held, err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Error(err)
	}
	if err := lease.Release(ctx); !errors.Is(err, backends.ErrNotHeld) {
		t.Errorf("a second release: %v", err)
	}
	if err := l.Close(); err != nil || s.breach() != "" {
		t.Errorf("%v, %s", err, s.breach())
	}
}

// A waiting acquire ends with its context.
func TestWaitingEnds(t *testing.T) {
	l, s := opened(t, "honest")
	req := backends.Request{Lock: "L1", Owner: "o1", TTL: time.Second, Hooks: s.hooks()}
	if _, err := l.TryAcquire(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Acquire(ctx, req); !errors.Is(err, backends.ErrBusy) {
		t.Errorf("%v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestRenewalsAndLosses(t *testing.T) {
	l, s := opened(t, "renews")
	if _, err := l.TryAcquire(t.Context(), backends.Request{
		Lock: "L1", Owner: "o1", TTL: time.Second,
		Hooks: s.hooks(),
	}); err != nil {
		t.Fatal(err)
	}
	if r := <-s.renewed; r.Deadline != r.Sent+time.Second.Nanoseconds() || r.Sent <= 0 {
		t.Errorf("%+v", r)
	}
	if reason := <-s.lost; reason != "for the test" {
		t.Errorf("%q", reason)
	}
	if err := l.Close(); err != nil || s.breach() != "" {
		t.Errorf("%v, %s", err, s.breach())
	}
}

// Each way to break the protocol is told once, in a sentence, and what was asked is of unknown outcome.
func TestBreaches(t *testing.T) {
	for way, want := range map[string]string{
		"noise": "a line that is no message", "neither": "neither an answer nor a notice", "long": "a line of more than",
		"dies":      "ended by itself: exit status 7: killed by a bug",
		"backdated": "adapter's clock is not CLOCK_MONOTONIC of this host", "reused": "which nobody sent|twice",
		"ok": `say "granted", or why not`, "timeless": "the time just before the request to the store",
		"token": "in the grant: true", "late-deadline": "after the end of the lease", "twice": "twice",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			l, s := opened(t, way)
			var unknown error
			for range 3 {
				lease, err := l.TryAcquire(t.Context(), backends.Request{Lock: "L1", Owner: "o1", TTL: time.Second, Hooks: s.hooks()})
				if err == nil {
					err = lease.Release(t.Context())
				}
				if outcome, _ := backends.Outcome(err); outcome == history.Info {
					unknown = err
					break
				}
			}
			if unknown == nil {
				t.Error("everything was answered for certain")
			}
			if err := l.Close(); err != nil && !errors.Is(err, unknown) {
				t.Log(err)
			}
			said, found := s.breach(), false
			for _, one := range strings.Split(want, "|") {
				found = found || strings.Contains(said, one)
			}
			if !found || strings.Count(said, "; ") > 0 {
				t.Errorf("said %q, want %q once", said, want)
			}
		})
	}
}

// What is wrong before anything runs is an error that names it.
func TestRefused(t *testing.T) {
	for way, want := range map[string]string{
		"crash": "exit status 3: boom", "old": "has protocol 0, not", "missing": "apt install what-it-needs",
	} {
		_, err := chosen(t, way)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", way, err, want)
		}
		if errors.Is(err, backends.ErrMissing) != (way == "missing") {
			t.Errorf("%s: %v", way, err)
		}
	}
	c := catalog.New[backends.Spec]("backend")
	c.AddUnlisted(adapter.Spec())
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"exec": "cmd=FILE is missing", "exec:cmd=/no/such/file": "there is no such program",
		"exec:cmd=no-such-program": "is not on PATH", "exec:cmd=" + text: "is not a program",
	} {
		if _, _, err := backends.Choose(c, line, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// An adapter whose clock is another one is refused before it has done anything.
func TestClockIsProven(t *testing.T) {
	spec, err := chosen(t, "clock")
	if err != nil {
		t.Fatal(err)
	}
	without, err := adapter.SpecOf(adapter.Description{Protocol: adapter.Protocol, Name: "fake", Ends: history.EndsLease},
		[]string{"fake"})
	if err != nil || spec.NoClock || !without.NoClock {
		t.Errorf("a clock that is said, and one that is not: %v, %v (%v)", !spec.NoClock, !without.NoClock, err)
	}
	clock := history.NewClock()
	_, err = spec.Open(t.Context(), backends.Env{
		Dir: t.TempDir(), TTL: time.Second, Now: clock.Now, ClockBase: clock.Base(),
		Rand: rand.New(rand.NewPCG(1, 2)),
	})
	if err == nil || !strings.Contains(err.Error(), "adapter's clock is not CLOCK_MONOTONIC of this host") {
		t.Errorf("%v", err)
	}
}

// An adapter that floods its output, or does not end with its pipe, is bounded and ended.
func TestBounded(t *testing.T) {
	for _, way := range []string{"flood", "stays"} {
		l, s := opened(t, way)
		if err := l.Close(); err != nil || s.breach() != "" {
			t.Errorf("%s: %v, %s", way, err, s.breach())
		}
	}
}
