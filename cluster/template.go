package cluster

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/cachedir"
)

// template returns the folder of a recipe's template, made for the binary in its version.
func (p ProcessProvider) template(ctx context.Context, r Recipe) (string, error) {
	path, err := r.Find()
	if err != nil {
		return "", err
	}
	version, err := r.VersionLine(ctx)
	if err != nil {
		return "", err
	}
	commands, err := r.making()
	if err != nil {
		return "", err
	}
	return r.MakeTemplate(path+version, func(dir string) error {
		// Their temporary files go with the folder when they are killed.
		return p.all(ctx, r, commands, Place{Dir: dir, Env: []string{"TMPDIR=" + dir}})
	})
}

// ownSegments runs a command in a /dev/shm of its own, which ends with it. Where the kernel does not allow that, or
// there is no unshare, the command runs as it is.
const ownSegments = `own="mount -t tmpfs tmpfs /dev/shm && exec unshare --map-user=$(id -u) --map-group=$(id -g) \"\$0\" \"\$@\""
if unshare --map-root-user --mount sh -c "$own" true 2>/dev/null; then
  exec unshare --map-root-user --mount sh -c "$own" "$0" "$@"; fi
exec "$0" "$@"`

// making are the commands of a template, as processes of this host.
func (r Recipe) making() ([][]string, error) {
	if !r.Template.Segments {
		return r.Template.Make, nil
	}
	var commands [][]string
	for _, command := range r.Template.Make {
		path, err := r.find(command[0])
		if err != nil {
			return nil, err
		}
		commands = append(commands, append([]string{"sh", "-c", ownSegments, path}, command[1:]...))
	}
	return commands, nil
}

// MakeTemplate returns the folder of a recipe's template in the user's cache. On first use it makes the folder, once
// for each maker (a program, in its version) and its commands; run gets an empty folder.
func (r Recipe) MakeTemplate(by string, run func(dir string) error) (string, error) {
	sum := sha256.Sum256(fmt.Append(nil, by, r.Template, os.Getuid()))
	name := fmt.Sprintf("%s-%x", filepath.Base(r.Binary), sum[:8])
	if path, ok := cachedir.Find(filepath.Join(name, r.Template.Dir)); ok {
		return path, nil
	}
	cache, _, err := cachedir.Dir()
	if err != nil {
		return "", fmt.Errorf("cannot cache the initial data directory of server %s: %w", r.Name, err)
	}
	path := filepath.Join(cache, name, r.Template.Dir)
	// Made beside and moved, so that two runs at once do not see half a folder.
	made, done, err := cachedir.Build(cache)
	if err != nil {
		return "", fmt.Errorf("cannot make the initial data directory of server %s: %w", r.Name, err)
	}
	defer done()
	if err := run(made); err != nil {
		return "", err
	}
	err = os.Rename(made, filepath.Join(cache, name))
	if _, there := os.Stat(path); there == nil {
		return path, nil // made by us, or by another run meanwhile
	}
	return "", errors.Join(err, fmt.Errorf("the commands that make the initial data directory of server %s did not create %s",
		r.Name, r.Template.Dir))
}
