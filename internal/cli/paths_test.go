package cli

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/shell"
)

// Blanks, quotes and other letters in paths and arguments are kept by whatever stores a run and makes it again.
func TestOddPathsAndArguments(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), `it's a "ü"`)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../../adapters/python/null.py")
	if err != nil {
		t.Fatal(err)
	}
	adapter, argument := filepath.Join(dir, "null.py"), `an 'argument' $x "ü"`
	if err := os.WriteFile(adapter, program, 0o755); err != nil {
		t.Fatal(err)
	}
	file, out, merged := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "o ut"), filepath.Join(dir, "merged")
	text := fmt.Sprintf("run: {time: 500ms, ttl: 300ms, clients: 2}\naxes: {exec: [[%q, %q]]}\nexpect: [{outcome: defect}]\n",
		adapter, argument)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run, shrunk := filepath.Join(out, "runs", "exec-cmd-*", "*", "seed-1"), filepath.Join(dir, "shrunk")
	command := "lockstorm run " + shell.Join("--backend", "exec:cmd="+adapter, "--clients", "2", "--ttl", "300ms", "--time", "500ms",
		"--seed", "1", "--", argument)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{0, "1 cell: 1 as expected", []string{"suite", file, "--out", out}},
		{0, "1 cell: 1 as expected", []string{"suite", file, "--out", out, "--resume"}},
		{0, "1 cell: 1 as expected", []string{"merge", out, "--out", merged}},
		{0, "significant differences", []string{"compare", out, merged}},
		{1, "command of the original run: " + command, []string{"replay", run, "--out", filepath.Join(dir, "again")}},
		{
			0, "repeat:    lockstorm replay " + shell.Quote(filepath.Join(shrunk, "shrunk")) + " --times 10",
			[]string{"shrink", run, "--out", shrunk, "--runs", "10", "--rate", "1"},
		},
		{1, "1 of 1 runs ended like", []string{"replay", filepath.Join(shrunk, "shrunk"), "--out", filepath.Join(dir, "shrunk again")}},
	} {
		for i, a := range c.args {
			if found, err := filepath.Glob(a); err == nil && len(found) == 1 {
				c.args[i] = found[0]
			}
		}
		code, said, errs := lockstorm(t, c.args...)
		if code != c.code || !strings.Contains(said+errs, c.want) {
			t.Fatalf("%q: exit %d, want %d and %q in\n%s%s", c.args, code, c.code, c.want, said, errs)
		}
	}
	links(t, merged)
}

// links of a page lead to files that are there.
func links(t *testing.T, dir string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(dir, matrix.IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, part := range strings.Split(string(page), `href="`)[1:] {
		link, _, _ := strings.Cut(part, `"`)
		if strings.HasPrefix(link, "#") {
			continue
		}
		found++
		link, err := url.PathUnescape(html.UnescapeString(link))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Errorf("the link %s leads nowhere", link)
		}
	}
	if found == 0 {
		t.Error("the page has no links to runs")
	}
}
