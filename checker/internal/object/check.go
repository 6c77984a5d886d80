// Package object asks of the lock: is there an order of its operations that a lock of its model could have made
// (lock-linearizability)? A sweep of package lin decides, Porcupine confirms.
package object

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the check of this package asks: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Check is the check [checker.LockLinearizability].
func Check() checker.Check { return InPieces(pieceSize) }

// InPieces is [Check] for twins and mutants, which judge small histories in pieces of another size, in operations; 0 is the
// usual one.
func InPieces(size int) checker.Check {
	if size == 0 {
		size = pieceSize
	}
	return checker.Check{
		Name: checker.LockLinearizability, Doc: "could a correct lock have given all the answers that the clients got (does a legal " +
			"order of all operations exist)?",
		Gates:   checker.Always,
		Applies: checker.IsLock,
		Run:     func(in *checker.Input) checker.Result { return judgeLocks(of(in), size) },
	}
}
