package proof

import (
	"fmt"
	"slices"
)

// Verify holds a finding and its proof against the whole record. The record shows the finding, no more and no less than it says, whatever the
// proof is; the events of the proof show it, or a part of it, and none of them can be left out.
func (r *Record) Verify(finding Claim, p *Proof) (story []string, err error) {
	story, err = (&scene{Record: r.rec, whole: true}).shows(finding)
	if err != nil {
		return nil, err
	}
	c := p.Of(finding)
	if err := narrows(finding, c); err != nil {
		return nil, err
	}
	events, err := r.pick(p)
	if err != nil || p.Record {
		return story, err
	}
	if story, err = Check(events, c); err != nil {
		return nil, err
	}
	if err := Minimal(events, c); err != nil {
		return nil, err
	}
	whole := c
	if c.Check == "lock-linearizability" {
		whole.From, whole.To = unset, unset // the answers to the rest may come later
	}
	if _, err := r.proven(whole); err != nil {
		return nil, fmt.Errorf("the events of the proof show the violation, but the whole record contradicts the proof: %w", err)
	}
	return story, nil
}

// narrows says whether a claim is about grants of a finding, within its span.
func narrows(finding, c Claim) error {
	for _, id := range c.Grants {
		if !slices.Contains(finding.Grants, id) {
			return fmt.Errorf("the proof does not belong to its finding: the proof uses grant %s, which the finding does not name", id)
		}
	}
	switch {
	case c.Check == "lock-linearizability":
	case c.From < finding.From || c.To > finding.To:
		return fmt.Errorf("the proof covers the time from %s to %s, but the finding covers only %s to %s", seconds(c.From), seconds(c.To), seconds(finding.From), seconds(finding.To))
	}
	return nil
}
