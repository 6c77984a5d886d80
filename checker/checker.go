// Package checker lets you judge a record ([Judge]), or add a [Check] of your own. Each [Check] is a pure function of one
// [Input], made from a history alone; [Judge] runs them and folds their answers into [Results]. A check never sees a backend.
//
//	history.History -> NewInput -> Check.Run (each) -> Result -> Judge -> Results
//
// A check answers pass, fail, unknown or skipped, never a bare boolean. A false alarm is the worst that can happen
// here, a missed violation the second worst.
//
// A check of another module is a [Check] in the catalogue like any other: it reads the record ([Input]), makes
// findings, and ends with [Conclude], or says in Applies why it does not apply.
package checker

import (
	"errors"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Verdict is the answer of a check or of a run.
type Verdict string

// Verdicts. Unknown also stands for a panic, a time-out, or an unsound record.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Unknown Verdict = "unknown"
	Skipped Verdict = "skipped"
)

// Check is one question to a history. It writes nothing: its [Result] has all that it found.
type Check struct {
	Name string
	Doc  string
	// Gates reports whether a run that does not name its required checks requires this one; nil: never.
	Gates func(history.Run) bool
	// Applies returns why the check does not apply to this history, with a code. An empty code, and nil, mean that it
	// applies.
	Applies func(*Input) (Code, string)
	// Run answers the question. It is called only if the check applies.
	Run func(*Input) Result
}

// EntryName returns the name in the catalogue.
func (c Check) EntryName() string { return c.Name }

// EntryDoc returns the line that `list` shows.
func (c Check) EntryDoc() string { return c.Doc }

// Valid returns what is wrong with the check, in a sentence. The catalogue calls it when the check is added.
func (c Check) Valid() error {
	if c.Run == nil {
		return errors.New("the field `Run` is missing: it must be a function that judges the record")
	}
	return nil
}

// Catalogue is a list of checks by name.
type Catalogue = catalog.Catalog[Check]

// Names of the checks, as in results.json.
const (
	Assumptions         = "assumptions"
	Coverage            = "coverage"
	MutualExclusion     = "mutual-exclusion"
	LockLinearizability = "lock-linearizability"
	DataPlain           = "data-plain"
	DataFenced          = "data-fenced"
	FencingTokens       = "fencing-tokens"
	LossNotice          = "loss-notice"
	Ownership           = "ownership"
	Liveness            = "liveness"
	Fairness            = "fairness"
	Cost                = "cost"
	Deadlock            = "deadlock"
	Bounded             = "bounded"
	Once                = "once"
	Stock               = "stock"
)

// Always is a [Check.Gates] for checks that every run requires.
func Always(history.Run) bool { return true }
