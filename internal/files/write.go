package files

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes a file that is there as a whole, or not at all: until f has returned, it has another name beside
// its own.
func Write(path string, f func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("cannot write %s: %w", filepath.Base(path), err), tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
	w := bufio.NewWriterSize(tmp, 1<<20)
	if err = f(w); err != nil {
		return err
	}
	if err = errors.Join(w.Flush(), tmp.Chmod(0o644)); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// WriteBytes is Write of what is known already.
func WriteBytes(path string, b []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// ErrNotEmpty says that a directory has something else in it.
var ErrNotEmpty = errors.New("the directory is not empty")

// Claim writes v into a file of a directory that is empty or absent. Where the file is there already, it returns its content, and
// writes nothing.
func Claim(dir, name string, v any) (before []byte, err error) {
	path := filepath.Join(dir, name)
	if before, err = os.ReadFile(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return before, err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case len(entries) > 0:
		return nil, ErrNotEmpty
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return nil, WriteJSON(path, v)
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteBytes(path, append(b, '\n'))
}
