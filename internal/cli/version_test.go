package cli

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

func TestVersion(t *testing.T) {
	var out strings.Builder
	run := func(args ...string) string {
		t.Helper()
		out.Reset()
		var stderr strings.Builder
		if code := Main(cases.Suites(harness.New(stores.All()...)), State{
			Context: t.Context(), Name: "lockstorm", Args: args,
			Stdout: &out, Stderr: &stderr,
		}); code != 0 || stderr.Len() > 0 {
			t.Fatalf("%v: exit code %d, %q", args, code, stderr.String())
		}
		return out.String()
	}
	text := run("version")
	first, _, _ := strings.Cut(text, "\n")
	if flag := run("--version"); first+"\n" != flag {
		t.Errorf("version begins with %q, --version prints %q", first, flag)
	}
	for _, want := range []string{
		"Go: " + runtime.Version() + "\n", runtime.GOOS + "/" + runtime.GOARCH, "history.jsonl: 1\n",
		"results.json: 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	var b built
	if err := json.Unmarshal([]byte(run("version", "--json")), &b); err != nil {
		t.Fatal(err)
	}
	if b.Program != "lockstorm" || b.Version != Version() || b.Go != runtime.Version() || b.OS != runtime.GOOS ||
		b.Arch != runtime.GOARCH ||
		b.Record != history.Schema || b.Results != checker.ResultsSchema {
		t.Errorf("--json: %+v", b)
	}
}

// TestRevision: a binary of a repository names its revision, and whether that was all.
func TestRevision(t *testing.T) {
	for _, c := range []struct {
		name     string
		info     *debug.BuildInfo
		revision string
	}{
		{"no build information", nil, "revision: not known\n"},
		{"no repository", &debug.BuildInfo{}, "revision: not known\n"},
		{"clean", &debug.BuildInfo{Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"},
			{Key: "vcs.modified", Value: "false"},
		}}, "revision: abc\n"},
		{"changed", &debug.BuildInfo{Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"},
			{Key: "vcs.modified", Value: "true"},
		}}, "revision: abc with uncommitted changes\n"},
	} {
		b := builtFrom("x", func() (*debug.BuildInfo, bool) { return c.info, c.info != nil })
		if !strings.Contains(b.String(), c.revision) {
			t.Errorf("%s: %q is missing in\n%s", c.name, c.revision, b)
		}
	}
}
