// Package data asks of what the lock protects: were updates of a register lost (data-plain, data-fenced), is a stock whole
// (stock), was a job done twice (once). It replays the resource's log, and holds it against what the clients were told.
package data

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
	"github.com/lockstorm/lockstorm/checker/facts"
)

// question is what the checks of this package ask: the facts of a record and their causes.
type question struct{ causes.Causes }

func of(in *checker.Input) question { return question{causes.Of(in)} }

// Plain is the check [checker.DataPlain].
func Plain() checker.Check {
	return checker.Check{
		Name: checker.DataPlain, Doc: "was data damaged in the unfenced register `plain`, which accepts every write?",
		Gates: withoutFence,
		Applies: func(in *checker.Input) (checker.Code, string) {
			return of(in).uses(facts.RegPlain, "with --fencing on, the clients use only the fenced register")
		},
		Run: func(in *checker.Input) checker.Result { return of(in).data(facts.RegPlain) },
	}
}

// Fenced is the check [checker.DataFenced].
func Fenced() checker.Check {
	return checker.Check{
		Name: checker.DataFenced, Doc: "was data damaged in the register `fenced`, which refuses outdated fencing tokens?",
		Gates: checker.WithFence,
		Applies: func(in *checker.Input) (checker.Code, string) {
			if code, why := checker.HasTokens(in); code != "" {
				return code, why
			}
			return of(in).uses(facts.RegFenced, "with --fencing off, the clients use only the plain register")
		},
		Run: func(in *checker.Input) checker.Result { return of(in).data(facts.RegFenced) },
	}
}

// Stock is the check [checker.Stock].
func Stock() checker.Check {
	return checker.Check{
		Name: checker.Stock, Doc: "do the stock and its ledger (a count of its changes) agree?",
		Gates:   keepsStock,
		Applies: func(in *checker.Input) (checker.Code, string) { return hasStock(of(in)) },
		Run:     func(in *checker.Input) checker.Result { return stock(of(in)) },
	}
}

// Once is the check [checker.Once].
func Once() checker.Check {
	return checker.Check{
		Name: checker.Once, Doc: "was each periodic job done at most once in its period?",
		Gates:   doesJobs,
		Applies: func(in *checker.Input) (checker.Code, string) { return hasJobs(of(in)) },
		Run:     func(in *checker.Input) checker.Result { return once(of(in)) },
	}
}
