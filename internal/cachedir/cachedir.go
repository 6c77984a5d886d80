// Package cachedir is where lockstorm keeps what it makes once: templates of data folders, the clock shim, how
// long runs took.
package cachedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dir is a folder of lockstorm in the user's cache or, where nothing can be written there, one of this user's
// own in the folder for temporary files. why is empty for the first, and else says what is in the way of
// it. The error names both, and the way out.
func Dir() (dir, why string, err error) {
	first := errors.New("the environment variables XDG_CACHE_HOME and HOME are not set")
	if cache, cerr := os.UserCacheDir(); cerr == nil {
		dir = filepath.Join(cache, "lockstorm")
		if first = usable(dir); first == nil {
			return dir, "", nil
		}
	}
	dir = inTemp()
	if second := own(dir); second != nil {
		return "", "", fmt.Errorf("lockstorm found no directory for its cache (%w; %w): set XDG_CACHE_HOME to a writable directory",
			first, second)
	}
	return dir, first.Error(), nil
}

func inTemp() string { return filepath.Join(os.TempDir(), "lockstorm-"+strconv.Itoa(os.Getuid())) }

// Find is something that is in a cache already: in the user's, which need not be writable for that, or in the
// one that is used in its place.
func Find(name string) (path string, ok bool) {
	if cache, err := os.UserCacheDir(); err == nil {
		if path = filepath.Join(cache, "lockstorm", name); there(path) {
			return path, true
		}
	}
	dir, _, err := Dir()
	path = filepath.Join(dir, name)
	return path, err == nil && there(path)
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// usable makes a folder, and says whether files can be made in it. It makes none: one of a process that is killed
// at that moment would stay.
func usable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "write in", Path: dir, Err: err}
	}
	return nil
}

// own is usable for a folder where anybody may make one: it must be ours, and nobody else may write there.
func own(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || !st.IsDir() || int(sys.Uid) != os.Getuid() || st.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("the directory %s does not belong to this user, or other users can write in it", dir)
	}
	return usable(dir)
}
