package checker

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// Class says which remedy a finding needs.
type Class string

// Classes. People act on them differently: a fence protects against what is inherent to leases, another lock against
// a defect.
const (
	Inherent     Class = "inherent"     // a lease had run out: possible with every lock that has leases
	Defect       Class = "defect"       // both grants were valid: the lock is broken
	Undetermined Class = "undetermined" // it depends on a deadline that is not on record
	NoClass      Class = "none"         // the question does not arise
)

// Finding is one thing that is wrong, with the events that show it.
type Finding struct {
	Rule    string  `json:"rule"`
	Class   Class   `json:"class"`
	Reason  Reason  `json:"reason,omitempty"` // what the class depends on
	Cause   string  `json:"cause"`            // for people
	Lead    string  `json:"lead,omitempty"`   // what the record says beside the cause, or in place of one
	Gating  bool    `json:"gating"`           // false: reported only, the run does not fail
	Message string  `json:"message"`          // for people
	Events  []int64 `json:"events"`           // indexes in the history
	From    int64   `json:"from_ns"`
	To      int64   `json:"to_ns"`

	CauseKind CauseKind `json:"cause_kind,omitempty"`
	// Fault is the id of the fault that is the cause, or that held up the client that caused it; 0: none.
	Fault int `json:"fault,omitempty"`
	// Times of a fault that is the cause: when it struck, when its effect was observed, and when it was healed; absent:
	// not on record.
	CauseBegan  int64 `json:"cause_began_ns,omitempty"`
	CauseProven int64 `json:"cause_proven_ns,omitempty"`
	CauseEnded  int64 `json:"cause_ended_ns,omitempty"`

	// Grants are the grants that the finding is about, the earlier first.
	Grants []string `json:"grants,omitempty"`
	// Turns are those of the Grants whose leases decide class and cause, while a check concludes; nil: all.
	Turns []string `json:"-"`
	// Overwritten is the number of acknowledged updates that a client overwrote without having seen them. Lost is how
	// many of these are lost for good: the last value is not built upon them.
	Overwritten int64 `json:"overwritten,omitempty"`
	Lost        int64 `json:"lost,omitempty"`
	// Doubtful findings make a check unknown, not failed: the host explains them.
	Doubtful bool `json:"doubtful,omitempty"`

	// Proof has the fewest events that show the finding, for readers who do not trust the judge; nil for findings about the record.
	Proof *proof.Certificate `json:"proof,omitempty"`
}

// Loss returns what the finding cost.
func (f *Finding) Loss() facts.Loss { return facts.Loss{Lost: f.Lost, Overwritten: f.Overwritten} }

// Cost sets what the finding cost.
func (f *Finding) Cost(l facts.Loss) { f.Lost, f.Overwritten = l.Lost, l.Overwritten }

// Claim returns what the finding of a check claims, for its proof.
func (f *Finding) Claim(check string) proof.Claim {
	return proof.Claim{
		Check: check, Rule: f.Rule, Class: string(f.Class), Reason: string(f.Reason), Grants: f.Grants, From: f.From,
		To: f.To,
	}
}

// Reason says what the class of a finding depends on, for programs.
type Reason string

// Reasons.
const (
	ReasonLeaseOver         Reason = "lease-over"         // the lease of one grant had run out
	ReasonToldLate          Reason = "told-late"          // the library told its user too late that the lease had run out
	ReasonBothValid         Reason = "both-valid"         // both leases were still running
	ReasonNoLease           Reason = "no-lease"           // the grants have no lease
	ReasonDeadlineUnknown   Reason = "deadline-unknown"   // a deadline is not on record
	ReasonConnectionOver    Reason = "connection-over"    // the connection that held one grant may have ended
	ReasonConnectionUnknown Reason = "connection-unknown" // it ended, and nothing on record says when
	// the condition or transaction that guards the data did not hold
	ReasonOwnFence         Reason = "own-fence"
	ReasonNotOver          Reason = "not-over"           // granted although another grant was still valid
	ReasonGoneEarly        Reason = "gone-early"         // the store denied a grant before its lease ran out
	ReasonNotOwner         Reason = "not-owner"          // released by a client that no longer held it
	ReasonRenewedLate      Reason = "renewed-late"       // renewed after another client was granted the lock
	ReasonAppliedLate      Reason = "applied-late"       // sent inside its own hold, applied after it
	ReasonNoOverlap        Reason = "no-overlap"         // its grants never overlapped: suspect the record
	ReasonNotGranted       Reason = "not-granted"        // under a grant that no client got
	ReasonUsedAfterRelease Reason = "used-after-release" // its client wrote after its own release: suspect the client
	ReasonTogether         Reason = "together"           // its grants may be held at once: suspect the workload
	ReasonNeverReleased    Reason = "never-released"     // a grant that was never released stands in the way
	ReasonRenewedShort     Reason = "renewed-short"      // a renewal asked for less than the time to live
)

// CauseKind is the kind of the cause of a finding, for programs.
type CauseKind string

// Kinds of causes.
const (
	CauseNone    CauseKind = "none"    // none was found
	CauseFault   CauseKind = "fault"   // a fault of ours
	CauseStall   CauseKind = "stall"   // the host held a process up
	CauseHarness CauseKind = "harness" // we kept a client at a point for longer than the plan asked
	CauseClock   CauseKind = "clock"   // the host's wall clock moved during a lease
	CauseOverrun CauseKind = "overrun" // the client took longer than its lease
	CauseRelease CauseKind = "release" // the release of a third grant freed this one's lock
	CauseRenewal CauseKind = "renewal" // the client's library renewed its lease for less than it could
	CauseRecord  CauseKind = "record"  // the record itself is suspect
)

// Because sets the cause.
func (f *Finding) Because(c Cause) {
	f.Cause, f.CauseKind, f.Fault = c.Text, c.Kind, c.Fault
	f.CauseBegan, f.CauseProven, f.CauseEnded = c.Began, c.Proven, c.Ended
}

// Millis formats a duration in ns for people: three digits, in the unit that keeps the number between 1 and 1000.
func Millis(ns int64) string {
	value, unit := float64(ns), 0
	units := []string{"ns", "us", "ms", "s"}
	for unit < len(units)-1 && math.Abs(value) >= 999.5 {
		value, unit = value/1000, unit+1
	}
	switch size := math.Abs(value); {
	case unit == 0 || size >= 99.95:
		return fmt.Sprintf("%.0f %s", value, units[unit])
	case size >= 9.995:
		return fmt.Sprintf("%.1f %s", value, units[unit])
	}
	return fmt.Sprintf("%.2f %s", value, units[unit])
}

// Count formats a number of things for people.
func Count[N int | int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if strings.HasSuffix(one, "s") {
		return fmt.Sprintf("%d %ses", n, one)
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Seconds formats a time of the run for people.
func Seconds(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

// Cause is why a client acted too late, or why a store forgot a lock.
type Cause struct {
	Kind  CauseKind
	Text  string // for people
	Fault int    // id of the fault behind it; 0: none

	// Times of a fault: when it struck, when its effect was observed, and when it was healed. 0: not on record.
	Began, Proven, Ended int64
}

// NoCause is the cause where nothing on record explains a finding.
var NoCause = Cause{Kind: CauseNone, Text: "no fault in the record explains this"}

// Unasked reports whether no fault is to blame: the host or lockstorm itself was late.
func (c Cause) Unasked() bool { return c.Kind == CauseStall || c.Kind == CauseHarness }

// Joined lists names for people.
func Joined(a, b []string) string {
	all := slices.Concat(a, b)
	text := ""
	for i, s := range all {
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text
}

// OfRecord returns a finding about the record itself, which then cannot be trusted. The event may be nil.
func OfRecord(rule, message string, e *history.Event) Finding {
	f := Finding{
		Rule: rule, Class: NoClass, Cause: "an error in the record", CauseKind: CauseRecord, Gating: true, Doubtful: true,
		Message: message, Events: []int64{},
	}
	if e != nil {
		f.Events, f.From, f.To = []int64{e.Index}, e.Time, e.Time
	}
	return f
}
