package clustertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// asker asks a server past all links.
type asker struct{ addr func() string }

func (a asker) ask(ctx context.Context, words ...string) (string, error) {
	return Ask(ctx, a.addr(), words...)
}

// number asks for one.
func (a asker) number(ctx context.Context, words ...string) (int64, error) {
	text, err := a.ask(ctx, words...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

type (
	// Store is what can be asked of a store and done to it.
	Store struct{ asker }
	// Supervisor is what can be asked of a supervisor.
	Supervisor struct{ asker }
)

var (
	_ cluster.Roler           = Store{}
	_ cluster.Elector         = Store{}
	_ cluster.SessionEnder    = Store{}
	_ cluster.ConnectionEnder = Store{}
	_ cluster.Promoter        = Store{}
	_ cluster.Timer           = Store{}
	_ cluster.Leader          = Store{}
	_ cluster.Keeper          = Store{}
	_ cluster.Forgetter       = Store{}
	_ cluster.Evictor         = Store{}
	_ cluster.Supervisor      = Supervisor{}
)

// Set sets a key that is not there yet.
func (s Store) Set(ctx context.Context, key, owner string) error {
	_, err := s.ask(ctx, "SETNX", key, owner)
	return err
}

// Role is what the store says of itself.
func (s Store) Role(ctx context.Context) (string, error) {
	role, _, err := s.state(ctx)
	return role, err
}

func (s Store) state(ctx context.Context) (role string, epoch int64, err error) {
	text, err := s.ask(ctx, "ROLE")
	if err == nil {
		_, err = fmt.Sscan(text, &role, &epoch)
	}
	return role, epoch, err
}

// Leads reports whether the store says that it is master, and in which epoch.
func (s Store) Leads(ctx context.Context) (bool, int64, error) {
	role, epoch, err := s.state(ctx)
	return history.Leads(role), epoch, err
}

// EndSession deletes the key of that name: here each session has one.
func (s Store) EndSession(ctx context.Context, lease string) error {
	return s.end(ctx, "session", lease)
}

// EndConnection is EndSession: here a connection has a key as well.
func (s Store) EndConnection(ctx context.Context, name string) error {
	return s.end(ctx, "connection", name)
}

func (s Store) end(ctx context.Context, what, key string) error {
	n, err := s.Delete(ctx, []string{key})
	if err == nil && n == 0 {
		err = fmt.Errorf("there is no %s %s", what, key)
	}
	return err
}

// Promote has the store lead, in the epoch after that which it knows.
func (s Store) Promote(ctx context.Context) error {
	_, epoch, err := s.state(ctx)
	if err == nil {
		_, err = s.ask(ctx, "PROMOTE", strconv.FormatInt(epoch+1, 10))
	}
	return err
}

// Secure has nothing to do: a store waits for nobody.
func (Store) Secure(context.Context) error { return nil }

// Clock is the wall clock by the C library of the store's host.
func (s Store) Clock(ctx context.Context) (time.Time, error) {
	ns, err := s.number(ctx, "CLOCK")
	return time.Unix(0, ns), err
}

// Followers is how many replicas follow it.
func (s Store) Followers(ctx context.Context) (int, error) {
	n, err := s.number(ctx, "FOLLOWERS")
	return int(n), err
}

// InSync compares what the replicas have confirmed with what the store has.
func (s Store) InSync(ctx context.Context, followers int) (bool, string, error) {
	n, err := s.number(ctx, "INSYNC")
	return err == nil && int(n) >= followers, fmt.Sprintf("%d of %d replicas have all data of the master", n, followers), err
}

// Has says which of the keys exist.
func (s Store) Has(ctx context.Context, keys []string) ([]string, error) {
	text, err := s.ask(ctx, append([]string{"HAS"}, keys...)...)
	return strings.Fields(text), err
}

// Delete deletes keys.
func (s Store) Delete(ctx context.Context, keys []string) (int64, error) {
	return s.number(ctx, append([]string{"DEL"}, keys...)...)
}

// Flush deletes everything.
func (s Store) Flush(ctx context.Context) (int64, error) { return s.number(ctx, "FLUSH") }

// Evict makes the store full, which drops the keys.
func (s Store) Evict(ctx context.Context, policy string, keys []string) (string, error) {
	text, err := s.ask(ctx, append([]string{"EVICT", cmp.Or(policy, "oldest")}, keys...)...)
	if errors.Is(err, ErrRefused) {
		return "", cluster.ErrNotEvicted
	}
	return text, err
}

// MakeRoom ends that.
func (s Store) MakeRoom(ctx context.Context) error {
	_, err := s.ask(ctx, "ROOM")
	return err
}

// Master is the announced address of the store that the supervisor takes for the master.
func (v Supervisor) Master(ctx context.Context) (string, error) { return v.ask(ctx, "MASTER") }

// Promote asks for it to be replaced.
func (v Supervisor) Promote(ctx context.Context) error {
	_, err := v.ask(ctx, "FAILOVER")
	return err
}
