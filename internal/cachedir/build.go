package cachedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// building begins the name of each folder in which something is being made.
const building = "making-"

// Build makes a folder in a cache in which something is made, to be moved to its place; done removes what is left of
// it. It is locked while its maker lives: what one that was killed has left is removed by the next one, or by [Clean].
func Build(cache string) (dir string, done func(), err error) {
	if _, err := clean(cache); err != nil {
		return "", nil, err
	}
	for {
		dir, err := os.MkdirTemp(cache, building)
		if err != nil {
			return "", nil, err
		}
		unlock, err := claim(dir)
		if err == nil {
			return dir, func() { os.RemoveAll(dir); unlock() }, nil //nolint:errcheck // the next one removes it
		}
		if !errors.Is(err, errTaken) { // by one who cleans: it was not locked yet
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

var errTaken = errors.New("another process is using this cache directory")

// claim locks a folder. The kernel unlocks it when we die.
func claim(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	unlock = func() { f.Close() } //nolint:errcheck // it is only read
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unlock()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errTaken
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if !there(dir) { // removed by who had the lock before
		unlock()
		return nil, errTaken
	}
	return unlock, nil
}

// Left are the folders, in every place for a cache, in which a lockstorm was making something when it was killed.
func Left() ([]string, error) { return each(left) }

// Clean removes them, and says which.
func Clean() ([]string, error) { return each(clean) }

// each asks all places where a cache can be.
func each(ask func(cache string) ([]string, error)) (all []string, err error) {
	places := []string{inTemp()}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "lockstorm"))
	}
	for _, cache := range places {
		found, e := ask(cache)
		all, err = append(all, found...), errors.Join(err, e)
	}
	return all, err
}

func left(cache string) ([]string, error) { return unclaimed(cache, func(string) error { return nil }) }

func clean(cache string) ([]string, error) { return unclaimed(cache, os.RemoveAll) }

// unclaimed does something to each folder that nobody has locked, while it has the lock itself, and names them.
func unclaimed(cache string, do func(dir string) error) (found []string, err error) {
	all, err := os.ReadDir(cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		return nil, err
	}
	err = nil // no such cache
	for _, entry := range all {
		dir := filepath.Join(cache, entry.Name())
		if !strings.HasPrefix(entry.Name(), building) || !entry.IsDir() {
			continue
		}
		unlock, e := claim(dir)
		if errors.Is(e, errTaken) {
			continue
		}
		if e == nil {
			e = do(dir)
			unlock()
		}
		if e == nil {
			found = append(found, dir)
		}
		err = errors.Join(err, e)
	}
	return found, err
}
