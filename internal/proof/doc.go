// Package proof shows a violation by a dozen events and a rule, and checks such a proof without the code that found the
// violation: it reads events and knows the rules, and imports nothing of package checker.
//
//	events + claim -> New, Maker.Prove -> Proof: the fewest events that prove it (none of them can be left out)
//	events + claim -> Check            -> what it shows, line by line; or an error that says what does not fit
//	whole record + proof -> Record.Verify; a mailed proof -> Letter.Verify
//
// Most rules are shown by what is there: two grants, what their clients did under them, the deadlines of their leases. Others
// rest on what is not there: a lock that nobody gets again, a grant that nobody asked for. Their proof names a window and needs
// the whole record ([Certificate].Record).
//
// A proof is checked as a record of its own. What a client did after its last event in it is unknown, so a proof
// brings the event that shows that its client went on, and not only that nothing says otherwise. Held against the
// whole record, nothing in there about the same grants may say otherwise, either.
package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Claim is what a proof proves: a rule was broken by some grants in some span. The names are those of results.json.
type Claim struct {
	Check  string   `json:"check"`
	Rule   string   `json:"rule"`
	Class  string   `json:"class"`
	Reason string   `json:"reason,omitempty"`
	Grants []string `json:"grants,omitempty"`
	From   int64    `json:"from_ns"`
	To     int64    `json:"to_ns"`
}

// Certificate is a claim that the events of a record prove, which are named by their place in it. Where a finding is about many
// grants, the claim of its proof is about those that show it.
type Certificate struct {
	Grants []string `json:"grants,omitempty"`
	From   int64    `json:"from_ns"`
	To     int64    `json:"to_ns"`
	Events []int64  `json:"events"`
	// Record: it rests on what did not happen, or is too long for a few events, and holds only with the whole record.
	Record bool `json:"record,omitempty"`
	// Why says why no few events prove it, where they usually do.
	Why string `json:"why,omitempty"`
}

// Of is the claim of a proof of a finding.
func (p *Certificate) Of(finding Claim) Claim {
	finding.Grants, finding.From, finding.To = p.Grants, p.From, p.To
	return finding
}

// ErrRecord is the answer where events alone prove nothing.
var ErrRecord = errors.New("this finding says that an event never happened, so a check of the finding needs the whole record")

// Check reports whether events prove a claim. The first of them says what was run. Story is what they show, a line an event, and
// what follows from it.
func Check(events []history.Event, c Claim) (story []string, err error) {
	s, err := read(events)
	if err != nil {
		return nil, err
	}
	if err := s.proves(c); err != nil {
		return nil, err
	}
	return s.tell(c), nil
}

// Minimal reports whether none of the events of a proof can be left out.
func Minimal(events []history.Event, c Claim) error {
	for i := range events {
		if i == 0 {
			continue // without it nothing says what was run
		}
		less := slices.Delete(slices.Clone(events), i, i+1)
		if s, err := read(less); err == nil && s.proves(c) == nil {
			return fmt.Errorf("the proof must not contain event %d, because the other events are enough to prove the finding",
				events[i].Index)
		}
	}
	return nil
}
