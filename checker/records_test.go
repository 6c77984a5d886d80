package checker_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
)

// Records that state 2fac625 has written are read, and judged as it judged them: testdata/records has some of them, with the
// flags of `lockstorm run` beside --clients 2 --seed 1, and the verdicts.
func TestRecordsOfBefore(t *testing.T) {
	text, err := os.ReadFile("testdata/records/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Record string
		Checks map[string]checker.Verdict
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		t.Run(one.Record, func(t *testing.T) {
			t.Parallel()
			h := unpacked(t, filepath.Join("testdata/records", one.Record+".jsonl.gz"))
			if !h.Whole() {
				t.Errorf("damaged: %v, %s", h.Damage, h.Torn)
			}
			in, err := checker.NewInput(h)
			if err != nil {
				t.Fatal(err)
			}
			r := checker.Judge(in, checks.Default())
			for name, want := range one.Checks {
				if got := r.Checks[name].Verdict; got != want {
					t.Errorf("%s: %s, was %s", name, got, want)
				}
			}
		})
	}
}

func unpacked(t *testing.T, path string) *history.History {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Read(plain, path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
