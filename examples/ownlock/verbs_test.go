package ownlock_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ownlock"

	"github.com/lockstorm/lockstorm"
	"github.com/lockstorm/lockstorm/harness"
)

// said is what a verb prints, and its exit code.
func said(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	code = lockstorm.Run(t.Context(), "ownlock", ownlock.Catalogue(), args, &out, &progress)
	return code, out.String(), progress.String()
}

// Everything that this package adds is listed like what lockstorm has itself.
func TestList(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][]string{
		"backends " + ownlock.Name:    {ownlock.PointFree},
		"backends":                    {ownlock.Name, ownlock.Blind},
		"faults " + ownlock.StaleFile: {"seen=nothing"},
		"workloads " + ownlock.Ledger: {ownlock.PointNumbered, "accounts=4"},
		"checks":                      {ownlock.LedgerWhole},
	} {
		code, out, _ := said(t, append([]string{"list"}, strings.Fields(kind)...)...)
		for _, w := range want {
			if code != harness.ExitPass || !strings.Contains(out, w) {
				t.Errorf("list %s: exit code %d, nothing of %q", kind, code, w)
			}
		}
	}
}

// A run with all four of them: made, judged again from its files, rendered, and replayed.
func TestVerbs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	run := strings.Fields("run --backend own-lock --nemesis stale-file:at=before-write --workload ledger:accounts=3" + settings +
		"--out " + dir)
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{run, harness.ExitViolation, "VIOLATION: "},
		{[]string{"check", dir}, harness.ExitViolation, "ledger-whole"},
		{[]string{"report", dir}, harness.ExitPass, "report: "},
		{[]string{"replay", dir, "--out", dir + "-again"}, harness.ExitViolation, "run 1: VIOLATION: "},
	} {
		code, out, progress := said(t, tc.args...)
		if code != tc.code || !strings.Contains(out, tc.says) {
			t.Fatalf("%v: exit code %d, want %d and %q\n%s\n%s", tc.args, code, tc.code, tc.says, out, progress)
		}
	}
}

// The suite of this folder is green; with the bug in the place of the lock it is red.
func TestSuite(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // timings of runs
	dir := t.TempDir()
	code, out, progress := said(t, "suite", "lockstorm.yaml", "--out", filepath.Join(dir, "green"))
	if code != harness.ExitPass && code != harness.ExitUnknown {
		t.Errorf("exit code %d\n%s%s", code, out, progress)
	}
	code, out, progress = said(t, "suite", "lockstorm.yaml", "--replace", "own-lock=own-lock-blind", "--out",
		filepath.Join(dir, "red"))
	// a busy host may show it in another cell
	if code != harness.ExitViolation || !strings.Contains(out, "the release freed another client's lock") {
		t.Errorf("exit code %d\n%s%s", code, out, progress)
	}
}

// The file to begin with is of the locks of this package, and of faults that they can have.
func TestInit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "first.yaml")
	if code, out, progress := said(t, "init", file); code != harness.ExitPass || !strings.Contains(out, "ownlock suite") {
		t.Fatalf("init: exit code %d\n%s\n%s", code, out, progress)
	}
	code, out, progress := said(t, "suite", file, "--list")
	if code != harness.ExitPass || !strings.Contains(out, ownlock.Blind) || !strings.Contains(out, "client-pause") ||
		strings.Contains(out, "server-restart") {
		t.Errorf("suite --list: exit code %d\n%s\n%s", code, out, progress)
	}
}
