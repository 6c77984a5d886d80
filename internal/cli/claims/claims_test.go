package claims

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

func TestMain(m *testing.M) {
	harness.WorkerMain(harness.New(stores.All()...))
	os.Exit(m.Run())
}

// lockstorm runs the command line in this process.
func lockstorm(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	st := cli.State{Context: context.Background(), Name: "lockstorm", Args: args, Stdout: &out, Stderr: &errs}
	code = cli.Main(cases.Suites(harness.New(stores.All()...)), st, Verb)
	return code, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		args string
		code int
		want string // in stdout or stderr
	}{
		{"claims nine", 3, `there is no claim "nine"`},
		{"claims --run --from x", 3, "choose one of the two flags"},
		{"claims --from nowhere", 3, "--from: open nowhere"},
		{"claims --run --jobs 0 9", 3, "--jobs 0: the value must be a whole number, 1 or more"},
		{"claims", 0, "42  in part  5 runs   etcd can be used for locks, and"},
		{"claims 36", 0, "14, needs 1.5    one client gets more grants per second from Redis than from etcd"},
		{"claims 9 --json", 0, `"verdict": "stands"`},
		{"claims 99", 3, `there is no claim "99": the command "claims" lists the claims`},
	} {
		code, out, errs := lockstorm(t, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(out+errs, tc.want) {
			t.Errorf("%s: exit %d\n%s%s", tc.args, code, out, errs)
		}
	}
}

// A claim is run, judged, kept and shown again; what is there already is not touched.
func TestClaims(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "claims")
	code, out, errs := lockstorm(t, "claims", "--run", "41", "--out", dir)
	if code != 0 || !strings.Contains(out, "41  in part ") || !strings.Contains(errs, "3 of 3") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	if _, again, _ := lockstorm(t, "claims", "41", "--from", dir); again != out {
		t.Errorf("shown again:\n%s\nwas:\n%s", again, out)
	}
	if code, _, errs := lockstorm(t, "claims", "--run", "41", "--out", dir); code != 3 || !strings.Contains(errs, "is not empty") {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, name := range []string{"excl", "excl-kill", "flock-kill"} {
		if _, err := os.Stat(filepath.Join(dir, "claim-41", name, harness.ReportFile)); err != nil {
			t.Error(err)
		}
	}
}
