package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Only a file is read, and only what it can hold: nothing waits, and nothing fills the memory.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "f"), filepath.Join(dir, "p")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(file, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q (%v)", b, err)
	}
	if _, err := Read(file, 4); !errors.Is(err, ErrLarge) {
		t.Errorf("five bytes of four: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	for path, want := range map[string]string{dir: "a directory", pipe: "a named pipe", "/dev/zero": "a device"} {
		if _, err := Read(path, 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
