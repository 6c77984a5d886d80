package cases

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// Claim is what an article says of locks, in our words, and the runs that answer it. Its verdict is
// computed from them: see [ClaimVerdict].
type Claim struct {
	Number   int
	Text     string
	Articles string     // numbers of the articles that say so
	Runs     []ClaimRun `yaml:"-"`
	// Compares are what the claim says of its runs among each other; where there are any, they bear it
	// out, and not the runs by themselves.
	Compares []Comparison
	Alone    bool   // its runs are measured one after the other, with nothing beside them
	Note     string // what the runs show, for people
}

// ClaimRun is one run of a claim. What it must show, as we expect, is that of its case; whether it
// bears the claim out is for Claimed to say.
type ClaimRun struct {
	suite.Case
	Claimed suite.Expectation
	Figures []string // that are of interest
}

// Comparison is a figure of one run beside that of another one.
type Comparison struct {
	Text   string
	Figure string
	Of, To string  // names of runs, without that of the claim
	Least  float64 // of is so many times what to is, or more
}

// Holds reports whether the answers bear it out, and by how much; ok is false where one is missing.
func (c Comparison) Holds(number int, answers []ClaimResult) (ratio float64, holds, ok bool) {
	figure := map[string]int64{}
	for _, a := range answers {
		figure[a.Run] = a.Figures[c.Figure]
	}
	of, to := figure[fmt.Sprintf("claim-%d/%s", number, c.Of)], figure[fmt.Sprintf("claim-%d/%s", number, c.To)]
	if of <= 0 || to <= 0 {
		return 0, false, false
	}
	ratio = float64(of) / float64(to)
	return ratio, ratio >= c.Least, true
}

// ClaimVerdict says what became of a claim.
type ClaimVerdict string

// The verdicts. A claim of which no run ended is open.
const (
	Stands ClaimVerdict = "stands"
	InPart ClaimVerdict = "in part"
	Falls  ClaimVerdict = "falls"
	Open   ClaimVerdict = "open"
)

// ClaimResult is what became of one run of a claim, as it is stored.
type ClaimResult struct {
	Claim    int                `json:"claim"`
	Run      string             `json:"run"`     // name of the case
	Command  string             `json:"command"` // the flags after `lockstorm run`
	Exit     int                `json:"exit_code"`
	Supports bool               `json:"supports"` // it is as the claim says
	AsIt     bool               `json:"as_expected"`
	Differs  []suite.Difference `json:"differs,omitempty"` // from what we expect
	Figures  map[string]int64   `json:"figures,omitempty"`
	// LostCount says what the figures of lost updates count: LostForGood, or of older runs all that were overwritten unseen.
	LostCount string   `json:"lost_count,omitempty"`
	Failed    []string `json:"failed,omitempty"` // checks that fail, with their classes
}

// LostForGood is the count of updates that the last value is not built upon.
const LostForGood = "lost for good"

// Answered is the answer of a run.
func (r ClaimRun) Answered(number, exit int, results *checker.Results) ClaimResult {
	a := ClaimResult{Claim: number, Run: r.Name, Command: r.Run.Line(), Exit: exit}
	a.Differs = r.Expect.Compare(exit, results)
	a.AsIt = len(a.Differs) == 0
	a.Supports = len(r.Claimed.Compare(exit, results)) == 0
	if results == nil {
		return a
	}
	a.Figures = map[string]int64{}
	names := r.Figures
	for _, name := range r.Figures { // of what is lost for good, how much was overwritten unseen, too
		if register, ok := strings.CutPrefix(name, "updates_lost_"); ok {
			names = append(slices.Clone(names), "updates_overwritten_"+register)
			a.LostCount = LostForGood
		}
	}
	for _, name := range names {
		if v, measured := results.Stats[name]; measured {
			a.Figures[name] = v
		}
	}
	for _, name := range results.Order {
		if c := results.Checks[name]; c.Verdict == checker.Fail {
			a.Failed = append(a.Failed, failedAs(name, c))
		}
	}
	return a
}

// failedAs is a failed check with the classes of what it found.
func failedAs(name string, c checker.Result) string {
	var classes []string
	for _, f := range c.Findings {
		if text := string(f.Class); f.Class != checker.NoClass && !slices.Contains(classes, text) {
			classes = append(classes, text)
		}
	}
	slices.Sort(classes)
	if len(classes) == 0 {
		return name
	}
	return fmt.Sprintf("%s %v", name, classes)
}

// Judged is the verdict of a claim by the answers of its runs.
func (c Claim) Judged(answers []ClaimResult) ClaimVerdict {
	mine := lists.Filter(answers, func(a ClaimResult) bool { return a.Claim == c.Number })
	bear, all := len(lists.Filter(mine, func(a ClaimResult) bool { return a.Supports })), len(mine)
	if all < len(c.Runs) || all == 0 {
		return Open
	}
	if len(c.Compares) > 0 {
		bear, all = 0, len(c.Compares)
		for _, one := range c.Compares {
			_, holds, measured := one.Holds(c.Number, answers)
			if !measured {
				return Open
			}
			if holds {
				bear++
			}
		}
	}
	switch bear {
	case all:
		return Stands
	case 0:
		return Falls
	}
	return InPart
}

// Claims are those of five articles on distributed locks, by number. The names of their runs begin with
// that of the claim.
func Claims() []Claim {
	var file struct {
		Claims  []Claim `yaml:"x-claims"`
		Include []struct {
			Name    string
			Claimed *plan.Rule `yaml:"x-claimed"`
			Figures []string   `yaml:"x-figures"`
		}
	}
	if err := yaml.Unmarshal(mustRead("presets/claims.yaml"), &file); err != nil { // Set reads it strictly
		panic(err) // it is embedded
	}
	cat := &suite.Collection{Catalogue: harness.New(stores.All()...)}
	all := file.Claims
	for i, c := range Set("claims") {
		in := file.Include[i]
		r := ClaimRun{Case: c, Claimed: c.Expect, Figures: in.Figures}
		if in.Claimed != nil {
			var err error
			if r.Claimed, err = in.Claimed.Expectation(cat); err != nil {
				panic(err) // it is embedded
			}
		}
		of := slices.IndexFunc(all, func(c Claim) bool { return strings.HasPrefix(in.Name, fmt.Sprintf("claim-%d/", c.Number)) })
		all[of].Runs = append(all[of].Runs, r)
	}
	return all
}

// Figure is a figure in words: times in milliseconds or seconds, those of a hundred as a number of one.
func Figure(name string, v int64) string {
	if base, isTime := strings.CutSuffix(name, "_ns"); isTime {
		return words(base) + ": " + tally.Figure{Unit: tally.Time}.Text(float64(v))
	}
	if base, of, found := strings.Cut(name, "_per_100_"); found {
		return fmt.Sprintf("%s per %s: %.1f", words(base), words(strings.TrimSuffix(of, "s")), float64(v)/100)
	}
	return fmt.Sprintf("%s: %d", words(name), v)
}

func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
