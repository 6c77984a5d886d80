package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// violated is a run directory with violations.
func violated(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errs := lockstorm(t, "run", "--backend", "none", "--time", "300ms", "--seed", "5", "--ttl=200ms", "--out",
		dir); code != harness.ExitViolation {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	return dir
}

// Proofs hold in the run directory, one by one, and mailed; what was tampered with is refused.
func TestVerify(t *testing.T) {
	t.Parallel()
	dir := violated(t)
	mailed := filepath.Join(t.TempDir(), "proof.json")
	code, out, errs := lockstorm(t, "verify", dir, "--save", mailed)
	for _, want := range []string{
		"1. mutual-exclusion, overlap (defect): the proof holds", "both believed that they held the lock.",
		"valid proofs: ", "saved: " + mailed,
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, want %q in\n%s%s", code, want, out, errs)
		}
	}
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{mailed}, 0, "verify used only the events in this file"},
		{[]string{mailed, "--record", dir}, 0, "the proof holds ("},
		{[]string{mailed, "--record", filepath.Join(dir, "history.jsonl")}, 0, "the proof holds ("},
		{[]string{dir, "--finding", "2"}, 0, "2. mutual-exclusion"},
		{[]string{dir, "--all"}, 0, "2. mutual-exclusion"},
		{[]string{filepath.Dir(dir)}, 0, "valid proofs: "},
		{[]string{dir, dir}, 0, "valid proofs: "},
		{[]string{dir, "--finding", "100000"}, 3, "--finding 100000: "},
		{[]string{dir, "--record", dir}, 3, "--record applies only to a proof in a file"},
		{[]string{dir, dir, "--save", mailed}, 3, "name one run directory"},
		{[]string{mailed, "--save", mailed}, 3, "need a run directory"},
		{[]string{filepath.Join(dir, "logs")}, 3, "contains no finished run (a directory with the files results.json and " +
			"history.jsonl)"},
		{[]string{filepath.Join(dir, "results.json")}, 3, "the file is not a lockstorm proof"},
		{[]string{filepath.Join(dir, "nothing")}, 3, "no such file"},
		{nil, 3, "requires at least 1 arg"},
	} {
		code, out, errs := lockstorm(t, append([]string{"verify"}, tc.args...)...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("verify %v: exit %d, want %d and %q in\n%s%s", tc.args, code, tc.code, tc.want, out, errs)
		}
	}
	rewrite(t, mailed, `"class": "defect"`, `"class": "inherent"`)
	if code, out, _ := lockstorm(t, "verify", mailed); code != 1 || !strings.Contains(out, "DOES NOT HOLD: the checksum in the "+
		"field \"seal\" does not match") {
		t.Errorf("a proof that was tampered with: exit %d\n%s", code, out)
	}
	rewrite(t, mailed, `"lockstorm_proof": 1`, `"lockstorm_proof": 99`)
	if code, _, errs := lockstorm(t, "verify", mailed); code != 3 || !strings.Contains(errs, "schema version 99") {
		t.Errorf("a proof of a later version: exit %d\n%s", code, errs)
	}
}

// rewrite changes a text in a file, once.
func rewrite(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, text) {
		t.Fatalf("%s has no %s", path, from)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A stored run is refused where its record, its results or a proof are not as they were.
func TestVerifyOfAnAlteredRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, from, to, want string
		code                 int
	}{
		"class":  {"results.json", `"class": "defect"`, `"class": "inherent"`, "DOES NOT HOLD", 1},
		"record": {"history.jsonl", `"f":"release"`, `"f":"release" `, "is damaged", 3},
		"seed":   {"results.json", `"seed": 5`, `"seed": 6`, "and the record belong to different runs", 1},
		"digest": {"results.json", `"record_sha256": "`, `"record_sha256": "0`, "its SHA-256 differs from that in " +
			"results.json", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := violated(t)
			rewrite(t, filepath.Join(dir, tc.file), tc.from, tc.to)
			if code, out, errs := lockstorm(t, "verify", dir); code != tc.code || !strings.Contains(out+errs, tc.want) {
				t.Errorf("exit %d, want %d and %q in\n%s%s", code, tc.code, tc.want, out, errs)
			}
		})
	}
}

// A pass says what it rests on; results without proofs, of an older version, say what to do.
func TestVerifyOfAPass(t *testing.T) {
	t.Parallel()
	dir := passed(t)
	code, out, _ := lockstorm(t, "verify", dir)
	for _, want := range []string{
		"the run has no findings, so there is no proof to check", "grants again; no two clients",
		"a correct lock could have produced the results of ", "no fault was injected",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, want %q in\n%s", code, want, out)
		}
	}
	if code, _, errs := lockstorm(t, "verify", dir, "--save", filepath.Join(t.TempDir(), "p")); code != 3 ||
		!strings.Contains(errs, "has no findings, so there is no proof") {
		t.Errorf("a proof of nothing: exit %d\n%s", code, errs)
	}
	old := violated(t)
	path := filepath.Join(old, harness.ResultsFile)
	r, err := checker.ReadResults(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		for i := range c.Findings {
			c.Findings[i].Proof = nil
		}
	}
	if err := r.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := lockstorm(t, "verify", old); code != 2 || !strings.Contains(out, "the results contain no proof of this "+
		"finding: judge the run again") {
		t.Errorf("results without proofs: exit %d\n%s", code, out)
	}
	// A run of which mutual exclusion is said to have passed, and did not.
	c := r.Checks[checker.MutualExclusion]
	c.Verdict, c.Findings = checker.Pass, nil
	r.Checks[checker.MutualExclusion] = c
	if err := r.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := lockstorm(t, "verify", old); code != 1 || !strings.Contains(out, "says that the check mutual-exclusion "+
		"passed, but") {
		t.Errorf("a pass that is none: exit %d\n%s", code, out)
	}
}

// A proof that rests on what did not happen needs its record.
func TestVerifyOfAnAbsence(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errs := lockstorm(t, "run", "--backend", "file-excl", "--nemesis", "client-kill:at=acquired", "--time", "1s",
		"--seed", "5", "--ttl=200ms", "--out", dir); code != harness.ExitViolation {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	mailed := filepath.Join(t.TempDir(), "proof.json")
	code, out, _ := lockstorm(t, "verify", dir, "--save", mailed)
	if code != 0 || !strings.Contains(out, "holds (checked against the whole record)") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, out, _ := lockstorm(t, "verify", mailed); code != 2 || !strings.Contains(out, "needs the whole record") {
		t.Errorf("without the record: exit %d\n%s", code, out)
	}
	if code, out, _ := lockstorm(t, "verify", mailed, "--record", dir); code != 0 {
		t.Errorf("with the record: exit %d\n%s", code, out)
	}
	if code, out, _ := lockstorm(t, "verify", mailed, "--record", violated(t)); code != 1 ||
		!strings.Contains(out, "belongs to another record") {
		t.Errorf("with another record: exit %d\n%s", code, out)
	}
	var l proof.Letter
	text, err := os.ReadFile(mailed)
	if err != nil || json.Unmarshal(text, &l) != nil || !l.NeedsRecord {
		t.Errorf("the letter does not say that it needs the record: %v\n%s", err, text)
	}
}

// A proof that nobody can follow says so.
func TestVerifyOfALongProof(t *testing.T) {
	p := harness.VerifiedProof{Finding: &checker.Finding{Proof: &proof.Certificate{Events: make([]int64, fewEvents)}}}
	if got := verdict(p); !strings.Contains(got, "the few events") {
		t.Errorf("a small proof: %q", got)
	}
	p.Finding.Proof.Events = append(p.Finding.Proof.Events, 1)
	if got := verdict(p); !strings.Contains(got, "not small (41 events") {
		t.Errorf("a long proof: %q", got)
	}
}
