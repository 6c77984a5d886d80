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
	Spared   bool      `json:"spared,omitempty"` // it fails only by what the run does not count
	Quiet    bool      `json:"quiet,omitempty"`  // its figures are for readers who look for them; reports leave it out
	Code     Code      `json:"code,omitempty"`   // why it is unknown or was skipped
	Reason   string    `json:"reason,omitempty"`
	Method   string    `json:"method,omitempty"`
	Findings []Finding `json:"findings"`
	Figures  Figures   `json:"figures,omitempty"`
	Proof    Proof     `json:"proof,omitempty"`
}

// Code says why a check was skipped or is unknown, for programs. Reason says it for people.
type Code string

// Codes.
const (
	CodeNoTokens      Code = "no-tokens"      // the lock issues none
	CodeNoData        Code = "no-data"        // the workload touches none
	CodeUnused        Code = "unused"         // the run does not use that register
	CodeNoLease       Code = "no-lease"       // nothing could be lost
	CodeNoClock       Code = "no-clock"       // the lock's own times are not known
	CodeNoLock        Code = "no-lock"        // nothing is locked
	CodeElsewhere     Code = "elsewhere"      // it is about another kind of workload: reports leave it out
	CodePanicked      Code = "panicked"       // the check itself failed
	CodeUnsound       Code = "unsound-record" // the record cannot be trusted
	CodeNoEnd         Code = "no-end"         // the record is cut off
	CodeTimeout       Code = "timeout"        // out of time, or too large to be judged
	CodeNotHit        Code = "not-hit"        // a fault that was asked for hit nobody
	CodeNoFinal       Code = "no-final"       // the run had no final sections
	CodeNoGrant       Code = "no-grant"       // no client ever got a lock, for unknown reasons
	CodeUntried       Code = "untried"        // a lock, a mode or a client was not tried at the end
	CodeStarved       Code = "starved"        // some clients waited in vain while others were granted
	CodeStillHurt     Code = "still-hurt"     // a fault was at work in the final sections
	CodeDoubtful      Code = "doubtful"       // the host or the record explains every finding
	CodeContradiction Code = "contradiction"  // two views of the same data disagree, or two judges of the same lock
)

// Figures are named numbers, with the unit in the name. A figure that was not measured is absent, not 0.
type Figures map[string]int64

// Raise sets a figure to v if that is larger.
func (f Figures) Raise(name string, v int64) {
	if old, ok := f[name]; !ok || v > old {
		f[name] = v
	}
}

// Lower sets a figure to v if that is smaller.
func (f Figures) Lower(name string, v int64) {
	if old, ok := f[name]; !ok || v < old {
		f[name] = v
	}
}

// Proof is what a check saw, as compact JSON, so that reading it back yields the same bytes.
type Proof json.RawMessage

// NewProof encodes what a check saw. It panics if v cannot be encoded, which is a programmer's error.
func NewProof(v any) Proof {
	b, err := json.Marshal(v)
	if err != nil {
		panic("checker: proof cannot be encoded: " + err.Error())
	}
	return b
}

// MarshalJSON returns the proof as it is.
func (p Proof) MarshalJSON() ([]byte, error) { return json.RawMessage(p).MarshalJSON() }

// UnmarshalJSON removes the indentation.
func (p *Proof) UnmarshalJSON(raw []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err
	}
	*p = b.Bytes()
	return nil
}

// ErrNoProof is returned for a check without a proof.
var ErrNoProof = errors.New("the result of this check contains no proof")

// ProofInto decodes the proof, of type [LockProof], [DataProof] or []Recovery.
func (r Result) ProofInto(v any) error {
	if len(r.Proof) == 0 {
		return ErrNoProof
	}
	return json.Unmarshal(r.Proof, v)
}

// MaxFindings bounds the findings that a check lists; the others are counted.
const MaxFindings = 100

// Conclude makes a result of all findings: fail if one is certain, unknown if all that gate are doubtful. It lists
// the first ones by [Rank]; the others cannot change the answer. total is the number found, where that is more.
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

// Undecided returns the result of a check that cannot answer.
func Undecided(code Code, reason string) Result {
	return Result{Verdict: Unknown, Code: code, Reason: reason}
}
