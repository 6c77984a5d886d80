package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// versionTimeout is for a program to say its version; a JVM takes a second for it.
const versionTimeout = 10 * time.Second

// told are the versions that programs have said of themselves in this process, by [program].
var told sync.Map

// program is a file on this host as it was when it was asked.
type program struct {
	path, args string
	size       int64
	changed    time.Time
}

// VersionLine returns the first line that the binary prints of its version. It runs an unchanged program only once: a
// JVM takes a second to answer, and a suite asks for every run.
func (r Recipe) VersionLine(ctx context.Context) (string, error) {
	path, err := r.Find()
	if err != nil {
		return "", err
	}
	key := program{path: path, args: strings.Join(r.Version, " ")}
	if info, err := os.Stat(path); err == nil {
		key.size, key.changed = info.Size(), info.ModTime()
	}
	if line, known := told.Load(key); known {
		return line.(string), nil
	}
	line, err := r.askVersion(ctx, path)
	if err == nil {
		told.Store(key, line)
	}
	return line, err
}

func (r Recipe) askVersion(ctx context.Context, path string) (string, error) {
	asking, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(asking, path, r.Version...)
	cmd.Env, cmd.WaitDelay = r.environ(), time.Second // its own children may keep its output open
	runtime.LockOSThread()                            // on whose death the kernel kills it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if asking.Err() != nil {
		return "", fmt.Errorf("the command %s %s, which prints the server's version, did not end within %v: check whether %s is the "+
			"right program", r.Binary, strings.Join(r.Version, " "), versionTimeout, path)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", r.Binary, strings.Join(r.Version, " "), err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line, nil
}
