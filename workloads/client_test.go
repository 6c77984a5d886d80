package workloads

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// sessionLock grants everything under one lease; it tells of the lease as a store with
// sessions would. What it grants is for the record of its client alone.
type sessionLock struct {
	info     backends.Info
	requests []backends.Request
}

func (l *sessionLock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.TryAcquire(ctx, req)
}

func (l *sessionLock) TryAcquire(_ context.Context, req backends.Request) (backends.Lease, error) {
	l.requests = append(l.requests, req)
	return granted(l.info), nil // whose owner is the request's, unless it says another
}

func (*sessionLock) Close() error { return nil }

type granted backends.Info

func (g granted) Info() backends.Info           { return backends.Info(g) }
func (g granted) Release(context.Context) error { return nil }

// recorded is a client whose log can be read back.
func recorded(t *testing.T, l backends.Locker) (*Client, history.Clock, func() *history.Record) {
	t.Helper()
	clock := history.NewClock()
	path := filepath.Join(t.TempDir(), "c1.jsonl")
	rec, err := history.Open(path, "c1", clock, history.Run{Model: history.Model{Session: true}, Ends: history.EndsSession})
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(ClientConfig{
		Name: "c1", Index: 1, Recorder: rec, TTL: time.Minute, Gate: Open{}, Rand: rand.New(rand.NewPCG(1, 1)), // a seed
		OnLogError: func(err error) { t.Error(err) },
	})
	c.Use(l, nil)
	return c, clock, func() *history.Record {
		if err := rec.Finish(history.End{}); err != nil {
			t.Fatal(err)
		}
		h, err := history.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := history.Build(h)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func mustAcquire(t *testing.T, c *Client, ask Ask) *Hold {
	t.Helper()
	h, err := c.Acquire(context.Background(), ask)
	if err != nil || h == nil {
		t.Fatalf("hold %v, error %v", h, err)
	}
	return h
}

// A renewal of a session extends every hold under it; its loss ends the belief in all of
// them, and in those that come later; what was released is out of it.
func TestSessions(t *testing.T) {
	l := &sessionLock{}
	c, clock, read := recorded(t, l)
	s := c.Session()
	now := clock.Now()
	l.info = backends.Info{Lease: "s1", Sent: now, TTL: time.Hour, Deadline: now + time.Hour.Nanoseconds()}
	if err := s.Opened("s1", backends.Renewal{Sent: now, TTL: time.Hour, Deadline: l.info.Deadline}); err != nil {
		t.Fatal(err)
	}
	a, b := mustAcquire(t, c, Ask{Lock: "A"}), mustAcquire(t, c, Ask{Lock: "B"})
	if err := a.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
	done, err := s.Renewing("s1")
	if err != nil {
		t.Fatal(err)
	}
	later := l.info.Deadline + time.Hour.Nanoseconds()
	done(backends.Renewal{Sent: clock.Now(), TTL: 2 * time.Hour, Deadline: later}, nil)
	if b.deadline.V != later || a.deadline.V == later {
		t.Errorf("deadlines %d of the one that is held, %d of the one that is not; renewed to %d", b.deadline.V, a.deadline.V, later)
	}
	s.Lost("s1", "expired")
	if after := mustAcquire(t, c, Ask{Lock: "C"}); b.Valid() || after.Valid() || !a.Valid() {
		t.Errorf("valid: held %v, acquired after the loss %v, released %v", b.Valid(), after.Valid(), a.Valid())
	}
	rec := read()
	if len(rec.Leases) == 0 {
		t.Fatal("no lease on record")
	}
	lease := rec.Leases[0]
	if len(rec.Leases) != 1 || lease.ID != "s1" || lease.Created == nil || len(lease.Grants) != 3 || len(lease.Renews) != 1 ||
		len(lease.Losses) != 1 {
		t.Fatalf("lease on record: %+v", lease)
	}
}

// A renewal that leaves before the outcome of the last one is on record has a number of its own, and so has
// the next after one of unknown outcome: no process does two things at once, or goes on after the unknown.
func TestRenewalsThatOverlap(t *testing.T) {
	c, clock, read := recorded(t, &sessionLock{})
	s := c.Session()
	now := clock.Now()
	answer := backends.Renewal{Sent: now, TTL: time.Hour, Deadline: now + time.Hour.Nanoseconds()}
	if err := s.Opened("s1", answer); err != nil {
		t.Fatal(err)
	}
	renew := func() func(backends.Renewal, error) {
		done, err := s.Renewing("s1")
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	first := renew()
	second := renew()
	first(backends.Renewal{}, errors.New("who knows"))
	second(answer, nil)
	renew()(backends.Renewal{}, errors.New("who knows"))
	renew()(answer, nil)
	renew()(answer, nil)
	var numbers []int64
	for _, r := range read().Leases[0].Renews {
		numbers = append(numbers, r.Invoke.Process().N)
	}
	if len(numbers) != 5 || numbers[0] == numbers[1] || numbers[1] != numbers[2] || numbers[2] == numbers[3] ||
		numbers[3] != numbers[4] {
		t.Errorf("processes %v", numbers)
	}
}

// A hold that is asked for within another one has its owner; the mode goes with the request
// and on record.
func TestAsking(t *testing.T) {
	l := &sessionLock{}
	c, _, read := recorded(t, l)
	outer := mustAcquire(t, c, Ask{Lock: "A"})
	mustAcquire(t, c, Ask{Lock: "A", Within: outer})
	mustAcquire(t, c, Ask{Lock: "A", Mode: history.ModeShared})
	if r := l.requests; r[0].Owner != r[1].Owner || r[1].Owner == r[2].Owner || r[2].Mode != history.ModeShared || r[0].Mode != "" {
		t.Errorf("asked for %+v", r)
	}
	g := read().Grants
	if g[0].Owner != g[1].Owner || g[2].Mode != history.ModeShared {
		t.Errorf("on record: %+v", g)
	}
}

// Work is on record with its value, and its error says what is known of it.
func TestWork(t *testing.T) {
	c, _, read := recorded(t, &sessionLock{})
	h := mustAcquire(t, c, Ask{Lock: "A"})
	for _, err := range []error{nil, errors.New("who knows"), backends.ErrNotSent} {
		if e := h.Work(context.Background(), map[string]int{"n": 7}, func(context.Context) error { return err }); e != nil {
			t.Fatal(e)
		}
	}
	var got []history.Type
	for _, u := range read().Grants[0].Uses {
		var v map[string]int
		if u.Invoke.Value().Into(&v) != nil || v["n"] != 7 {
			t.Errorf("value %s", u.Invoke.Value().JSON)
		}
		got = append(got, u.Outcome())
	}
	if len(got) != 3 || got[0] != history.OK || got[1] != history.Info || got[2] != history.Fail {
		t.Errorf("outcomes %v", got)
	}
}
