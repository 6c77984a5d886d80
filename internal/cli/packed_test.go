package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
)

// A run whose record was compressed with zstd is judged, verified and exported as before, and one that cannot be unpacked is
// refused.
func TestPackedRecord(t *testing.T) { // not parallel: it changes PATH
	dir := violated(t)
	mailed := filepath.Join(t.TempDir(), "proof.json")
	if code, out, errs := lockstorm(t, "verify", dir, "--save", mailed); code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	results, err := os.ReadFile(filepath.Join(dir, harness.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, history.File)
	_, plain, _ := lockstorm(t, "export", dir)
	if out, err := exec.Command("zstd", "-q", "--rm", record).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	record += history.PackedSuffix
	for _, tc := range []struct {
		args []string
		code int
	}{
		{[]string{"check", dir}, harness.ExitViolation},
		{[]string{"check", record}, harness.ExitViolation},
		{[]string{"verify", dir}, 0},
		{[]string{"verify", filepath.Dir(dir)}, 0},
		{[]string{"verify", mailed, "--record", dir}, 0},
		{[]string{"verify", mailed, "--record", record}, 0},
		{[]string{"export", record}, 0},
		{[]string{"export", dir}, 0},
	} {
		code, out, errs := lockstorm(t, tc.args...)
		if code != tc.code || tc.args[0] == "export" && out != plain {
			t.Errorf("%q: exit %d, not %d:\n%s%s", tc.args, code, tc.code, out, errs)
		}
	}
	if again, err := os.ReadFile(filepath.Join(dir, harness.ResultsFile)); err != nil || !bytes.Equal(again, results) {
		t.Errorf("the results differ: %v", err)
	}
	if _, err := os.Stat(strings.TrimSuffix(record, history.PackedSuffix)); err == nil {
		t.Error("the record was unpacked beside the compressed one")
	}
	if st, err := os.Stat(record); err != nil || os.Truncate(record, st.Size()/2) != nil {
		t.Fatal(err)
	}
	refused(t, "cannot unpack it", dir)
	t.Setenv("PATH", t.TempDir())
	refused(t, "needs the program zstd on PATH", dir)
}

func refused(t *testing.T, why, dir string) {
	t.Helper()
	for _, verb := range []string{"check", "verify", "export"} {
		if code, out, errs := lockstorm(t, verb, dir); code != harness.ExitUsage || !strings.Contains(out+errs, why) {
			t.Errorf("%s: exit %d, want %q in\n%s%s", verb, code, why, out, errs)
		}
	}
}
