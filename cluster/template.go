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

// template is the folder of a recipe's template: it is made for the binary in its version.
func (p Process) template(ctx context.Context, r Recipe) (string, error) {
	path, err := r.Find()
	if err != nil {
		return "", err
	}
	version, err := r.VersionLine()
	if err != nil {
		return "", err
	}
	return r.MakeTemplate(path+version, func(dir string) error { return p.all(ctx, r, r.Template.Make, Place{Dir: dir}) })
}

// MakeTemplate is the folder of a recipe's template in the user's cache: it is made there on first
// use, in an empty folder, once for what makes it (a program, in its version) and by which commands.
func (r Recipe) MakeTemplate(by string, run func(dir string) error) (string, error) {
	sum := sha256.Sum256(fmt.Append(nil, by, r.Template, os.Getuid()))
	name := fmt.Sprintf("%s-%x", filepath.Base(r.Binary), sum[:8])
	if path, ok := cachedir.Find(filepath.Join(name, r.Template.Dir)); ok {
		return path, nil
	}
	cache, _, err := cachedir.Dir()
	if err != nil {
		return "", fmt.Errorf("cache the template of %s: %w", r.Name, err)
	}
	path := filepath.Join(cache, name, r.Template.Dir)
	// Made beside and moved, so that two runs at once do not see half a folder.
	made, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", fmt.Errorf("make the template of %s: %w", r.Name, err)
	}
	defer os.RemoveAll(made) //nolint:errcheck // a temporary directory
	if err := run(made); err != nil {
		return "", err
	}
	err = os.Rename(made, filepath.Join(cache, name))
	if _, there := os.Stat(path); there == nil {
		return path, nil // made by us, or by another run meanwhile
	}
	return "", errors.Join(err, fmt.Errorf("the commands of the template of %s have not made %s", r.Name, r.Template.Dir))
}
