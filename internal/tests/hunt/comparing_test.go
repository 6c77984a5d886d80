package hunt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/oracle"
)

// The sorts of disagreements, the worst first.
const (
	False     = "false"     // a finding for which there is no reason
	Miss      = "miss"      // a violation that the record shows was not found
	Class     = "class"     // found, and of the wrong class
	Cause     = "cause"     // found, and blamed on what cannot be it
	Unsound   = "unsound"   // a sound record was not believed
	Unnoticed = "unnoticed" // a damaged record was believed
	Doubt     = "doubt"     // a check gave no answer, without a reason
	Figure    = "figure"    // a number is not the true one
	Answer    = "answer"    // a check that finds nothing answers wrongly
)

// Disagreement is a point at which judge and oracle differ.
type Disagreement struct {
	Sign
	Detail string // of a cause or a class: what is wrong with it
	Right  []int  // faults that are the cause
	Text   string // for people
}

// Kind is what disagreements have in common that are of one kind. The two registers are
// judged alike.
func (d Disagreement) Kind() string {
	check := d.Check
	if strings.HasPrefix(check, "data-") {
		check = "data"
	}
	return strings.TrimSpace(strings.Join([]string{d.Sort, check, d.Rule, d.Detail}, " "))
}

// Compare holds the answers of a judge against what the oracle wants.
func Compare(wants []oracle.Want, r *checker.Results) []Disagreement {
	if out, done := compareRecord(wants, r); done {
		return out
	}
	var out []Disagreement
	met := make([]bool, len(wants))
	for _, name := range r.Order {
		c := r.Checks[name]
		for _, f := range c.Findings {
			f.Rule = ruleOf(name, f)
			out = append(out, compareFinding(name, f, wants, met)...)
		}
		if c.Verdict == checker.Unknown && doubtless[c.Code] {
			out = append(out, Disagreement{Sign: Sign{Sort: Doubt, Check: name, Rule: string(c.Code)}, Text: c.Reason})
		}
	}
	for i, w := range wants {
		if w.Figure != "" || len(w.Verdicts) > 0 {
			out = append(out, compareAnswer(w, r.Checks[w.Check])...)
		} else if w.Must && !met[i] {
			out = append(out, missed(w))
		}
	}
	return out
}

// doubtless are the reasons for having no answer that a sound and short record cannot give.
var doubtless = map[checker.Code]bool{
	checker.CodePanicked: true, checker.CodeTimeout: true, checker.CodeContradiction: true, checker.CodeNoEnd: true,
	checker.CodeNoFinal: true,
}

func missed(w oracle.Want) Disagreement {
	rule := ""
	if len(w.Rules) > 0 {
		rule = w.Rules[0]
	}
	return Disagreement{
		Sign: Sign{Sort: Miss, Check: w.Check, Rule: rule, Grants: w.Grants, Keep: w.Needs},
		Text: fmt.Sprintf("finding %s of grants %s was not found", rule, strings.Join(w.Grants, ", ")),
	}
}

// compareRecord compares what is said of the record itself. Where that is not believed there
// is nothing else to compare.
func compareRecord(wants []oracle.Want, r *checker.Results) ([]Disagreement, bool) {
	a := r.Checks[checker.Assumptions]
	i := slices.IndexFunc(wants, func(w oracle.Want) bool { return w.Check == checker.Assumptions })
	switch {
	case len(a.Findings) == 0:
		return nil, false
	case i >= 0:
		return nil, true
	}
	return []Disagreement{{Sign: Sign{Sort: Unsound, Check: checker.Assumptions, Rule: a.Findings[0].Rule}, Text: a.Reason}}, true
}

// compareAnswer compares a figure, or the verdict of a check, with the true one.
func compareAnswer(w oracle.Want, c checker.Result) []Disagreement {
	got, has := c.Figures[w.Figure]
	switch {
	case c.Verdict == checker.Skipped || c.Code == checker.CodeUnsound:
		return nil
	case w.Figure != "" && (!has || w.Value < got || w.Value-w.Hidden > max(got, c.Figures[w.Most])):
		return []Disagreement{{
			Sign: Sign{Sort: Figure, Check: w.Check, Rule: w.Figure},
			Text: fmt.Sprintf("figure %s of check %s is %d, but the true value is %d", w.Figure, w.Check, got, w.Value),
		}}
	case w.Figure == "" && !slices.Contains(w.Verdicts, string(c.Verdict)):
		return []Disagreement{{
			Sign: Sign{Sort: Answer, Check: w.Check, Rule: string(c.Verdict)},
			Text: fmt.Sprintf("check %s has the verdict %s (%s), but the right verdict is %s", w.Check, c.Verdict, c.Reason,
				strings.Join(w.Verdicts, " or ")),
		}}
	}
	return nil
}

func compareFinding(check string, f checker.Finding, wants []oracle.Want, met []bool) []Disagreement {
	var worst []Disagreement
	found := false
	for i, w := range wants {
		if !matches(check, f, w) {
			continue
		}
		met[i] = true
		d := compareDetails(check, f, w)
		if !found || len(d) < len(worst) {
			worst = d
		}
		found = true
	}
	if !found {
		return []Disagreement{{Sign: signOf(False, check, f), Text: f.Message}}
	}
	return worst
}

func matches(check string, f checker.Finding, w oracle.Want) bool {
	if w.Figure != "" || len(w.Verdicts) > 0 {
		return false
	}
	if w.Check != check || (len(w.Rules) > 0 && !slices.Contains(w.Rules, f.Rule)) {
		return false
	}
	if w.True != nil {
		return w.True(f.Grants, f.From, f.To)
	}
	if w.Any {
		return len(w.Grants) == 0 || len(f.Grants) == 0 ||
			slices.ContainsFunc(f.Grants, func(g string) bool { return slices.Contains(w.Grants, g) })
	}
	a, b := slices.Sorted(slices.Values(f.Grants)), slices.Sorted(slices.Values(w.Grants))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// compareDetails compares class and cause.
func compareDetails(check string, f checker.Finding, w oracle.Want) []Disagreement {
	var out []Disagreement
	if len(w.Class) > 0 && !slices.Contains(w.Class, string(f.Class)) {
		out = append(out, Disagreement{
			Sign: signOf(Class, check, f), Detail: fmt.Sprintf("%s for %s", f.Class, w.Class[0]),
			Text: f.Message,
		})
	}
	inWay := func(g string) bool { return slices.Contains(w.InWay, g) }
	if f.Rule == "orphan" && len(w.InWay) > 0 && !slices.ContainsFunc(f.Grants, inWay) {
		d := Disagreement{Sign: signOf(Cause, check, f), Detail: "the finding names no grant that blocks the lock", Text: f.Message}
		d.Keep = w.InWay
		out = append(out, d)
	}
	if w.Blame == nil {
		return out
	}
	if why := w.Blame.Accepts(string(f.CauseKind), f.Fault, f.Doubtful); why != "" {
		out = append(out, Disagreement{
			Sign: signOf(Cause, check, f), Detail: why, Right: w.Blame.Right, Text: fmt.Sprintf("%s\n  cause: %s; right cause: %+v",
				f.Message, f.Cause, *w.Blame),
		})
	}
	return out
}
