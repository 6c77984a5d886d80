package extending

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the page anew")

const example = "../../../examples/ownlock"

// The pages have the code of the example as it is.
func TestPagesAreNotStale(t *testing.T) {
	for page, text := range map[string]string{"extending.md": text, "own-lock.md": short} {
		text, err := Page(text, example)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("../../../docs", page)
		if *rewrite {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(old) != text {
			t.Errorf("docs/%s is stale: run `make docs` and read the difference", page)
		}
	}
}

// A change of quoted code makes another page; what is gone from the example is an error.
func TestPageFollowsTheCode(t *testing.T) {
	before, err := Page(text, example)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copySources(t, dir)
	rename := func(old, fresh string) {
		t.Helper()
		path := filepath.Join(dir, "ownfault.go")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), old) {
			t.Fatalf("there is no %q to change", old)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(b), old, fresh)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rename("no lock file exists", "there is no file yet")
	if after, err := Page(text, dir); err != nil || after == before || !strings.Contains(after, "there is no file yet") {
		t.Errorf("the page does not follow: %v", err)
	}
	rename("func Faults()", "func OtherFaults()")
	if _, err := Page(text, dir); err == nil || !strings.Contains(err.Error(), "there is no declaration of Faults") {
		t.Errorf("a declaration that is gone: %v", err)
	}
}

// copySources copies the code of the example, and nothing that its runs have left there.
func copySources(t *testing.T, dir string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "cmd/ownlock/*.go"} {
		files, err := fs.Glob(os.DirFS(example), pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, name := range files {
			b, err := os.ReadFile(filepath.Join(example, name))
			err = errors.Join(err, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755),
				os.WriteFile(filepath.Join(dir, name), b, 0o600))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Each of the four files has a part in the page.
func TestEveryFileIsQuoted(t *testing.T) {
	text, err := Page(text, example)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"ownlock.go", "ownfault.go", "ownworkload.go", "owncheck.go", "ownlock_test.go", "main.go"} {
		if !strings.Contains(text, "// "+file+"\n") {
			t.Errorf("nothing of %s", file)
		}
	}
}
