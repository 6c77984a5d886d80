package cachedir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A cache that cannot be written is replaced by a folder for temporary files, and that is said; where neither
// can be, the error says what to set. A file in the way is what root cannot write past either.
func TestDir(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(base, "cache"))
	if dir, why, err := Dir(); err != nil || why != "" || dir != filepath.Join(base, "cache", "lockstorm") {
		t.Errorf("%s, %q, %v", dir, why, err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(file, "cache"))
	t.Setenv("TMPDIR", base)
	dir, why, err := Dir()
	if err != nil || !strings.Contains(why, "not a directory") || filepath.Dir(dir) != base {
		t.Errorf("%s, %q, %v", dir, why, err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Dir(); err == nil || !strings.Contains(err.Error(), "does not belong to this user, or other users can "+
		"write in it") || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("a folder that anybody can write: %v", err)
	}
	t.Setenv("TMPDIR", file)
	if _, _, err := Dir(); err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME") {
		t.Errorf("neither: %v", err)
	}
}
