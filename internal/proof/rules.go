package proof

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// rule is how a finding of a rule is proven. Few decides whether events prove a claim, and says for which span; nil: no few
// events do, for it rests on what did not happen. Whole decides whether a whole record shows a finding, no more and no less
// than it says; nil: it does where all its events prove it as few ones do, and more says nothing against it.
type rule struct {
	few   func(s *scene, c Claim) (history.Interval, error)
	whole func(s *scene, c Claim) (story []string, err error)
	more  func(s *scene, c Claim) error
}

var (
	overlaps = rule{few: (*scene).overlap}
	objects  = rule{few: (*scene).object, whole: (*scene).core}
	losses   = rule{few: (*scene).lost, whole: (*scene).damaged}
	fences   = rule{few: (*scene).fence, whole: (*scene).damaged}
	notices  = rule{few: (*scene).lateNotice, more: (*scene).succeeds}
	absent   = rule{whole: (*scene).liveness}
)

// rules are all that a finding can have, by check and rule.
var rules = map[string]map[string]rule{
	"mutual-exclusion": {
		"overlap": overlaps, "late-notice": overlaps,
		shortRenewal: {few: (*scene).renewedShort, more: (*scene).shortest},
	},
	"lock-linearizability": {"double-grant": objects, "lost-lease": objects, "foreign-release": objects, "revived-lease": objects},
	"data-plain":           ofData,
	"data-fenced":          ofData,
	"stock": {
		lostUpdate: losses, lateWrite: losses, split: losses, "log-mismatch": fences,
		"stock-off": {whole: (*scene).stockOff},
	},
	"fencing-tokens": {
		"duplicate":     {few: (*scene).tokens},
		"regress":       {few: (*scene).tokens, more: (*scene).fellFromNewest},
		"refused-valid": {whole: (*scene).refusedValid},
	},
	"ownership": {
		"foreign-release": {few: (*scene).foreignRelease, whole: (*scene).robbed},
		"release-of-none": {whole: (*scene).releaseOfNone},
	},
	"loss-notice": {"late-notice": notices, "no-notice": notices},
	"bounded":     {"late-try": {few: (*scene).lateTry, more: (*scene).lateItself}},
	"once":        {"done-twice": {few: (*scene).doneTwice}},
	"assumptions": {"used-after-release": {few: (*scene).usedAfterRelease}},
	"liveness":    {"no-recovery": absent, "starved": absent, "deadlocked": absent, orphan: absent},
	"fairness":    {"overtaken": {whole: (*scene).overtaken}},
	"deadlock":    {"mutual-wait": {whole: (*scene).mutualWait}},
}

var ofData = map[string]rule{
	lostUpdate: losses, lateWrite: losses, split: losses,
	"log-mismatch": fences, "no-token": fences, "stale-accepted": fences, "equal-token": fences,
}

// unknown is the answer for a rule that no check has.
func unknown(c Claim) error {
	return fmt.Errorf("the check %q has no rule %q, so nothing can prove this finding", c.Check, c.Rule)
}

// turns are the rules whose class and reason turn on the events; of all others both are always the same.
var turns = []string{"overlap", lostUpdate, lateWrite, split}

// fixed says whether a claim has the class and the reason of its rule, where these never change.
func fixed(c Claim) error {
	class, reason := noClass, ""
	switch {
	case c.Rule == shortRenewal:
		class, reason = defect, "renewed-short"
	case slices.Contains(turns, c.Rule) || c.Check == "mutual-exclusion":
		return nil
	case c.Check == "lock-linearizability":
		class, reason = defect, reasons[c.Rule]
	case c.Check == "ownership":
		class, reason = defect, "not-owner"
	case c.Check == "fencing-tokens":
		class = defect
	case c.Rule == orphan:
		reason = neverReleased
	}
	switch {
	case c.Class != class:
		return fmt.Errorf("a finding of rule %s must have the class %q, but this finding has the class %s", c.Rule, class, c.Class)
	case c.Reason != reason:
		return fmt.Errorf("a finding of rule %s must have the reason %q, but this finding has the reason %q", c.Rule, reason, c.Reason)
	}
	return nil
}

// asks says why a run is not asked what a check asks.
func (s *scene) asks(check string) error {
	run := s.Run
	asked := true
	switch check {
	case "mutual-exclusion", "lock-linearizability":
		asked = s.Model.Locks()
	case "fencing-tokens", "data-fenced":
		asked = run.Tokens
	case "loss-notice":
		asked = s.Leased() && !run.NoClock
	}
	if !asked {
		return fmt.Errorf("the check %q does not apply to this run, so it has no findings", check)
	}
	return nil
}

// proves reports whether the events of a scene prove a claim: its rule, class and reason, for its span.
func (s *scene) proves(c Claim) error {
	of, known := rules[c.Check][c.Rule]
	switch {
	case !known:
		return unknown(c)
	case of.few == nil:
		return ErrRecord
	}
	if err := fixed(c); err != nil {
		return err
	}
	span, err := of.few(s, c)
	if err != nil {
		return err
	}
	if s.open(c) {
		return nil
	}
	if span.From != c.From || span.To != c.To {
		return fmt.Errorf("the events show the violation from %s to %s, but the finding says from %s to %s", seconds(span.From),
			seconds(span.To), seconds(c.From), seconds(c.To))
	}
	if (c.Check == "mutual-exclusion") && (c.Rule == "late-notice") != (c.Reason == toldLate) {
		return fmt.Errorf("the proof is invalid: the reason code %s does not belong to the rule %s", c.Reason, c.Rule)
	}
	return nil
}

// shows reports whether a whole record shows a finding, no more and no less than it says.
func (s *scene) shows(c Claim) (story []string, err error) {
	of, known := rules[c.Check][c.Rule]
	if !known {
		return nil, unknown(c)
	}
	if err := s.asks(c.Check); err != nil {
		return nil, err
	}
	if err := fixed(c); err != nil {
		return nil, err
	}
	if of.whole != nil {
		return of.whole(s, c)
	}
	if err := s.proves(c); err != nil || of.more == nil {
		return s.sawWhole(c), err
	}
	return s.sawWhole(c), of.more(s, c)
}

// open reports whether the span of a claim is still to be found.
func (s *scene) open(c Claim) bool { return c.To == unset }

// unset stands for the end of a span that follows from the events.
const unset = -1

func seconds(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }
