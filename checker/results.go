package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/files"
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
	FailOn     string            `json:"fail_on,omitempty"` // what fails the run; empty: every violation
	TTL        int64             `json:"ttl_ns"`
	Clients    int               `json:"clients"`
	Started    time.Time         `json:"started"`
	Duration   int64             `json:"duration_ns"`
	Versions   map[string]string `json:"versions"`
	Command    string            `json:"command"`
	Checks     map[string]Result `json:"checks"`
	Stats      Figures           `json:"stats"`
	// Order is the order in which checks are reported.
	Order []string `json:"order"`
	// Notes say what is wrong with the record: a torn line, damage.
	Notes []string `json:"notes,omitempty"`
	// Record is the SHA-256 of the history.jsonl that the proofs of findings are from; set only if there are findings.
	Record string `json:"record_sha256,omitempty"`
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
	return files.WriteJSON(path, r)
}
