// Package clockshim lets the wall clock of a server jump while it runs: a small library
// of ours, loaded with LD_PRELOAD, adds an offset from a shared file to every reading.
// It is compiled with the C compiler of the machine on first use and cached.
//
// Programs that read the clock past the C library, as Go programs do, do not notice it.
package clockshim

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/cachedir"
)

//go:embed shim.c.txt
var source []byte

var flags = []string{"-shared", "-fPIC", "-O2", "-nostdlib"}

// compilers are tried in this order; CC of the environment comes first.
var compilers = []string{"cc", "gcc", "clang"}

// Compiler is the C compiler that would be used; the error says how to get one.
func Compiler() (string, error) {
	for _, name := range append([]string{os.Getenv("CC")}, compilers...) {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no C compiler is on PATH; lockstorm needs one to build the clock shim, the library that changes a " +
		"server's clock (Debian: apt-get install gcc libc6-dev)")
}

// Build compiles the shim, unless it is in the user's cache already, and returns its path.
func Build(ctx context.Context) (string, error) {
	sum := sha256.Sum256(fmt.Append(source, flags))
	name := fmt.Sprintf("clockshim-%x.so", sum[:8])
	if path, ok := cachedir.Find(name); ok {
		return path, nil
	}
	cc, err := Compiler()
	if err != nil {
		return "", err
	}
	dir, _, err := cachedir.Dir()
	if err != nil {
		return "", fmt.Errorf("cannot store the clock shim (the library that changes a server's clock) in the cache: %w", err)
	}
	path := filepath.Join(dir, name)
	// Built beside and moved, so that two runs at once do not see half a file.
	tmp, done, err := cachedir.Build(dir)
	if err != nil {
		return "", fmt.Errorf("cannot build the clock shim (the library that changes a server's clock): %w", err)
	}
	defer done()
	src, out := filepath.Join(tmp, "shim.c"), filepath.Join(tmp, "shim.so")
	if err := os.WriteFile(src, source, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, cc, append(flags, "-o", out, src)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the clock shim (the library that changes a server's clock) with %s: %w: %s", cc, err, text)
	}
	return path, os.Rename(out, path)
}

// Clock is the wall clock of one server, as an offset in a file that it maps.
type Clock struct {
	path string

	mu     sync.Mutex
	offset time.Duration
}

// New makes the file, with no offset.
func New(path string) (*Clock, error) {
	c := &Clock{path: path}
	return c, c.store(0)
}

// Env is what a server needs in its environment to go by this clock.
func (c *Clock) Env(shim string) []string {
	return []string{"LD_PRELOAD=" + shim, "LOCKSTORM_CLOCK=" + c.path}
}

// Jump moves the clock by d, at once, and returns its offset from the host's.
func (c *Clock) Jump(d time.Duration) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.store(c.offset + d); err != nil {
		return c.offset, err
	}
	c.offset += d
	return c.offset, nil
}

// store writes in place: the server has the file mapped.
func (c *Clock) store(offset time.Duration) error {
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot change the clock of a server: %w", err)
	}
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(offset))
	_, err = f.WriteAt(b[:], 0)
	return errors.Join(err, f.Close())
}
