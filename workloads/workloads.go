// Package workloads lets you say what clients do while they hold a lock: write a [Workload]. A [Workload] runs one section at a
// time through a [Client], which records every operation, reaches the points that faults are tied to, and obeys (or not) the loss
// of its lease.
//
//	Workload.Section -> Client.Acquire -> Hold.Read / Write -> Hold.Release
//	                        |                  |                   |
//	                     backend            resource            backend     (all recorded)
package workloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/register"
)

// Spec describes a workload.
type Spec struct {
	Name   string
	Doc    string
	Params []Param         // see [Params] for the usual ones
	Points []history.Point // points of its own, beside those of every section
	// Registers returns the registers of the protected resource that it reads and writes; nil: none. It is called once,
	// before the run.
	Registers func(fencing string, tokens bool) []Register
	// Calls returns the calls that a section makes beside acquire and release (Call constants of package backends),
	// which a backend must have; nil: none.
	Calls func(s Settings) []string
	// Fenced is true if --fencing chooses among its registers; then a lock without tokens cannot be run with --fencing
	// on.
	Fenced bool
	// Model is how the workload uses a lock (a history.Model constant); empty: as its backend says.
	Model string
	// Tries is true if the lock must be able to try.
	Tries bool
	// Counted is true if the requests of each acquire are counted.
	Counted bool
	// Bounds returns times that its checks need, by name (Bound constants); nil: none.
	Bounds func(s Settings) map[string]time.Duration
	// Models are the kinds of locks that it supports (history.Model constants); nil: any.
	Models []string
	// Check returns what is wrong with its parameters; nil: it has only the common ones.
	Check func(s Settings) error
	New   func(s Settings) Workload
}

// Register is a value of the protected resource, one for each lock.
type Register struct {
	Name  string
	Start int64
}

// EntryName returns the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc returns the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// Valid returns what is wrong with the spec, in a sentence. The catalogue calls it when the spec is added.
func (s Spec) Valid() error {
	if s.New == nil {
		return errors.New("the field `New` is missing: it must be a function that makes the workload")
	}
	if s.Fenced && s.Registers == nil {
		return errors.New("the field `Fenced` is true, but the field `Registers` is nil: set `Registers`, or set `Fenced` to false")
	}
	if err := history.CheckPoints(s.Points); err != nil {
		return err
	}
	for _, kind := range s.Models {
		if m := (history.Model{Kind: kind}); kind == "" || !m.Known() {
			return fmt.Errorf("the field `Models` contains the unknown value %q: choose constants of package history, such as "+
				"history.ModelReadWrite", kind)
		}
	}
	return s.validParams()
}

// validParams reads the defaults as if they had been given.
func (s Spec) validParams() error {
	if err := catalog.CheckParams(s.Params); err != nil {
		return err
	}
	v, err := catalog.Parse("workload "+s.Name, "", s.Params)
	if err != nil {
		return err
	}
	_, err = NewSettings(v, nil, time.Second)
	return err
}

// Catalogue is a list of workloads by name.
type Catalogue = catalog.Catalog[Spec]

// Workload is what one client does again and again.
type Workload interface {
	// Section runs one section and reports whether the lock was granted. It returns an error only if the client cannot
	// go on; refusals and losses of the lock are on record.
	Section(ctx context.Context, c *Client, t Turn) (granted bool, err error)
}

// Turn identifies a section. A last one does not linger: it waits for the lock that it names, does its work at once
// and releases.
type Turn struct {
	Last bool
	Lock string // of a last section
}

// Settings are the settings of a workload: the common parameters, resolved, and all of them as they were given.
type Settings struct {
	Locks   []string
	TTL     time.Duration
	Hold    time.Duration // longest time between read and write
	Think   time.Duration // longest pause between two sections
	Try     float64       // share of the attempts that do not wait
	Calls   Calls         // that a section makes beside acquire and release
	Values  Values
	Clients int        // of the run
	Dir     string     // folder shared by all clients, for data of its own; empty before the run
	Rand    *rand.Rand // seeded, one per client; nil before the run
}

// Params returns the usual parameters. Durations may be multiples of the ttl.
func Params() []Param {
	return []Param{
		{Name: "hold", Default: "0.1ttl", Doc: "longest time that a client stays in its critical section"},
		{Name: "think", Default: "0.05ttl", Doc: "longest pause between two critical sections of a client"},
		{Name: "try", Default: "0.1", Doc: "fraction (0 to 1) of the acquire calls that do not wait if another client holds the lock"},
	}
}

// NewSettings resolves parameters. Common ones that the workload does not have are 0.
func NewSettings(v Values, locks []string, ttl time.Duration) (Settings, error) {
	s := Settings{Locks: locks, TTL: ttl, Values: v}
	var err error
	if s.Hold, err = v.Length("hold", ttl); err != nil {
		return s, err
	}
	if s.Think, err = v.Length("think", ttl); err != nil {
		return s, err
	}
	if v["try"] != "" {
		if s.Try, err = v.Fraction("try"); err != nil {
			return s, err
		}
	}
	if s.Calls, err = newCalls(v); err != nil {
		return s, err
	}
	if s.Calls.Pair && len(locks) == 1 {
		return s, errors.New("pair=yes needs a second lock: use --locks 2 or more")
	}
	return s, nil
}

// Fence returns the rule by which the fenced register takes tokens: that of a parameter `fence`, else the strict one.
func (s Settings) Fence() register.Fence {
	return register.Fence(cmp.Or(s.Values[paramFence], string(register.Strict)))
}

const paramFence = "fence"

// Lock chooses the lock of a section.
func (s *Settings) Lock(t Turn) string {
	if t.Last {
		return t.Lock
	}
	return s.Locks[s.Rand.IntN(len(s.Locks))]
}

// upTo is a random duration in [limit/2, limit].
func (s *Settings) upTo(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return limit/2 + time.Duration(s.Rand.Int64N(int64(limit/2)+1))
}

// Pause waits between two sections; it ends with ctx.
func (s *Settings) Pause(ctx context.Context, t Turn) {
	if t.Last || s.Think <= 0 {
		return
	}
	pause(ctx, time.Duration(s.Rand.Int64N(int64(s.Think)+1)))
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
