// Package tokens asks of fencing tokens whether they are a fence: unique, growing, and never refused while they are valid.
package tokens

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
)

// question is what the check of this package asks: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Check is the check [checker.FencingTokens].
func Check() checker.Check {
	return checker.Check{
		Name: checker.FencingTokens, Doc: "do fencing tokens increase from grant to grant, and does the fence accept every " +
			"valid token?",
		Gates:   checker.WithFence,
		Applies: checker.HasTokens,
		Run:     func(in *checker.Input) checker.Result { return fencingTokens(of(in)) },
	}
}
