//go:build fast || soak || track

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
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
	build := exec.Command("go", "build", "-o", binary, "../cmd/lockstorm")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	os.Exit(code)
}

// cell is a command that someone will run.
type cell struct {
	name string
	args string
	exit int
	// checks are verdicts that results.json must have; class is that of every finding of
	// the check.
	checks map[string]checker.Verdict
	class  map[string]checker.Class
	// stats are bounds: at least (positive) or at most (negative) so much.
	atLeast map[string]int64
	atMost  map[string]int64
}

// run makes the run and compares; the results are returned for more.
func (c cell) run(t *testing.T) *checker.Results {
	dir := filepath.Join(t.TempDir(), "run")
	code, out := lockstorm(t, append(strings.Fields("run "+c.args), "--out", dir)...)
	if code != c.exit {
		t.Errorf("exit %d, want %d: lockstorm run %s\n%s", code, c.exit, c.args, out)
	}
	r := results(t, dir)
	for name, want := range c.checks {
		if got := r.Checks[name]; got.Verdict != want {
			t.Errorf("%s: %s, want %s: %s", name, got.Verdict, want, got.Reason)
		}
	}
	for name, want := range c.class {
		got := r.Checks[name]
		if len(got.Findings) == 0 {
			t.Errorf("%s has no findings", name)
		}
		for _, f := range got.Findings {
			if f.Class != want {
				t.Errorf("%s: a finding of class %s, want %s: %s", name, f.Class, want, f.Message)
			}
		}
	}
	for name, bound := range c.atLeast {
		if v, ok := r.Stats[name]; !ok || v < bound {
			t.Errorf("%s is %d, want at least %d", name, v, bound)
		}
	}
	for name, bound := range c.atMost {
		if v, ok := r.Stats[name]; !ok || v > bound {
			t.Errorf("%s is %d, want at most %d", name, v, bound)
		}
	}
	nothingLeft(t, dir)
	return r
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

func results(t *testing.T, dir string) *checker.Results {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r checker.Results
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}
