// Package workloads is what the clients do. A [Workload] runs one section at a time
// through a [Client], which records every operation, reaches the points that faults are
// tied to, and obeys (or not) the loss of its lease:
//
//	Workload.Section -> Client.Acquire -> Hold.Read / Write -> Hold.Release
//	                        |                  |                   |
//	                     backend            resource            backend     (all recorded)
package workloads

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/workloads/register"
)

// Spec describes a workload.
type Spec struct {
	Name     string
	Doc      string
	Resource bool // it reads and writes the registers
	Params   []catalog.Param
	New      func(Settings) Workload
}

// EntryName is the name in the catalogue.
func (s Spec) EntryName() string { return s.Name }

// EntryDoc is the line that `list` shows.
func (s Spec) EntryDoc() string { return s.Doc }

// Catalogue is a list of workloads by name.
type Catalogue = catalog.Catalog[Spec]

// Workload is what one client does again and again.
type Workload interface {
	// Section runs one section and says whether the lock was granted. It returns an error
	// only when the client cannot go on; what the lock refuses or loses is on record.
	Section(ctx context.Context, c *Client, t Turn) (granted bool, err error)
}

// Turn says which section it is. A last one does not linger: it waits for the lock that
// it names, does its work at once and releases.
type Turn struct {
	Last bool
	Lock string // of a last section
}

// Settings are the parameters of a workload, resolved.
type Settings struct {
	Locks []string
	Hold  time.Duration // longest time between read and write
	Think time.Duration // longest pause between two sections
	Try   float64       // part of the attempts that do not wait
	Fence register.Fence
	Rand  *rand.Rand // seeded, one per client
}

// Params are what every workload has. Lengths may be multiples of the ttl.
func Params() []catalog.Param {
	return []catalog.Param{
		{Name: "hold", Default: "0.1ttl", Doc: "longest time that a client stays in its section"},
		{Name: "think", Default: "0.05ttl", Doc: "longest pause between two sections of a client"},
		{Name: "try", Default: "0.1", Doc: "part of the attempts (0 to 1) that do not wait for the lock"},
	}
}

// NewSettings resolves parameters.
func NewSettings(v catalog.Values, locks []string, ttl time.Duration, rnd *rand.Rand) (Settings, error) {
	s := Settings{Locks: locks, Rand: rnd}
	var err error
	if s.Hold, err = v.Length("hold", ttl); err != nil {
		return s, err
	}
	if s.Think, err = v.Length("think", ttl); err != nil {
		return s, err
	}
	if s.Try, err = v.Fraction("try"); err != nil {
		return s, err
	}
	s.Fence = register.Fence(cmp.Or(v["fence"], string(register.Strict)))
	if s.Fence != register.Strict && s.Fence != register.AtLeast {
		return s, fmt.Errorf("fence=%s: choose %s or %s", s.Fence, register.Strict, register.AtLeast)
	}
	return s, nil
}

// lock chooses the lock of the section.
func (s *Settings) lock(t Turn) string {
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

// think pauses between sections, until ctx ends.
func (s *Settings) think(ctx context.Context, t Turn) {
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
