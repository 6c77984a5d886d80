// Package coverage asks whether the faults of a run hit anybody: one that hit nobody has shown nothing.
package coverage

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the check of this package asks: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Check is the check [checker.Coverage].
func Check() checker.Check {
	return checker.Check{
		Name: checker.Coverage, Doc: "did each requested fault hit at least one client that waited for, held or released the lock?",
		Gates: checker.Always,
		Run:   func(in *checker.Input) checker.Result { return coverage(of(in)) },
	}
}
