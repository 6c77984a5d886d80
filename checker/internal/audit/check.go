// Package audit asks whether a record is sound: whether its parts can be told of one run, by parties that recorded what
// they saw. What is unsound makes every other check unknown, so that a fault of the harness is never blamed on a lock.
package audit

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the check of this package asks: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Check is the check [checker.Assumptions].
func Check() checker.Check {
	return checker.Check{
		Name: checker.Assumptions, Doc: "is the recorded history complete and free of contradictions?",
		Gates: checker.Always,
		Run:   func(in *checker.Input) checker.Result { return assumptions(of(in)) },
	}
}
