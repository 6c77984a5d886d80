//go:build series

package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// TestSeriesVersions runs the cases of the library that LIB names over its last LIB_VERSIONS releases (4),
// each built in a copy of this module, with LIB_SEEDS seeds (3), and says which release changed how
// a case ends.
func TestSeriesVersions(t *testing.T) {
	lib, last, seeds := os.Getenv("LIB"), setting.Number(t, "LIB_VERSIONS", 4), setting.Number(t, "LIB_SEEDS", 3)
	all := casesOf(lib)
	if len(all) == 0 {
		t.Fatalf("LIB=%q is the module of no backend: choose one of %s", lib, strings.Join(libraries(), ", "))
	}
	var before map[string]string
	for _, version := range releases(t, lib, last) {
		built, err := build(t, lib, version)
		if err != nil {
			t.Logf("%s %s cannot be built with these adapters: %v", lib, version, err)
			continue
		}
		got := endings(t, built, all, seeds)
		for _, name := range slices.Sorted(maps.Keys(got)) {
			switch {
			case before == nil:
				t.Logf("%s  %-70s %s", version, name, got[name])
			case before[name] != got[name]:
				t.Logf("%s  %-70s %s, before: %s", version, name, got[name], before[name])
			}
		}
		if before != nil && maps.Equal(before, got) {
			t.Logf("%s  every case ends as before", version)
		}
		before = got
	}
	if before == nil {
		t.Fatal("no release could be built")
	}
}

// libraries are the modules that backends are made of.
func libraries() (modules []string) {
	for _, b := range harness.New(stores.All()...).Backends.All() {
		if module, _, _ := strings.Cut(b.Library, " "); module != "" && !slices.Contains(modules, module) {
			modules = append(modules, module)
		}
	}
	return modules
}

// casesOf are the variants of a library under each fault, with its own discipline.
func casesOf(lib string) (all []suite.Case) {
	cat := harness.New(stores.All()...)
	for _, c := range cases.Libraries() {
		spec, _, err := backends.Choose(cat.Backends, c.Run.Backend)
		if module, _, _ := strings.Cut(spec.Library, " "); err == nil && lib != "" && module == lib &&
			c.Run.Discipline == history.Told {
			all = append(all, c)
		}
	}
	return all
}

// releases are the last ones of a module, the oldest first.
func releases(t *testing.T, lib string, n int) []string {
	out, err := exec.Command("go", "list", "-mod=mod", "-m", "-versions", lib).Output()
	if err != nil {
		t.Fatalf("go list -m -versions %s: %v", lib, err)
	}
	var stable []string
	for _, v := range strings.Fields(string(out))[1:] {
		if !strings.Contains(v, "-") {
			stable = append(stable, v)
		}
	}
	return stable[max(0, len(stable)-n):]
}

// build makes the binary with another release of a library, in a copy of the module.
func build(t *testing.T, lib, version string) (path string, err error) {
	dir := t.TempDir()
	skip := map[string]bool{".git": true, "bin": true, "lockstorm-runs": true, "docs": true}
	root := os.DirFS("../../..")
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skip[name]:
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), data, 0o600)
	})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "lockstorm-"+version)
	for _, args := range [][]string{{"get", lib + "@" + version}, {"build", "-mod=mod", "-o", path, "./cmd/lockstorm"}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return path, nil
}

// endings are how the seeds of each case ended, in words and rules of defects.
func endings(t *testing.T, bin string, all []suite.Case, seeds int) map[string]string {
	var mu sync.Mutex
	words := map[string]map[string]bool{}
	var wg sync.WaitGroup
	room := make(chan struct{}, parallelVersions)
	for _, c := range all {
		words[c.Name] = map[string]bool{}
		for seed := 1; seed <= seeds; seed++ {
			wg.Go(func() {
				room <- struct{}{}
				defer func() { <-room }()
				one := ending(t, bin, c.Seeded(uint64(seed)))
				mu.Lock()
				defer mu.Unlock()
				for _, w := range one {
					words[c.Name][w] = true
				}
			})
		}
	}
	wg.Wait()
	out := map[string]string{}
	for name, w := range words {
		out[name] = strings.Join(slices.Sorted(maps.Keys(w)), ", ")
	}
	return out
}

// runLimit is how long one run may take.
const runLimit = 2 * time.Minute

// parallelVersions bounds how many runs are made at once.
const parallelVersions = 6

// ending is how one run ended; an inconclusive one says nothing.
func ending(t *testing.T, bin string, c suite.Case) (words []string) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, bin, slices.Concat([]string{"run"}, c.Run.Args(),
		[]string{"--out", dir})...).CombinedOutput()
	r := results(t, dir)
	if r == nil {
		t.Errorf("%s: %v\n%s", c.Name, err, out)
		return nil
	}
	if r.Verdict == checker.Unknown {
		return nil
	}
	words = append(words, string(suite.WordOf(r)))
	for _, check := range r.Checks {
		for _, f := range check.Findings {
			if f.Class == checker.Defect && !f.Doubtful && !slices.Contains(words, f.Rule) {
				words = append(words, f.Rule)
			}
		}
	}
	return words
}
