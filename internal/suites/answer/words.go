package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// sentence is the lock in a few sentences, made of its figures.
func (l Lock) sentence() string {
	if l.Runs == 0 {
		return strings.Join(append([]string{l.Name + " was not measured."}, l.untried()...), " ")
	}
	parts := []string{l.Name + " " + l.survived() + "."}
	parts = append(parts, l.violations()...)
	parts = append(parts, l.losses()...)
	parts = append(parts, l.blocks()...)
	if l.Recovery != nil {
		parts = append(parts, "After a fault it was granted again within "+typical(With("recovery.median", l.Recovery))+".")
	}
	return strings.Join(append(parts, l.untried()...), " ")
}

// typical says of a value with its interval that it is a median.
func typical(with string) string {
	if value, interval, ok := strings.Cut(with, " ("); ok {
		return value + " (median; " + interval
	}
	return with + " (median)"
}

func (l Lock) survived() string {
	faults := slices.DeleteFunc(slices.Clone(l.Survived), func(f string) bool { return f == idle })
	switch {
	case len(l.Violated) == 0 && len(faults) > 0:
		return fmt.Sprintf("survived %s: no violation in %s; with 95 %% confidence, at most %s of such runs have one", join(faults),
			runs(l.Runs), Text("violating.runs", l.Rate.High))
	case len(l.Violated) == 0:
		return fmt.Sprintf("had no violation in %s without faults", runs(l.Runs))
	case len(faults) == 0:
		return "survived no tested fault"
	}
	return "survived " + join(faults)
}

// broke is how a lock broke its promise, and cures are what helps.
var broke, cures = map[suite.Outcome]string{
	suite.Inherent: "It needs a fence under ",
	suite.Defect:   "It is broken under ",
	suite.Blocks:   "It blocks for ever under ",
}, map[suite.Outcome]string{
	suite.Defect: ": mend it, or use another lock or topology",
	suite.Blocks: ": use a lock with a lease",
}

// violations tells the faults under which promises were broken, by how bad it was.
func (l Lock) violations() (out []string) {
	for _, w := range []suite.Outcome{suite.Defect, suite.Blocks, suite.Inherent} {
		var faults []string
		for _, v := range l.Violated {
			if v.Outcome != w {
				continue
			}
			name := v.Fault
			if name == idle {
				name = "no fault"
			}
			faults = append(faults, fmt.Sprintf("%s (%d of %s)", name, v.Violating, runs(v.Runs)))
		}
		if len(faults) > 0 {
			out = append(out, broke[w]+join(faults)+cures[w]+".")
		}
	}
	return out
}

func (l Lock) losses() (out []string) {
	if l.Plain != nil {
		out = append(out, "Without a fence "+loss(l.Plain, l.PlainShare, l.PlainUnseen, "lost-updates.plain.percent")+".")
	}
	switch {
	case l.Fenced == nil && l.Plain != nil && l.Plain.Value > 0:
		out = append(out, "It issues no fencing tokens.")
	case l.Fenced != nil:
		text := "With a fence " + loss(l.Fenced, l.FencedShare, l.FencedUnseen, "lost-updates.fenced.percent")
		if l.Refused != nil && l.Refused.Value > 0 {
			text += fmt.Sprintf("; it refused %s", count(l.Refused.Value, "stale request"))
		}
		out = append(out, text+".")
	}
	return out
}

// loss says how many updates were lost, and which share that is of all; and how many were overwritten unseen, where these
// are more.
func loss(n, share, unseen *tally.Value, figure string) string {
	more := ""
	if unseen != nil && unseen.Value > n.Value {
		more = fmt.Sprintf("; %.0f were overwritten unseen", unseen.Value)
	}
	if n.Value == 0 || share == nil {
		return "no update was lost" + more
	}
	was := "were lost"
	if n.Value == 1 {
		was = "was lost"
	}
	return fmt.Sprintf("%s %s, %s of all%s", count(n.Value, "update"), was, With(figure, share), more)
}

func count(n float64, what string) string { return checker.Count(int64(n), what) }

func (l Lock) blocks() []string {
	if l.Blocked > 0 {
		return []string{fmt.Sprintf("Nobody got it again in %d of %s.", l.Blocked, runs(l.Runs))}
	}
	if l.Orphan != nil && l.Orphan.Value > 0 {
		return []string{"For up to " + Text("orphan", l.Orphan.Value) + " nobody held it or could get it."}
	}
	return nil
}

// untried is what nothing is known of.
func (l Lock) untried() (out []string) {
	if len(l.Skipped) > 0 {
		out = append(out, "It was not tested under "+join(l.Skipped)+".")
	}
	if l.Open > 0 {
		out = append(out, runs(l.Open)+map[bool]string{true: " was", false: " were"}[l.Open == 1]+" inconclusive.")
	}
	return out
}

func runs(n int) string { return checker.Count(n, "run") }

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

// With is a value of a figure with its interval for people.
func With(figure string, v *tally.Value) string {
	f, _ := tally.Find(figure)
	return f.With(*v)
}
