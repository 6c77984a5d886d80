// Package files reads files that a person names: only what is a file, and only as much as such a file can
// be. A device that never ends and a pipe that nobody writes to are errors, and no wait.
package files

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Read is the content of a regular file of at most so many bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // else a pipe is waited for
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, fmt.Errorf("%s is a directory, but a file is needed: give the path of a file", path)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is %s, but a regular file is needed: give the path of a regular file", path, kind(st.Mode()))
	}
	return Limited(path, f, most)
}

// ReadJSON reads the value in a regular file of at most so many bytes.
func ReadJSON(path string, most int64, into any) error {
	b, err := Read(path, most)
	if err == nil {
		if err = json.Unmarshal(b, into); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return err
}

// Limited reads all, and not more than so many bytes. The name is for the error.
func Limited(name string, r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes: %w", name, most, ErrLarge)
	}
	return b, err
}

// ErrLarge says that a file is larger than what is looked for can be.
var ErrLarge = errors.New("too large for this kind of file")

func kind(m fs.FileMode) string {
	return cmp.Or(map[fs.FileMode]string{
		fs.ModeNamedPipe: "a named pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device",
		fs.ModeDevice | fs.ModeCharDevice: "a device",
	}[m.Type()], "not a regular file")
}

// Relative is the way from a directory to a file.
func Relative(from, to string) (string, error) {
	a, errA := filepath.Abs(from)
	b, errB := filepath.Abs(to)
	if err := errors.Join(errA, errB); err != nil {
		return "", err
	}
	return filepath.Rel(a, b)
}
