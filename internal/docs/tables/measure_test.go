//go:build series

package tables

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// Every backend under every fault, with MATRIX_SEEDS (3) seeds; docs/matrix.md is written anew (2 hours).
func TestSeriesMatrix(t *testing.T) {
	measure(t, "matrix", "full", "--seeds", fmt.Sprint(setting.Number(t, "MATRIX_SEEDS", 3)))
}

// Locks of every store compared, with CHOOSE_SEEDS (5) seeds; docs/choosing.md is written anew (a quarter of an hour).
func TestSeriesChoosing(t *testing.T) {
	measure(t, "choosing", "examples/choose.yaml", "--seeds", fmt.Sprint(setting.Number(t, "CHOOSE_SEEDS", 5)))
}

// The locks with known flaws, each under the fault that shows its flaw, 10 seeds: 8 must find it; docs/defaults.md is written
// anew (10 minutes).
func TestSeriesDefaults(t *testing.T) {
	for _, row := range measure(t, "defaults", "examples/defaults.yaml").Rows {
		all := measured.Rows{row}
		if found, of := all.Sum("as_expected_runs"), all.Sum("runs"); found*10 < of*8 {
			t.Errorf("%s: found in %d of %d runs", row["lock"], found, of)
		}
	}
}

// The claims of the articles, about 160 runs; internal/cli/claims/claims.json is written anew, of which `make docs` then makes
// docs/claims.md and its pictures.
func TestSeriesClaims(t *testing.T) {
	const out = "lockstorm-runs/claims"
	if err := os.RemoveAll(filepath.Join(root, out)); err != nil {
		t.Fatal(err)
	}
	lockstorm(t, "claims", "--run", "--out", out)
	lockstorm(t, "claims", "--from", out, "--keep", "internal/cli/claims/claims.json")
}

// measure runs a suite to its end, going on where it was stopped, and writes a page with what came of it.
func measure(t *testing.T, page, suite string, flags ...string) *measured.Table {
	out := filepath.Join("lockstorm-runs", page)
	lockstorm(t, append([]string{"suite", suite, "--out", out, "--resume"}, flags...)...)
	r, err := gate.ReadResults(filepath.Join(root, out))
	if err != nil {
		t.Fatal(err)
	}
	if r.Interrupted || r.Compare && r.ExitCode != harness.ExitPass && r.ExitCode != harness.ExitUnknown {
		t.Fatalf("%s did not come to its end: %s", out, r.Verdict)
	}
	table := read(t, page)
	fills[page](table, harness.New(stores.All()...), r)
	if err := Write("../../../docs", page, table); err != nil {
		t.Fatal(err)
	}
	return table
}

// lockstorm runs the program in the root of the repository. Runs may have failed, and may have been inconclusive.
func lockstorm(t *testing.T, args ...string) {
	dir := t.TempDir()
	program := filepath.Join(dir, "lockstorm")
	build := exec.Command("go", "build", "-o", dir, "./cmd/lockstorm", "./cmd/lockstorm-servers")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, args...)
	c.Dir, c.Stdout, c.Stderr = root, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), companion.EnvPath+"=") // beside it
	var code *exec.ExitError
	switch err := c.Run(); {
	case errors.As(err, &code) && (!slices.Contains([]int{1, 2, 5}, code.ExitCode())):
		t.Fatalf("%v: %v", args, err)
	case err != nil && code == nil:
		t.Fatal(err)
	}
}

const root = "../../.." // of the repository
