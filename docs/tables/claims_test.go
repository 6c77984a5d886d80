package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// countedBefore is what stored results of an earlier count mean.
const countedBefore = "they count every update that was overwritten by a client that had not seen it, also if a later write brought it back."

// lossesOnly reports whether figures are of the earlier count, which knew no other figure of losses.
func lossesOnly(figures map[string]int64) bool {
	for _, register := range []string{facts.RegPlain, facts.RegFenced} {
		_, lost := figures["updates_lost_"+register]
		if _, unseen := figures["updates_overwritten_"+register]; lost && !unseen {
			return true
		}
	}
	return false
}

// lostIs says of the cells of a suite what their figures of losses count.
func lostIs(r *gate.Results) string {
	for _, j := range r.Cells {
		for _, s := range j.Samples() {
			if lossesOnly(s.Stats) {
				return "These runs were measured before lockstorm counted what is lost for good: " + countedBefore
			}
		}
	}
	return "An update is lost if the last value of the register is not built upon it."
}

// Claims is docs/claims.md: the claims of the articles and what became of them, by stored answers.
func Claims(answers []cases.Answer) string {
	var p page
	p.line("# Claims of articles on distributed locks, tested\n\n%s", `<!-- Made from docs/claims.json by `+"`make docs`"+`; `+"`make claims`"+` measures anew. Do not edit. -->

The claims in the first table come from five articles on distributed locks. (Only claim 11 is lockstorm's own.) This page calls the articles 000, 001,
002, 003 and 004. lockstorm tests each claim with several runs, each with a certain lock, fault and workload. `+"`"+`lockstorm claims --run N`+"`"+` makes the runs
of claim N. `+"`"+`lockstorm claims --run`+"`"+` makes the runs of all claims.

The runs decide the verdict on a claim. A claim **stands** if every run supports the claim, and **falls** if no run supports the
claim. If only some runs support the claim, it stands **in part**. For each run, the code (internal/suites/cases/claims*.go) defines which
outcome supports the claim, and which outcome is expected. Tests compare the real outcome with the expected outcome. If a claim
has a list of comparisons, the verdict depends on the comparisons in the same way, and not on the runs. A comparison compares a
figure (for example, the number of grants) of two runs, and the code defines which ratio of the two values supports the claim. All
runs have seed 1, and were made on a machine with two cores.

Below the first table, each claim has a section with a table of its runs. The column "exit" shows the exit code of the run (0:
pass, 1: violation). The column "failed" lists the checks that failed, with the class of their findings in brackets. (Findings of
some checks have no class.) A defect means that the lock broke a guarantee that it gives. An inherent finding can happen with
every lock that has a lease ([semantics.md](semantics.md) explains the checks and the classes). The column "figures" shows the
figures (measured values) that matter for the claim ([results.md](results.md) explains the figures).

A failed check does not always lead to exit code 1. The check `+"`"+`loss-notice`+"`"+` cannot cause exit code 1 in these runs. With
`+"`"+`--fencing on`+"`"+`, an inherent overlap (two clients hold the lock at once) does not fail the run. If the lock is a database
transaction that also writes the data, no finding of `+"`"+`mutual-exclusion`+"`"+` and `+"`"+`lock-linearizability`+"`"+` fails the run.
`)
	if slices.ContainsFunc(answers, func(a cases.Answer) bool { return lossesOnly(a.Figures) }) {
		p.line("The figures \"updates lost\" were measured before lockstorm counted what is lost for good: %s\n", countedBefore)
	}
	p.header("", "claim", "verdict", "what the runs show")
	claims := cases.Claims()
	for _, c := range claims {
		p.row(fmt.Sprintf("[%d](#claim-%d)", c.Number, c.Number), c.Text, verdict(c.Judged(answers)), c.Note)
	}
	for _, c := range claims {
		p.claim(c, answers)
	}
	return p.String()
}

func verdict(v cases.ClaimVerdict) string {
	if v == cases.Stands {
		return string(v)
	}
	return "**" + string(v) + "**"
}

// claim is the section of one.
func (p *page) claim(c cases.Claim, answers []cases.Answer) {
	p.line("\n## Claim %d\n\nClaim of %s: %s. Verdict: %s.\n", c.Number, articles(c.Articles), c.Text, verdict(c.Judged(answers)))
	if c.Note != "" {
		p.line("%s\n", c.Note)
	}
	if pictures[c.Number] != nil {
		p.line("![claim %d](images/claim-%d.svg)\n", c.Number, c.Number)
	}
	for _, one := range c.Compares {
		if ratio, holds, ok := one.Holds(c.Number, answers); ok {
			p.line("- %s: %s. (Measured figure \"%s\": the value of %s divided by the value of %s is %.2g. The claim is supported if this ratio is at least %.2g.)", upper(one.Text), map[bool]string{true: "yes", false: "**no**"}[holds],
				strings.ReplaceAll(strings.TrimSuffix(one.Figure, "_ns"), "_", " "), lockOf(c, one.Of), lockOf(c, one.To), ratio, one.Least)
		}
	}
	if len(c.Compares) > 0 {
		p.line("")
	}
	p.header("`lockstorm run ...`", "exit", "supports the claim", "failed", "figures")
	for _, r := range c.Runs {
		i := slices.IndexFunc(answers, func(a cases.Answer) bool { return a.Run == r.Name })
		if i < 0 {
			p.row("`"+r.Run.Line()+"`", "", "not run", "", "")
			continue
		}
		a := answers[i]
		bears := "yes"
		if !a.Supports {
			bears = "no"
		}
		p.row("`"+r.Run.Line()+"`", fmt.Sprint(a.Exit), bears, strings.Join(a.Failed, ", "), figures(a))
	}
}

// lockOf is the lock of a run of a claim, as the flags that select it.
func lockOf(c cases.Claim, run string) string {
	for _, r := range c.Runs {
		if r.Name == fmt.Sprintf("claim-%d/%s", c.Number, run) {
			flags := r.Run.Backend
			if r.Run.Topology != "" {
				flags += " --topology " + r.Run.Topology
			}
			return "`" + flags + "`"
		}
	}
	return run
}

func articles(numbers string) string {
	switch {
	case numbers == "all":
		return "all five articles"
	case numbers == "ours":
		return "lockstorm (none of the articles makes this claim; it is an addition to claim 10)"
	case strings.Contains(numbers, ","):
		return "articles " + numbers
	}
	return "article " + numbers
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func figures(a cases.Answer) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a.Figures)) {
		out = append(out, cases.Figure(name, a.Figures[name]))
	}
	return strings.Join(out, ", ")
}
