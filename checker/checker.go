// Package checker judges histories. Each [Check] is a pure function of one [Input], made
// from a history and nothing else; [Judge] runs them and folds their answers into
// [Results]. A check never sees a backend.
//
//	history.History -> NewInput -> Check.Run (each) -> Result -> Judge -> Results
//
// A check answers pass, fail, unknown or skipped, never a bare boolean. A false alarm
// is the worst that can happen here, a missed violation the second worst.
//
// A check of another module is a [Check] in the catalogue like any other: it reads the
// record ([Input]), makes findings, and ends with [Conclude] or, where it does not apply,
// says so in Applies.
package checker

import (
	"errors"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

// Verdict is the answer of a check or of a run.
type Verdict string

// The verdicts. Unknown also stands for a panic, a time-out, or an unsound record.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Unknown Verdict = "unknown"
	Skipped Verdict = "skipped"
)

// Check is one question to a history. It writes nothing: all that it found is in its
// [Result].
type Check struct {
	Name string
	Doc  string
	// Slow checks run beside the others. They may read the input, as all may.
	Slow bool
	// Gates reports whether the check is required of a run that does not name the checks
	// that it requires; nil: never.
	Gates func(history.Run) bool
	// Applies says why the check has nothing to ask of this history, with a code; an empty
	// code: it has. nil: always.
	Applies func(*Input) (Code, string)
	// Run answers; only where the check applies.
	Run func(*Input) Result
}

// EntryName is the name in the catalogue.
func (c Check) EntryName() string { return c.Name }

// EntryDoc is the line that `list` shows.
func (c Check) EntryDoc() string { return c.Doc }

// Valid says in a sentence what is wrong with the check: it is asked when the check is added
// to a catalogue.
func (c Check) Valid() error {
	if c.Run == nil {
		return errors.New("it has no Run")
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

// Always is [Check.Gates] of a check that every run requires.
func Always(history.Run) bool { return true }

// Default is the catalogue of all checks, in the order in which they are reported.
func Default() *Catalogue {
	return catalog.New("check",
		Check{Name: Assumptions, Doc: "is the record itself sound?", Slow: true, Gates: Always, Run: assumptions},
		Check{Name: Coverage, Doc: "did the faults hit anything?", Gates: Always, Run: coverage},
		Check{Name: MutualExclusion, Doc: "did two clients believe that they held the lock at once?", Gates: Always, Applies: isLock, Run: mutualExclusion},
		Check{Name: LockLinearizability, Doc: "did the lock object behave as a lock?", Slow: true, Gates: Always, Applies: isLock, Run: linearizability},
		Check{Name: DataPlain, Doc: "was the data without a fence damaged?", Gates: withoutFence, Applies: usesPlain, Run: dataPlain},
		Check{Name: DataFenced, Doc: "was the data behind the fence damaged?", Gates: withFence, Applies: usesFenced, Run: dataFenced},
		Check{Name: FencingTokens, Doc: "are the tokens a fence: unique, growing, never refused when valid?", Gates: withFence, Applies: hasTokens, Run: fencingTokens},
		Check{Name: LossNotice, Doc: "was a holder told that it lost the lock, and how late? (reported; it gates where it is required)", Applies: hasLeases, Run: lossNotice},
		Check{Name: Ownership, Doc: "can only the owner release?", Gates: Always, Run: ownership},
		Check{Name: Liveness, Doc: "does it come back: can every client acquire again in time?", Gates: Always, Run: liveness},
		Check{Name: Fairness, Doc: "who is next: how often was a client that waited overtaken by one that asked later? (reported; it gates where it is required)", Applies: waitsForGrants, Run: fairness},
		Check{Name: Cost, Doc: "what did a hand-off cost, in requests and notices? (reported)", Applies: wasCounted, Run: cost},
		Check{Name: Deadlock, Doc: "how did clients that waited for each other get out of it? (reported; liveness judges those that never do)", Applies: takesTwo, Run: deadlock},
		Check{Name: Bounded, Doc: "was every try answered within its bound?", Gates: statesBounds, Applies: boundsTries, Run: bounded},
		Check{Name: Stock, Doc: "are a stock and its ledger whole, where values come back?", Gates: keepsStock, Applies: hasStock, Run: stock},
		Check{Name: Once, Doc: "was the job of each period done once?", Gates: doesJobs, Applies: hasJobs, Run: once},
	)
}

func withoutFence(run history.Run) bool { return run.Fencing != history.FencingOn }

func withFence(run history.Run) bool { return run.Fencing != history.FencingOff }

func statesBounds(run history.Run) bool { return run.Bounds[boundTry] > 0 }

func doesJobs(run history.Run) bool { return run.Bounds[boundPeriod] > 0 }

func hasTokens(in *Input) (Code, string) {
	if !in.Run.Tokens {
		return CodeNoTokens, "issues no tokens"
	}
	return "", ""
}

func isLock(in *Input) (Code, string) {
	if !in.Model.Locks() {
		return CodeNoLock, "nothing is locked: conflicts are found when the data is written"
	}
	return "", ""
}

func hasLeases(in *Input) (Code, string) {
	if !in.Leased() {
		return CodeNoLease, "its grants have no lease that could be lost"
	}
	return "", ""
}
