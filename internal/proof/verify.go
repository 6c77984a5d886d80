package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Verify holds a finding and its proof against the whole record. The record shows the finding, no more and no less than it
// says, whatever the proof is; the events of the proof show it, or a part of it, and none of them can be left out.
func (r *Record) Verify(finding Claim, p *Certificate) (story []string, err error) {
	if finding.From < 0 || finding.To < finding.From { // what leaves the end open claims nothing
		return nil, fmt.Errorf("the finding has no time: it is said to be from %s to %s", seconds(finding.From), seconds(finding.To))
	}
	if story, err = r.all().shows(finding); err != nil {
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
	return r.few(c, events)
}

// all is the whole record.
func (r *Record) all() *scene { return &scene{Record: r.rec, whole: true} }

// few holds a claim that a few events prove against them, and against the whole record.
func (r *Record) few(c Claim, events []history.Event) (story []string, err error) {
	if story, err = Check(events, c); err != nil {
		return nil, err
	}
	if err := Minimal(events, c); err != nil {
		return nil, err
	}
	if c.Check == "lock-linearizability" {
		c.From, c.To = unset, unset // the answers to the rest may come later
	}
	if parted(c) {
		err = r.all().proves(c)
	} else {
		_, err = r.all().shows(c)
	}
	if err != nil {
		return nil, fmt.Errorf("the events of the proof show the violation, but the whole record contradicts the proof: %w", err)
	}
	return story, nil
}

// parted reports whether a proof may be of a part of its finding: of a loss, one of the writes that were lost; of a lock, the
// time until which its answers cannot be right.
func parted(c Claim) bool {
	return c.Check == "lock-linearizability" || slices.Contains(turns[1:], c.Rule)
}

// narrows says whether a claim is about grants of a finding, within its span; where it is no part of it, about all of it.
func narrows(finding, c Claim) error {
	if !parted(c) && (!slices.Equal(c.Grants, finding.Grants) || c.From != finding.From || c.To != finding.To) {
		return errors.New("the proof does not belong to its finding: its grants or times are others")
	}
	for _, id := range c.Grants {
		if !slices.Contains(finding.Grants, id) {
			return fmt.Errorf("the proof does not belong to its finding: the proof uses grant %s, which the finding does not name", id)
		}
	}
	switch {
	case c.Check == "lock-linearizability":
	case c.From < finding.From || c.To > finding.To:
		return fmt.Errorf("the proof covers the time from %s to %s, but the finding covers only %s to %s", seconds(c.From),
			seconds(c.To), seconds(finding.From), seconds(finding.To))
	}
	return nil
}
