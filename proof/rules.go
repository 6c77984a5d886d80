package proof

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// rule decides whether events prove a claim, and says for which span.
type rule func(s *scene, c Claim) (history.Interval, error)

// rules are those that a few events prove, by check and rule.
var rules = map[string]map[string]rule{
	"mutual-exclusion":     {"overlap": (*scene).overlap, "late-notice": (*scene).overlap},
	"lock-linearizability": {"double-grant": (*scene).object, "lost-lease": (*scene).object, "foreign-release": (*scene).object, "revived-lease": (*scene).object},
	"data-plain":           ofData,
	"data-fenced":          ofData,
	"stock":                ofData,
	"fencing-tokens":       {"duplicate": (*scene).tokens, "regress": (*scene).tokens},
	"ownership":            {"foreign-release": (*scene).foreignRelease},
	"loss-notice":          {"late-notice": (*scene).lateNotice, "no-notice": (*scene).lateNotice},
	"bounded":              {"late-try": (*scene).lateTry},
	"once":                 {"done-twice": (*scene).doneTwice},
	"assumptions":          {"used-after-release": (*scene).usedAfterRelease},
}

var ofData = map[string]rule{
	lostUpdate: (*scene).lost, lateWrite: (*scene).lost, split: (*scene).lost,
	"log-mismatch": (*scene).fence, "no-token": (*scene).fence, "stale-accepted": (*scene).fence, "equal-token": (*scene).fence,
}

// proves reports whether the events of a scene prove a claim: its rule, class and reason, for its span.
func (s *scene) proves(c Claim) error {
	of, known := rules[c.Check][c.Rule]
	if !known {
		return ErrRecord
	}
	span, err := of(s, c)
	if err != nil {
		return err
	}
	if s.open(c) {
		return nil
	}
	if span.From != c.From || span.To != c.To {
		return fmt.Errorf("the events show the violation from %s to %s, but the finding says from %s to %s", seconds(span.From), seconds(span.To), seconds(c.From), seconds(c.To))
	}
	if (c.Check == "mutual-exclusion") && (c.Rule == "late-notice") != (c.Reason == toldLate) {
		return fmt.Errorf("the proof is invalid: the reason code %s does not belong to the rule %s", c.Reason, c.Rule)
	}
	return nil
}

// open reports whether the span of a claim is still to be found.
func (s *scene) open(c Claim) bool { return c.To == unset }

// unset stands for the end of a span that follows from the events.
const unset = -1

func seconds(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }
