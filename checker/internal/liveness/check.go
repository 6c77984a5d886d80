// Package liveness asks whether the lock comes back: after all faults are healed, every client is granted it again in time. It
// names who may have kept it, and measures how long it took after each fault.
package liveness

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the check of this package asks: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Check is the check [checker.Liveness].
func Check() checker.Check {
	return checker.Check{
		Name: checker.Liveness, Doc: "can every client acquire the lock again after the faults end?",
		Gates: checker.Always,
		Run:   func(in *checker.Input) checker.Result { return liveness(of(in)) },
	}
}
