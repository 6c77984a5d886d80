// Package waits asks how clients waited: who was overtaken (fairness), who waited for each other (deadlock), whether a try was
// answered in its bound (bounded), and what a hand-off cost (cost).
package waits

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the checks of this package ask: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Fairness is the check [checker.Fairness].
func Fairness() checker.Check {
	return checker.Check{
		Name: checker.Fairness, Doc: "how often did a client get the lock before another client that had asked earlier? (fails a run " +
			"only if --require names this check)",
		Applies: func(in *checker.Input) (checker.Code, string) { return waitsForGrants(of(in)) },
		Run:     func(in *checker.Input) checker.Result { return fairness(of(in)) },
	}
}

// Cost is the check [checker.Cost].
func Cost() checker.Check {
	return checker.Check{
		Name: checker.Cost, Doc: "how many requests and notifications does one hand-off of the lock to the next client take? (never " +
			"fails a run)",
		Applies: func(in *checker.Input) (checker.Code, string) { return wasCounted(of(in)) },
		Run:     func(in *checker.Input) checker.Result { return cost(of(in)) },
	}
}

// Deadlock is the check [checker.Deadlock].
func Deadlock() checker.Check {
	return checker.Check{
		Name: checker.Deadlock, Doc: "how long did deadlocks (clients that wait for each other's locks) last? (this check never " +
			"fails a run, but the check `liveness` fails if a deadlock never ends)",
		Applies: func(in *checker.Input) (checker.Code, string) { return takesTwo(of(in)) },
		Run:     func(in *checker.Input) checker.Result { return deadlock(of(in)) },
	}
}

// Bounded is the check [checker.Bounded].
func Bounded() checker.Check {
	return checker.Check{
		Name: checker.Bounded, Doc: "did every attempt to acquire the lock without waiting (try-acquire) return within the time limit?",
		Gates:   statesBounds,
		Applies: func(in *checker.Input) (checker.Code, string) { return boundsTries(of(in)) },
		Run:     func(in *checker.Input) checker.Result { return bounded(of(in)) },
	}
}
