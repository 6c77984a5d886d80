package checker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Result is the answer of one check: the verdict and all that was found.
type Result struct {
	Verdict  Verdict   `json:"verdict"`
	Required bool      `json:"required"`
	Named    bool      `json:"named,omitempty"`  // the run requires it by name
	Spared   bool      `json:"spared,omitempty"` // it fails by nothing but what the run does not count
	Quiet    bool      `json:"quiet,omitempty"`  // it has figures for who looks for them, and reports leave it out
	Code     Code      `json:"code,omitempty"`   // why it is unknown or was skipped
	Reason   string    `json:"reason,omitempty"`
	Method   string    `json:"method,omitempty"`
	Findings []Finding `json:"findings"`
	Figures  Figures   `json:"figures,omitempty"`
	Proof    Proof     `json:"proof,omitempty"`
}

// Code says why a check was skipped or is unknown, for programs; Reason says it to people.
type Code string

// The codes.
const (
	CodeNoTokens      Code = "no-tokens"      // the lock issues none
	CodeNoData        Code = "no-data"        // the workload touches none
	CodeUnused        Code = "unused"         // the run does not use that register
	CodeNoLease       Code = "no-lease"       // nothing that could be lost
	CodeNoClock       Code = "no-clock"       // the lock's own times are not known
	CodeNoLock        Code = "no-lock"        // nothing is locked
	CodeElsewhere     Code = "elsewhere"      // it is about another kind of workload: reports leave it out
	CodePanicked      Code = "panicked"       // the check itself failed
	CodeUnsound       Code = "unsound-record" // the record cannot be trusted
	CodeNoEnd         Code = "no-end"         // the record is cut off
	CodeTimeout       Code = "timeout"        // out of time, or too large to be judged
	CodeNotHit        Code = "not-hit"        // a fault that was asked for hit nobody
	CodeNoFinal       Code = "no-final"       // the run had no final sections
	CodeNoGrant       Code = "no-grant"       // no client ever got a lock, and nobody knows why
	CodeUntried       Code = "untried"        // a lock, a mode or a client was not tried in the end
	CodeStarved       Code = "starved"        // some clients waited in vain while others were granted
	CodeStillHurt     Code = "still-hurt"     // a fault was at work in the final sections
	CodeDoubtful      Code = "doubtful"       // the host or the record explains every finding
	CodeContradiction Code = "contradiction"  // two views of the same data disagree, or two judges of the same lock
)

// Figures are named numbers, each with its unit in its name; what was not measured is
// absent, not 0.
type Figures map[string]int64

// Raise keeps the larger of a figure and a value.
func (f Figures) Raise(name string, v int64) {
	if old, ok := f[name]; !ok || v > old {
		f[name] = v
	}
}

// Lower keeps the smaller of a figure and a value.
func (f Figures) Lower(name string, v int64) {
	if old, ok := f[name]; !ok || v < old {
		f[name] = v
	}
}

// Proof is what a check saw, as JSON in its compact form, so that it is the same after
// reading it back.
type Proof json.RawMessage

// NewProof encodes what a check saw. It panics when v cannot be encoded, which is a
// programmer's error.
func NewProof(v any) Proof {
	b, err := json.Marshal(v)
	if err != nil {
		panic("checker: proof cannot be encoded: " + err.Error())
	}
	return b
}

// MarshalJSON is the proof itself.
func (p Proof) MarshalJSON() ([]byte, error) { return json.RawMessage(p).MarshalJSON() }

// UnmarshalJSON takes the indentation away.
func (p *Proof) UnmarshalJSON(raw []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err
	}
	*p = b.Bytes()
	return nil
}

// ErrNoProof is the answer for a check that gave none.
var ErrNoProof = errors.New("the result of this check contains no proof")

// ProofInto decodes the proof: the types are [LockProof], [DataProof] and []Recovery.
func (r Result) ProofInto(v any) error {
	if len(r.Proof) == 0 {
		return ErrNoProof
	}
	return json.Unmarshal(r.Proof, v)
}

// MaxFindings bounds what a check lists; the rest is counted.
const MaxFindings = 100

// Conclude makes a result of all findings: fail when one is certain, unknown when all
// that gate are doubtful. What is listed are the first ones by [Rank]: what is left out cannot change
// the answer. total is the number found, where that is more.
func Conclude(method string, findings []Finding, total int) Result {
	slices.SortStableFunc(findings, Rank)
	r := Result{Verdict: Pass, Method: method, Findings: findings[:min(len(findings), MaxFindings)]}
	switch {
	case len(findings) == 0:
	case findings[0].Gating && findings[0].Doubtful:
		r.Verdict, r.Code = Unknown, CodeDoubtful
		r.Reason = "no finding counts, because each of them may have a cause other than the lock: " + findings[0].Cause
	default:
		r.Verdict = Fail
	}
	if total > len(r.Findings) && r.Reason == "" {
		r.Reason = fmt.Sprintf("%d findings in total, but only the worst %d are listed", total, len(r.Findings))
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return r
}

// Undecided is a check that cannot answer.
func Undecided(code Code, reason string) Result {
	return Result{Verdict: Unknown, Code: code, Reason: reason}
}
