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
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

var binary string

// TestMain builds the binaries that users get.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lockstorm-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "lockstorm")
	build := exec.Command("go", "build", "-o", dir, "../../../cmd/lockstorm", "../../../cmd/lockstorm-servers")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	os.Exit(code)
}

// host is shared by the runs of cases, most of which wait for most of their time.
var host = semaphore.NewWeighted(shares)

const (
	shares = 12
	heavy  = 4 // of what makes several runs at once
)

// turn waits until a run may begin: a first try has one share of the host (three of a slow one), a second one a half, and later
// ones are alone. What a crowd makes late would be late again in the same crowd.
func turn(t *testing.T, try int) (done func()) {
	t.Helper()
	share := int64(1)
	switch {
	case try > 1:
		share = shares
	case try == 1:
		share = shares / 2
	case setting.Slow():
		share = 3
	}
	return part(t, share)
}

// part waits for shares of the host. Who has some asks for no more: somebody who wants to be alone may stand between.
func part(t *testing.T, share int64) (done func()) {
	t.Helper()
	if err := host.Acquire(t.Context(), share); err != nil {
		t.Fatal(err)
	}
	done = sync.OnceFunc(func() { host.Release(share) })
	t.Cleanup(done) // also of a test that ends early
	return done
}

// runCase makes the run of a case with the real binary, compares, and returns the results
// for more: nil where there are none. Of a run that the host made inconclusive nothing can be expected: it is made
// again, five times at most.
func runCase(t *testing.T, c suite.Case) *checker.Results {
	t.Helper()
	return runAgain(t, c, 6, func(code int, _ string, r *checker.Results) bool {
		return code == harness.ExitUnknown && r != nil && hostMadeIt(r)
	})
}

// runBeside is runCase beside many other runs: what a busy host did not let happen has another two chances, the last one alone.
// A violation that was not expected has none.
func runBeside(t *testing.T, c suite.Case) *checker.Results {
	t.Helper()
	return runAgain(t, c, 3, func(code int, out string, r *checker.Results) bool {
		if r == nil {
			return code == harness.ExitEnvironment && strings.Contains(out, "was not ready")
		}
		return hostMadeIt(r) || hostHidIt(c, code, r)
	})
}

func runAgain(t *testing.T, c suite.Case, tries int,
	again func(code int, out string, r *checker.Results) bool,
) *checker.Results {
	t.Helper()
	var dir, out string
	var differ []suite.Difference
	var r *checker.Results
	for try := range tries {
		dir = filepath.Join(t.TempDir(), "run")
		done := turn(t, try)
		var code int
		code, out = carryOut(t, append([]string{"run", "--out", dir}, c.Run.Args()...)...)
		done()
		r = results(t, dir)
		if differ = c.Expect.Compare(code, r); len(differ) == 0 || !again(code, out, r) {
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

// hostMadeIt reports whether a check has no answer since the host, or the record, may explain all that it found.
func hostMadeIt(r *checker.Results) bool {
	for _, c := range r.Checks {
		if c.Verdict == checker.Unknown && c.Code == checker.CodeDoubtful {
			return true
		}
	}
	return false
}

// hostHidIt reports whether a host that was busy may be why something is missing in it. No check fails that
// should not, and lockstorm itself made no mistake.
func hostHidIt(c suite.Case, code int, r *checker.Results) bool {
	known := code == harness.ExitPass || code == harness.ExitUnknown || slices.Contains(c.Expect.Exit, code)
	if !known || !suite.Hindered(r) {
		return false
	}
	for name, check := range r.Checks {
		switch {
		case check.Verdict == checker.Fail && c.Expect.Verdicts[name] != checker.Fail:
			return false
		case check.Verdict == checker.Unknown && slices.Contains([]checker.Code{
			checker.CodeContradiction, checker.CodePanicked,
			checker.CodeUnsound,
		}, check.Code):
			return false
		}
	}
	return true
}

// verifies wants every proof of a run to hold; what only a search through the record shows is left to the judge.
func verifies(t *testing.T, dir string) {
	t.Helper()
	if code, out := lockstorm(t, "verify", dir); code != harness.ExitPass &&
		(code != harness.ExitUnknown || !strings.Contains(out, "cannot be proved by a few events")) {
		t.Errorf("its proofs do not hold: exit %d\n%s", code, out)
	}
}

// lockstorm is a command of the real binary. One that makes a run has a share of the host, one that makes several at once has a
// third of it.
func lockstorm(t *testing.T, args ...string) (int, string) {
	t.Helper()
	switch args[0] {
	case "run", "replay":
		defer turn(t, 0)()
	case "explore", "shrink", "suite":
		defer part(t, heavy)()
	}
	return carryOut(t, args...)
}

// carryOut is a command whose share of the host the caller has.
func carryOut(t *testing.T, args ...string) (int, string) {
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
