package checker

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// ResultsSchema is the version of results.json.
const ResultsSchema = 1

// Results is the content of results.json; docs/results.md describes it.
type Results struct {
	Schema     int               `json:"schema"`
	Verdict    Verdict           `json:"verdict"`
	ExitCode   int               `json:"exit_code"`
	Seed       uint64            `json:"seed"`
	Backend    string            `json:"backend"`
	Topology   string            `json:"topology"`
	Provider   string            `json:"provider"`
	Nemesis    []string          `json:"nemesis"`
	Workload   string            `json:"workload"`
	Fencing    string            `json:"fencing"`
	Discipline string            `json:"discipline"`
	TTL        int64             `json:"ttl_ns"`
	Clients    int               `json:"clients"`
	Started    time.Time         `json:"started"`
	Duration   int64             `json:"duration_ns"`
	Versions   map[string]string `json:"versions"`
	Command    string            `json:"command"`
	Checks     map[string]Result `json:"checks"`
	Stats      Stats             `json:"stats"`
	// Order is the order in which checks are reported.
	Order []string `json:"order"`
	// Notes are about the record: a torn line, damage.
	Notes []string `json:"notes,omitempty"`
}

// requiredChecks is the default of --require for a run.
func requiredChecks(run history.Run) []string {
	if len(run.Required) > 0 {
		return append([]string{Assumptions}, run.Required...)
	}
	req := []string{Assumptions, Coverage, MutualExclusion, LockLinearizability, Ownership, Liveness}
	if run.Fencing != history.FencingOn {
		req = append(req, DataPlain)
	}
	if run.Fencing != history.FencingOff {
		req = append(req, DataFenced, FencingTokens)
	}
	return req
}

// Judge runs every check on the history and folds their answers.
func Judge(in *Input, checks *Catalogue) *Results {
	run := in.Run
	r := &Results{
		Schema: ResultsSchema, Seed: run.Seed, Backend: run.Backend, Topology: run.Topology, Provider: run.Provider,
		Nemesis: run.Nemesis, Workload: run.Workload, Fencing: run.Fencing, Discipline: run.Discipline, TTL: run.TTL,
		Clients: run.Clients, Started: run.Started, Versions: run.Versions, Command: run.Command,
		Checks: map[string]Result{}, Stats: in.Stats,
	}
	if n := len(in.Events); n > 0 {
		r.Duration = in.Events[n-1].Time
	}
	r.Notes = notes(in.Raw)
	commonStats(in)
	all := checks.All()
	answers := runAll(in, all)
	for i, c := range all {
		r.Order = append(r.Order, c.Name)
		answers[i].Required = slices.Contains(requiredChecks(run), c.Name)
		if answers[i].Findings == nil {
			answers[i].Findings = []Finding{}
		}
		r.Checks[c.Name] = answers[i]
	}
	r.demand(run)
	r.distrust(in)
	r.fold()
	return r
}

// runAll runs the checks one after the other, but linearizability beside them: it is
// the only one that can take long.
func runAll(in *Input, checks []Check) []Result {
	out := make([]Result, len(checks))
	for _, g := range in.Grants {
		in.hold(g) // filled before anything runs at the same time
	}
	var wg sync.WaitGroup
	for i, c := range checks {
		if c.Name == LockLinearizability {
			wg.Go(func() { out[i] = guarded(c, in) })
		}
	}
	for i, c := range checks {
		if c.Name != LockLinearizability {
			out[i] = guarded(c, in)
		}
	}
	wg.Wait()
	return out
}

// guarded turns a panic of a check into unknown: it proves nothing about the lock.
func guarded(c Check, in *Input) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = Result{Verdict: Unknown, Reason: fmt.Sprintf("the check itself failed: %v", p)}
		}
	}()
	return c.Run(in)
}

// demand makes a check unknown that was asked for by name and does not apply: what was
// demanded was not judged.
func (r *Results) demand(run history.Run) {
	for _, name := range run.Required {
		if c := r.Checks[name]; c.Verdict == Skipped {
			c.Verdict, c.Reason = Unknown, "required, but it does not apply: "+c.Reason
			r.Checks[name] = c
		}
	}
}

// distrust makes every other check unknown when the record is not sound, and takes back
// every pass when the record has no end.
func (r *Results) distrust(in *Input) {
	sound := r.Checks[Assumptions]
	for name, c := range r.Checks {
		if name == Assumptions || c.Verdict == Skipped {
			continue
		}
		switch {
		case sound.Verdict == Unknown && (len(sound.Findings) > 0 || sound.Method == ""):
			c.Verdict, c.Reason = Unknown, "the record is not sound: see assumptions"
		case in.End == nil && c.Verdict == Pass:
			c.Verdict, c.Reason = Unknown, "the history has no end: what was recorded shows no violation"
		}
		r.Checks[name] = c
	}
}

// fold makes the run's verdict of the required checks: a violation is never masked by
// an unknown.
func (r *Results) fold() {
	r.Verdict = Pass
	for _, c := range r.Checks {
		if !c.Required {
			continue
		}
		gates := slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Gating && !f.Doubtful })
		switch {
		case c.Verdict == Fail && gates:
			r.Verdict = Fail
		case c.Verdict == Unknown && r.Verdict == Pass:
			r.Verdict = Unknown
		}
	}
	r.ExitCode = map[Verdict]int{Pass: 0, Fail: 1, Unknown: 2}[r.Verdict]
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if c.Required && c.Verdict == Fail && !f.Doubtful {
				r.Stats.first("first_violation_ns", f.From)
			}
		}
	}
}

func notes(h *history.History) []string {
	var n []string
	if h.Torn != "" {
		n = append(n, h.Torn)
	}
	for _, d := range h.Damage {
		n = append(n, d.String())
	}
	return n
}

// WriteFile writes results.json.
func (r *Results) WriteFile(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
