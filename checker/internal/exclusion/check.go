// Package exclusion asks of the clients: were two inside at once (mutual-exclusion), and was a holder told in time that it
// had lost the lock (loss-notice).
package exclusion

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the checks of this package ask: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// MutualExclusion is the check [checker.MutualExclusion].
func MutualExclusion() checker.Check {
	return checker.Check{
		Name: checker.MutualExclusion, Doc: "did two clients believe at the same time that they held the lock?",
		Gates:   checker.Always,
		Applies: checker.IsLock,
		Run:     func(in *checker.Input) checker.Result { return mutualExclusion(of(in)) },
	}
}

// LossNotice is the check [checker.LossNotice].
func LossNotice() checker.Check {
	return checker.Check{
		Name: checker.LossNotice, Doc: "did each holder that lost the lock learn of the loss in time? (fails a run only if --require " +
			"names this check)",
		Applies: func(in *checker.Input) (checker.Code, string) { return hasLeases(of(in)) },
		Run:     func(in *checker.Input) checker.Result { return lossNotice(of(in)) },
	}
}
