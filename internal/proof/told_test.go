package proof

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// A lease without a deadline is told without one, not with the moment 0.
func TestLeaseWithoutDeadline(t *testing.T) {
	s := built(history.Run{}, nil)
	for want, deadline := range map[string]history.Opt{
		"c1 began to use lease s":                                   {},
		"c1 began to use lease s, which is now valid until 1.001 s": history.Some(1_001_000_000),
	} {
		e := history.Line{Type: history.Info, F: history.FLease, Client: "c1", Lease: "s", Deadline: deadline}
		if got := s.sentence(e.Event()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a class turns on is told in words, not by its code.
func TestReasonsInWords(t *testing.T) {
	s := built(history.Run{}, nil)
	for _, reason := range []string{
		leaseOver, toldLate, bothValid, noLease, deadlineUnknown, connectionOver, connectionUnknown,
		ownFence, applied,
	} {
		if got := s.why(Claim{Class: inherent, Reason: reason}, 0); strings.Contains(got, reason) || strings.Contains(got, "reason") {
			t.Errorf("%s: %q", reason, got)
		}
	}
}
