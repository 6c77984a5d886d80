package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/suite/tally"
)

// sentence is the lock in one sentence, made of its figures.
func (l Lock) sentence() string {
	if l.Runs == 0 {
		return l.Name + " was not measured" + l.untried() + "."
	}
	parts := []string{l.Name + " " + l.survived()}
	parts = append(parts, l.violations()...)
	parts = append(parts, l.losses()...)
	parts = append(parts, l.blocks()...)
	if l.Recovery != nil {
		parts = append(parts, "granted again "+With("recovery.median", l.Recovery)+" after a fault (median)")
	}
	if rest := l.untried(); rest != "" {
		parts = append(parts, strings.TrimPrefix(rest, ", "))
	}
	return strings.Join(parts, "; ") + "."
}

func (l Lock) survived() string {
	faults := slices.DeleteFunc(slices.Clone(l.Survived), func(f string) bool { return f == idle })
	switch {
	case len(l.Violated) == 0 && len(faults) > 0:
		return fmt.Sprintf("survived all faults it was run under (%s): 0 of %s violated a promise (95 %% interval: up to %s)", join(faults), runs(l.Runs), Text("violating.runs", l.Rate.High))
	case len(l.Violated) == 0:
		return fmt.Sprintf("kept its promises without faults in %s", runs(l.Runs))
	case len(faults) == 0:
		return "survived none of the faults it was run under"
	}
	return "survived " + join(faults)
}

// cures are what helps against a violation.
var cures = map[suite.Word]string{
	suite.Inherent: "inherent to leases: a fence is the cure",
	suite.Defect:   "a defect: another lock or topology is the cure",
	suite.Blocks:   "no client got the lock again: a lease or another lock is the cure",
}

// violations tells the faults under which promises were broken, by how bad it was.
func (l Lock) violations() (out []string) {
	for _, w := range []suite.Word{suite.Defect, suite.Blocks, suite.Inherent} {
		var faults []string
		for _, v := range l.Violated {
			if v.Word != w {
				continue
			}
			name := v.Fault
			if name == idle {
				name = "no fault at all"
			}
			faults = append(faults, fmt.Sprintf("%s (%d of %s)", name, v.Violating, runs(v.Runs)))
		}
		if len(faults) > 0 {
			out = append(out, "violated under "+join(faults)+", "+cures[w])
		}
	}
	return out
}

func (l Lock) losses() (out []string) {
	if l.Plain != nil {
		out = append(out, "without a fence it lost "+loss(l.Plain, l.PlainShare, "lost-updates.plain.percent"))
	}
	switch {
	case l.Fenced == nil && l.Plain != nil && l.Plain.Value > 0:
		out = append(out, "fencing was not measured: it issues no tokens here")
	case l.Fenced != nil:
		text := "with the fence " + loss(l.Fenced, l.FencedShare, "lost-updates.fenced.percent")
		if l.Refused != nil && l.Refused.Value > 0 {
			text += fmt.Sprintf(", %.0f stale requests refused", l.Refused.Value)
		}
		out = append(out, text)
	}
	return out
}

func loss(n, share *tally.Value, figure string) string {
	if n.Value == 0 || share == nil {
		return "no update"
	}
	return fmt.Sprintf("%.0f updates, %s", n.Value, With(figure, share))
}

func (l Lock) blocks() []string {
	if l.Blocked > 0 {
		return []string{fmt.Sprintf("blocked forever in %d of %s", l.Blocked, runs(l.Runs))}
	}
	if l.Orphan != nil && l.Orphan.Value > 0 {
		return []string{"for at most " + Text("orphan", l.Orphan.Value) + " it was free, but no client could get it"}
	}
	return nil
}

// untried is what nothing is known of.
func (l Lock) untried() string {
	text := ""
	if len(l.Skipped) > 0 {
		text += ", not run under " + join(l.Skipped)
	}
	if l.Open > 0 {
		text += fmt.Sprintf(", %s inconclusive", runs(l.Open))
	}
	return text
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// Text is a number of a figure for people.
func Text(figure string, v float64) string {
	f, _ := tally.Find(figure)
	return f.Text(v)
}

// With is a value of a figure with its interval for people; a dash where it was not measured.
func With(figure string, v *tally.Value) string {
	if v == nil {
		return "-"
	}
	f, _ := tally.Find(figure)
	return f.With(*v)
}
