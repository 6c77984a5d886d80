package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/suite"
)

// CheckSummary is a check of a run in short.
type CheckSummary struct {
	Verdict  checker.Verdict `json:"verdict"`
	Required bool            `json:"required,omitempty"`
	Classes  []string        `json:"classes,omitempty"`
	Certain  []checker.Class `json:"certain,omitempty"` // classes of what fails it for certain
	Rules    []string        `json:"rules,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	First    string          `json:"first,omitempty"` // finding, in words
	Cause    string          `json:"cause,omitempty"` // of it
}

// RunResult is what came of one run of a cell.
type RunResult struct {
	Cell    string        `json:"cell"`
	Seed    uint64        `json:"seed"`
	Attempt int           `json:"attempt,omitempty"` // 0: the first
	Status  Status        `json:"status"`
	Outcome suite.Outcome `json:"word,omitempty"` // the worst that it shows for certain
	Exit    int           `json:"exit_code"`
	Error   string        `json:"error,omitempty"`
	Host    bool          `json:"host,omitempty"` // the host made it inconclusive
	// Unstruck: it came to what was expected, and none of its faults took effect, on a host that held it up.
	Unstruck bool                    `json:"unstruck,omitempty"`
	Differs  []suite.Difference      `json:"differs,omitempty"`
	Deviates []suite.Deviation       `json:"deviates,omitempty"`
	Quoted   *Quoted                 `json:"quoted,omitempty"` // nil: no finding makes it other than expected
	Checks   map[string]CheckSummary `json:"checks,omitempty"`
	Stats    checker.Figures         `json:"stats,omitempty"`
	Length   time.Duration           `json:"length_ns"`       // of the workload
	Early    bool                    `json:"early,omitempty"` // it ended once it had shown what was expected: see Suite.EndsEarly
	Began    time.Time               `json:"began"`
	Took     time.Duration           `json:"took_ns"` // start-up, judging and all
	Command  string                  `json:"command"`
	Servers  map[string]string       `json:"versions,omitempty"`
	Provider string                  `json:"provider,omitempty"` // of its servers: what auto chose, where nobody did
	Dir      string                  `json:"dir"`                // of the run, from the directory of the suite
	Search   *Searched               `json:"search,omitempty"`   // that found the run; nil: it was made by itself
}

// Quoted is the finding that is told of a run that is not as expected: the first of those that made it so.
type Quoted struct {
	Check   string            `json:"check"`
	Rule    string            `json:"rule"`
	Class   checker.Class     `json:"class"`
	Message string            `json:"message"`
	Lead    string            `json:"lead,omitempty"`  // what the record has to say beside the cause, or in place of one
	Cause   string            `json:"cause,omitempty"` // empty: no fault explains it
	Kind    checker.CauseKind `json:"cause_kind,omitempty"`
	Lost    int64             `json:"lost,omitempty"`
	Unseen  int64             `json:"overwritten,omitempty"` // overwritten unseen, those that are lost among them
	Length  int64             `json:"length_ns"`
}

// String is the finding in a sentence or two.
func (q *Quoted) String() string {
	text := fmt.Sprintf("%s (%s): %s", q.Check, q.Class, q.Message)
	why := slices.DeleteFunc([]string{q.Lead, q.Cause}, func(s string) bool { return strings.Contains(q.Message, s) })
	if len(why) > 0 {
		text += "; cause: " + strings.Join(why, "; ")
	}
	return text
}

func quote(f checker.Found) *Quoted {
	q := &Quoted{
		Check: f.Check, Rule: f.Finding.Rule, Class: f.Finding.Class, Message: short(f.Finding.Message), Lead: short(f.Finding.Lead),
		Kind: f.Finding.CauseKind, Lost: f.Finding.Lost, Unseen: f.Finding.Overwritten,
		Length: f.Finding.To - f.Finding.From,
	}
	if f.Finding.CauseKind != checker.CauseNone {
		q.Cause = short(f.Finding.Cause)
	}
	return q
}

// compareQuoted is the order of findings of several runs: as in one run, but their times say nothing. Where
// nothing is quoted comes last.
func compareQuoted(a, b *Quoted) int {
	if a == nil || b == nil {
		return lists.First(a != nil, b != nil)
	}
	found := func(q *Quoted) checker.Found {
		return checker.Found{Check: q.Check, Finding: checker.Finding{
			Rule: q.Rule, Class: q.Class, Gating: true, CauseKind: q.Kind,
			Lost: q.Lost, Overwritten: q.Unseen, To: q.Length,
		}}
	}
	return checker.RankFound(found(a), found(b))
}

// maxReason bounds the stored words of a check, in bytes.
const maxReason = 400

// short cuts a text at the end of a character.
func short(s string) string {
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + "..."
}

// summarize keeps the results that tables and comparisons need. The differences from the expectation are known
// already.
func (o *RunResult) summarize(r *checker.Results, e suite.Expectation) {
	o.Outcome, o.Stats, o.Servers, o.Provider, o.Checks = suite.WordOf(r), r.Stats, r.Versions, r.Provider, map[string]CheckSummary{}
	for name, c := range r.Checks {
		o.Checks[name] = answerOf(c)
	}
	o.Deviates = e.Deviations(r, o.Differs)
	if all := e.Deviating(r, o.Differs); len(all) > 0 {
		o.Quoted = quote(all[0])
	}
}

// answerOf is a check in short.
func answerOf(c checker.Result) CheckSummary {
	a := CheckSummary{Verdict: c.Verdict, Required: c.Required, Reason: short(c.Reason)}
	for i, f := range slices.SortedStableFunc(slices.Values(c.Findings), checker.Rank) {
		if i == 0 {
			a.First = short(f.Message)
			if f.CauseKind != checker.CauseNone {
				a.Cause = short(f.Cause)
			}
		}
		a.Classes = lists.With(a.Classes, string(f.Class))
		if f.Certain() && !slices.Contains(a.Certain, f.Class) {
			a.Certain = append(a.Certain, f.Class)
		}
		a.Rules = lists.With(a.Rules, f.Rule)
	}
	return a
}

// Said is the status of a run, and why it is not as expected.
func (o *RunResult) Said() string {
	text := string(o.Status)
	if why := o.Why(); why != "" {
		text += ": " + why
	}
	if o.Unstruck {
		text += "; no fault took effect"
	}
	if o.Search != nil {
		text += "; " + o.Search.String()
	}
	return text
}

// Why says why a run is not as expected; empty where it is. It quotes the finding that makes it so.
func (o *RunResult) Why() string {
	switch {
	case o.Status == Expected:
		return ""
	case o.Error != "":
		return o.Error
	case len(o.Differs) == 0:
		return o.unknown()
	}
	why := strings.ReplaceAll(suite.Sentences(o.Differs), "\n", "; ")
	if o.Quoted != nil {
		why += ": " + o.Quoted.String()
	}
	return why
}

// unknown says why a run is inconclusive.
func (o *RunResult) unknown() string {
	for _, name := range sortedKeys(o.Checks) {
		if c := o.Checks[name]; c.Required && c.Verdict == checker.Unknown {
			return name + ": " + c.Reason
		}
	}
	return "the run was inconclusive, and its results give no reason"
}
