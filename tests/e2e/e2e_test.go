//go:build series

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/tests/setting"
)

var binary string

// TestMain builds the binary that users get.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lockstorm-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "lockstorm")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/lockstorm-full")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	os.Exit(code)
}

// host is shared by the runs of cases.
var host = semaphore.NewWeighted(shares)

const shares = 8

// turn waits until a run may begin: a first try has one share of the host (two of a slow one), a second one a half, and later ones are alone.
// What a crowd makes late would be late again in the same crowd.
func turn(t *testing.T, try int) (done func()) {
	t.Helper()
	share := int64(1)
	switch {
	case try > 1:
		share = shares
	case try == 1:
		share = shares / 2
	case setting.Slow():
		share = 2
	}
	if err := host.Acquire(t.Context(), share); err != nil {
		t.Fatal(err)
	}
	return func() { host.Release(share) }
}

const tries = 4

// runCase makes the run of a case with the real binary, compares, and returns the results
// for more: nil where there are none. A run that found no violation, though one was expected, or that has no verdict or could
// not be made, is made again: the host may have made it so. A violation that was not expected stands.
func runCase(t *testing.T, c suite.Case) *checker.Results {
	t.Helper()
	var dir, out string
	var differ []suite.Difference
	var r *checker.Results
	for try := range tries {
		dir = filepath.Join(t.TempDir(), "run")
		done := turn(t, try)
		var code int
		code, out = lockstorm(t, append([]string{"run", "--out", dir}, c.Run.Args()...)...)
		done()
		r = results(t, dir)
		if differ = c.Expect.Compare(code, r); len(differ) == 0 || code == harness.ExitViolation || code == harness.ExitUsage {
			break
		}
		t.Logf("try %d: %s\n%s", try, suite.Sentences(differ), out)
		nothingLeft(t, dir)
	}
	if len(differ) > 0 {
		t.Errorf("%s\nlockstorm run %s\n%s", suite.Sentences(differ), c.Run.Line(), out)
	}
	if r != nil {
		verifies(t, dir)
	}
	nothingLeft(t, dir)
	return r
}

// verifies wants every proof of a run to hold; what only a search through the record shows is left to the judge.
func verifies(t *testing.T, dir string) {
	t.Helper()
	if code, out := lockstorm(t, "verify", dir); code != harness.ExitPass && (code != harness.ExitUnknown || !strings.Contains(out, "cannot be proved by a few events")) {
		t.Errorf("its proofs do not hold: exit %d\n%s", code, out)
	}
}

func lockstorm(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// results reads those of a run; nil where it left none.
func results(t *testing.T, dir string) *checker.Results {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, harness.ResultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var r checker.Results
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}
