// Package ownership asks who released a lock: only its owner may.
package ownership

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the check of this package asks: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Check is the check [checker.Ownership].
func Check() checker.Check {
	return checker.Check{
		Name: checker.Ownership, Doc: "did only the holder of a lock release it?",
		Gates: checker.Always,
		Run:   func(in *checker.Input) checker.Result { return ownership(of(in)) },
	}
}
