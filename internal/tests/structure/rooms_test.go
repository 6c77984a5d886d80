package structure

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sources are the Go files of a folder that users get, by name; tests are left out.
func sources(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		if out[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// ourImports are the packages of this module that a folder imports itself.
func ourImports(t *testing.T, folder string) (paths []string) {
	t.Helper()
	for name, text := range sources(t, folder) {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if rest, ours := strings.CutPrefix(path, module); ours {
				paths = append(paths, rest)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// folders are those below one that have sources, itself included.
func folders(t *testing.T, top string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, top), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err == nil && len(sources(t, rel)) > 0 {
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Floors of a house: what a folder may import of the same house. Who is not listed asks, and may import what asks share.
// No question knows another one.
var (
	shared = []string{"checker", "checker/facts", "checker/causes", "checker/internal/lin", "checker/internal/lin/chain"}
	floors = map[string][]string{
		"checker/facts":              {},
		"checker":                    {"checker/facts"},
		"checker/causes":             {"checker", "checker/facts"},
		"checker/internal/lin":       {},
		"checker/internal/lin/chain": {"checker/internal/lin"},
		"internal/tests/checkertest": {"checker"},
	}
)

// No arrow of the judge goes up, nor from one question to another.
func TestFloorsOfTheJudge(t *testing.T) {
	questions := 0
	for _, folder := range folders(t, "checker") {
		allowed, known := floors[folder]
		if !known {
			allowed = shared
			questions++
		}
		for _, path := range ourImports(t, folder) {
			if below(path, "checker") && !slices.Contains(allowed, path) && folder != "checker/checks" {
				t.Errorf("%s imports %s", folder, path)
			}
		}
	}
	if questions < 9 {
		t.Errorf("%d questions were looked at", questions)
	}
}

// maxLines is how long a package of the judge may be, tests aside.
const maxLines = 1600

// A room of the judge can be read in an hour.
func TestRoomsOfTheJudge(t *testing.T) {
	for _, folder := range folders(t, "checker") {
		lines := 0
		for _, text := range sources(t, folder) {
			lines += bytes.Count(text, []byte("\n"))
		}
		if lines > maxLines {
			t.Errorf("%s has %d lines: at most %d", folder, lines, maxLines)
		}
	}
}
