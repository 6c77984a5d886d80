package hunt

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// Sign is by what a disagreement shows in the results of a judge, without an oracle: so a
// fixture tells by itself whether it still shows.
type Sign struct {
	Sort   string   `json:"sort"`
	Check  string   `json:"check"`
	Rule   string   `json:"rule,omitempty"`
	Grants []string `json:"grants,omitempty"`
	Class  string   `json:"class,omitempty"`
	Cause  string   `json:"cause,omitempty"`
	Fault  int      `json:"fault,omitempty"`
	Doubt  bool     `json:"doubtful,omitempty"`
	Keep   []string `json:"keep,omitempty"` // grants without which it means nothing
}

func signOf(sort, check string, f checker.Finding) Sign {
	s := Sign{Sort: sort, Check: check, Rule: f.Rule, Grants: f.Grants}
	switch sort {
	case Class:
		s.Class = string(f.Class)
	case Cause:
		s.Cause, s.Fault, s.Doubt = string(f.CauseKind), f.Fault, f.Doubtful
	}
	return s
}

// ruleOf tells what liveness only notes, and what it has no answer for, from what it fails for.
func ruleOf(check string, f checker.Finding) string {
	switch {
	case check != checker.Liveness:
		return f.Rule
	case !f.Gating:
		return f.Rule + " note"
	case f.Doubtful:
		return f.Rule + " doubt"
	}
	return f.Rule
}

// Shows reports whether results have what the sign says.
func (s Sign) Shows(r *checker.Results) bool {
	c := r.Checks[s.Check]
	switch s.Sort {
	case Unnoticed:
		return len(c.Findings) == 0
	case Figure, Answer:
		return true
	case Doubt:
		return string(c.Code) == s.Rule && c.Verdict == checker.Unknown
	case Miss:
		return sound(r, s.Check) && !slices.ContainsFunc(c.Findings, s.mentions)
	}
	return (s.Check == checker.Assumptions || sound(r, s.Check)) && slices.ContainsFunc(c.Findings, s.is)
}

// sound reports whether a record is believed.
func sound(r *checker.Results, check string) bool {
	return check == checker.Assumptions || len(r.Checks[checker.Assumptions].Findings) == 0
}

// mentions reports whether a finding is about any of the sign's grants.
func (s Sign) mentions(f checker.Finding) bool {
	return len(s.Grants) == 0 || slices.ContainsFunc(f.Grants, func(g string) bool { return slices.Contains(s.Grants, g) })
}

func (s Sign) is(f checker.Finding) bool {
	if ruleOf(s.Check, f) != s.Rule || !slices.Equal(f.Grants, s.Grants) {
		return false
	}
	if s.Sort == Class && string(f.Class) != s.Class {
		return false
	}
	return s.Sort != Cause || (string(f.CauseKind) == s.Cause && f.Fault == s.Fault && f.Doubtful == s.Doubt)
}
