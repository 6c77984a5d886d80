// Package checker judges histories. Each [Check] is a pure function of one [Input], made
// from a history and nothing else; [Judge] runs them and folds their answers into
// [Results]. A check never sees a backend.
//
//	history.History -> NewInput -> Check.Run (each) -> Result -> Judge -> Results
//
// A check answers pass, fail, unknown or skipped, never a bare boolean. A false alarm
// is the worst that can happen here, a missed violation the second worst.
package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

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

// Class says what the cure of a finding is.
type Class string

// The classes. People act on them differently: fencing cures what is inherent to
// leases, another lock cures a defect.
const (
	Inherent     Class = "inherent"     // a lease had run out: what every lock with leases can do
	Defect       Class = "defect"       // both grants were valid: the lock is broken
	Undetermined Class = "undetermined" // it turns on a deadline that is not on record
	NoClass      Class = "none"         // the question does not arise
)

// Finding is one thing that is wrong, with the events that show it.
type Finding struct {
	Rule    string  `json:"rule"`
	Class   Class   `json:"class"`
	Cause   string  `json:"cause"`
	Gating  bool    `json:"gating"` // false: reported, and does not fail the run
	Message string  `json:"message"`
	Events  []int64 `json:"events"` // indexes in the history
	From    int64   `json:"from_ns"`
	To      int64   `json:"to_ns"`

	// Grants are the grants that the finding is about, the earlier first.
	Grants []string `json:"grants,omitempty"`
	// Doubtful findings make a check unknown, not failed: the host explains them.
	Doubtful bool `json:"doubtful,omitempty"`
}

// Result is the answer of one check.
type Result struct {
	Verdict  Verdict   `json:"verdict"`
	Required bool      `json:"required"`
	Reason   string    `json:"reason,omitempty"`
	Method   string    `json:"method,omitempty"`
	Findings []Finding `json:"findings"`
	Proof    any       `json:"proof,omitempty"`
}

// Check is one question to a history.
type Check struct {
	Name string
	Doc  string
	Run  func(*Input) Result
}

// EntryName is the name in the catalogue.
func (c Check) EntryName() string { return c.Name }

// EntryDoc is the line that `list` shows.
func (c Check) EntryDoc() string { return c.Doc }

// Catalogue is a list of checks by name.
type Catalogue = catalog.Catalog[Check]

// Default is the catalogue of all checks, in the order in which they are reported.
func Default() *Catalogue {
	return catalog.New("check",
		Check{Assumptions, "is the record itself sound?", assumptions},
		Check{Coverage, "did the faults hit anything?", coverage},
		Check{MutualExclusion, "did two clients believe that they held the lock at once?", mutualExclusion},
		Check{LockLinearizability, "did the lock object behave as a lock?", linearizability},
		Check{DataPlain, "was the data without a fence damaged?", dataPlain},
		Check{DataFenced, "was the data behind the fence damaged?", dataFenced},
		Check{FencingTokens, "are the tokens a fence: unique, growing, never refused when valid?", fencingTokens},
		Check{LossNotice, "was a holder told that it lost the lock, and how late? (reported; it gates where it is required)", lossNotice},
		Check{Ownership, "can only the owner release?", ownership},
		Check{Liveness, "does it come back: can every client acquire again in time?", liveness},
	)
}

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
)

// Input is a history prepared for the checks.
type Input struct {
	*history.Record
	Raw   *history.History
	Stats Stats
	Limit time.Duration // for each check that can take long

	stalls    []stall // unplanned ones
	holds     map[*history.Grant]history.Interval
	robberies func() []robbery // computed once
	tooLate   func() []robbery // late releases that were carried out, without a victim; computed once
}

// Stats are named numbers, each with its unit in its name; what was not measured is
// absent.
type Stats map[string]int64

// max raises a statistic.
func (s Stats) max(name string, v int64) {
	if old, ok := s[name]; !ok || v > old {
		s[name] = v
	}
}

// first lowers a statistic.
func (s Stats) first(name string, v int64) {
	if old, ok := s[name]; !ok || v < old {
		s[name] = v
	}
}

// NewInput prepares a history. It fails where the history does not even say what was
// run.
func NewInput(h *history.History) (*Input, error) {
	rec, err := history.Build(h)
	if err != nil {
		return nil, err
	}
	in := &Input{
		Record: rec, Raw: h, Stats: Stats{}, Limit: 10 * time.Second,
		holds: make(map[*history.Grant]history.Interval, len(rec.Grants)),
	}
	in.stalls = in.unplannedStalls()
	in.robberies = sync.OnceValue(in.findRobberies)
	in.tooLate = sync.OnceValue(in.findLateReleases)
	return in, nil
}

// hold is the proven hold of a grant, computed once.
func (in *Input) hold(g *history.Grant) history.Interval {
	h, ok := in.holds[g]
	if !ok {
		h = in.ProvenHold(g)
		in.holds[g] = h
	}
	return h
}

// maxFindings bounds what a check lists; the rest is counted.
const maxFindings = 100

// conclude makes a result of all findings: fail when one is certain, unknown when all
// that gate are doubtful. What is listed are the worst ones: what is left out cannot change
// the answer. total is the number found, where that is more.
func conclude(method string, findings []Finding, total int) Result {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.severity(), b.severity()) })
	r := Result{Verdict: Pass, Method: method, Findings: findings[:min(len(findings), maxFindings)]}
	switch {
	case len(findings) == 0:
	case findings[0].Gating && findings[0].Doubtful:
		r.Verdict = Unknown
		r.Reason = "every finding has an explanation in the host or in the record: " + findings[0].Cause
	default:
		r.Verdict = Fail
	}
	if total > len(r.Findings) && r.Reason == "" {
		r.Reason = fmt.Sprintf("%d findings, the worst %d are listed", total, len(r.Findings))
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.From, b.From) })
	return r
}

// severity orders findings, the worst first: what gates for certain, what may gate, the
// rest; defects before what is inherent.
func (f Finding) severity() int {
	rank := map[Class]int{Defect: 0, Undetermined: 1, NoClass: 2, Inherent: 3}[f.Class]
	switch {
	case f.Gating && !f.Doubtful:
		return rank
	case f.Gating:
		return 10 + rank
	default:
		return 20 + rank
	}
}

// skipped is a check that does not apply.
func skipped(reason string) Result { return Result{Verdict: Skipped, Reason: reason} }

// ms shows a time or a length in ns to people.
func ms(ns int64) string { return fmt.Sprintf("%.1f ms", float64(ns)/1e6) }

// sec shows a moment of the run to people.
func sec(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }
