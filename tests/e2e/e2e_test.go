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

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
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

// runCase makes the run of a case with the real binary, compares, and returns the results
// for more: nil where there are none. Of a run that the host made inconclusive nothing can be expected: it is made
// again, five times at most.
func runCase(t *testing.T, c suite.Case) *checker.Results {
	t.Helper()
	var dir, out string
	var code int
	var r *checker.Results
	for range 6 {
		dir = filepath.Join(t.TempDir(), "run")
		code, out = lockstorm(t, append([]string{"run", "--out", dir}, c.Run.Args()...)...)
		if r = results(t, dir); code != harness.ExitUnknown || r == nil || !hostMadeIt(r) || len(c.Expect.Compare(code, r)) == 0 {
			break
		}
		t.Logf("the host made it inconclusive: once more\n%s", out)
		nothingLeft(t, dir)
	}
	if differ := c.Expect.Compare(code, r); len(differ) > 0 {
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

// hostMadeIt reports whether a check has no answer since the host, or the record, may explain all that it found.
func hostMadeIt(r *checker.Results) bool {
	for _, c := range r.Checks {
		if c.Verdict == checker.Unknown && c.Code == checker.CodeDoubtful {
			return true
		}
	}
	return false
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
