package ownredis_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ownlock/ownredis"

	"github.com/lockstorm/lockstorm/cmd/cli"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

func TestMain(m *testing.M) { lockstormtest.Main(m, ownredis.Catalogue()) }

// The suite of this folder is green; with the bug in the place of the lock it is red, and names the release.
func TestSuite(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // timings of runs
	dir := t.TempDir()
	said := func(args ...string) (code int, text string) {
		var out bytes.Buffer
		code = cli.Main(&suite.Book{Catalogue: ownredis.Catalogue()}, cli.State{Context: t.Context(), Name: "ownredis", Args: args, Stdout: &out, Stderr: &out})
		return code, out.String()
	}
	code, text := said("suite", "lockstorm.yaml", "--out", filepath.Join(dir, "green"))
	if code != harness.ExitPass && code != harness.ExitUnknown {
		t.Errorf("exit code %d\n%s", code, text)
	}
	code, text = said("suite", "lockstorm.yaml", "--replace", ownredis.Name+"="+ownredis.Bug, "--out", filepath.Join(dir, "red"))
	if code != harness.ExitViolation || !strings.Contains(text, "violation: late-release") || !strings.Contains(text, "; cause: ") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}
