// Package lin decides whether the operations of some grants of one lock can have taken
// effect one after the other, each within its interval, as those of a lock of a given
// model. It knows nothing of records: package checker prepares the operations.
//
//	[]Op of each grant -> Sweep.Grant, Sweep.Judge -> legal + Sweep.Order -> Replay -> error
//	                                               -> illegal, with culprits
//	history.Model + grants -> For -> Engine (Porcupine); []Op -> Engine.Judge -> legal, illegal, undecided
//
// A [Sweep] is one pass and decides whatever the length; an [Engine] searches, confirms
// what the sweep finds, and decides the rare rest.
package lin

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Op is an operation on one lock, with the closed interval in which it took effect.
type Op struct {
	Kind      Kind
	Grant     int    // number of the grant: its place in what [For] was given
	ID        string // of the grant, for people
	Call, Ret int64
	// Loose, of a counted lock: the operation says nothing about what was held, because its
	// owner may have got a grant that nobody knows of.
	Loose bool
	// Level, of a counted lock: the renewals of its grant up to this one, itself included;
	// an end that may be (May) is one only where no later one was applied.
	Level int
}

// Kind says what an operation did.
type Kind uint8

// The kinds.
const (
	Acquire Kind = iota // takes the lock
	Release             // the store removed the grant: it was held
	Renew               // extended it: it was held at one moment
	NotHeld             // the store said that the grant does not hold the lock
	May                 // may end the grant, or never take effect: an unknown release, an expiry, a death
)

var kindNames = [...]string{"acquire", "release", "renew", "not-held answer", "possible end"}

// Answer is what an engine says.
type Answer int

// The answers.
const (
	Undecided Answer = iota // out of time
	Legal
	Illegal
)

// Engine judges operations on one lock. What it answers keeps to two rules, by which its
// callers reduce a violation: the order in which operations are given does not matter, and
// operations that are legal stay so when all those of a grant, or of a counted owner, are
// taken out.
type Engine interface {
	Judge(ops []Op, within time.Duration) Answer
}

// For is Porcupine with a model. The grants are those that operations name by number.
func For(m history.Model, grants []*history.Grant) Engine {
	switch {
	case m.Counts():
		return &engine{countedModel(m, grants)}
	case m.Shares():
		return &engine{sharedModel(m, grants)}
	default:
		return mutex
	}
}

// Lock says what a model is, for people.
func Lock(m history.Model) string {
	switch {
	case m.Counts():
		return "a reentrant lock with leases"
	case m.Shares():
		return "a read-write lock with leases"
	default:
		return "a lock with owners and leases"
	}
}
