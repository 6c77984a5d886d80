package checker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// ReadResults reads a results.json.
func ReadResults(path string) (*Results, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read results: %w", err)
	}
	var r Results
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema > ResultsSchema {
		return nil, fmt.Errorf("%s has schema version %d, but this lockstorm reads only versions up to %d: use a newer lockstorm", path,
			r.Schema, ResultsSchema)
	}
	return &r, nil
}

// Compare returns a sentence for each difference between two runs in verdicts and in the rules of findings. It does
// not compare numbers and times of findings: they depend on how the processes interleave.
func Compare(before, after *Results) (differs []string) {
	add := func(format string, args ...any) { differs = append(differs, fmt.Sprintf(format, args...)) }
	if before.Verdict != after.Verdict {
		add("the verdict of the run was %s and is now %s", before.Verdict, after.Verdict)
	}
	for _, name := range after.Order {
		old, known := before.Checks[name]
		now := after.Checks[name]
		if old.beside() && now.beside() {
			continue // whether there was anything to count turns on how the processes interleave
		}
		switch {
		case !known:
			add("the check %s is in the new results, but not in the earlier results", name)
		case old.Verdict != now.Verdict:
			add("the verdict of the check %s was %s and is now %s", name, old.Verdict, now.Verdict)
		case !slices.Equal(old.rules(), now.rules()):
			add("the violated rules of the check %s were %s and are now %s", name, cmp.Or(strings.Join(old.rules(), ", "), "none"),
				cmp.Or(strings.Join(now.rules(), ", "), "none"))
		}
	}
	for _, name := range before.Order {
		if _, asked := after.Checks[name]; !asked {
			add("the check %s is in the earlier results, but not in the new results", name)
		}
	}
	return differs
}

// rules are those of the findings that decide, each once, sorted.
func (r Result) rules() []string {
	var rules []string
	for _, f := range r.Findings {
		if f.Gating {
			rules = append(rules, f.Rule)
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// beside reports whether a check has only figures to say, or nothing.
func (r Result) beside() bool {
	return !r.Required && (r.Quiet || r.Code == CodeElsewhere) && len(r.Findings) == 0
}
