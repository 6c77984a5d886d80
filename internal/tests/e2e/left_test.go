//go:build series

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// processesOf lists the processes of a run: those that have its directory as an open
// file, as their working directory or in their arguments.
func processesOf(dir string) []string {
	var found []string
	named := regexp.MustCompile(regexp.QuoteMeta(dir) + `(/|\x00|\n|$)`) // /runs/2 is not /runs/24
	procs, _ := filepath.Glob("/proc/[0-9]*")                            // the pattern is right
	for _, p := range procs {
		if ofLiving(p) {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || len(cmdline) == 0 {
			continue // gone, or on its way
		}
		links := []string{string(cmdline)}
		fds, _ := filepath.Glob(filepath.Join(p, "fd", "*")) // as above
		for _, l := range append(fds, filepath.Join(p, "cwd")) {
			if target, err := os.Readlink(l); err == nil {
				links = append(links, target)
			}
		}
		if named.MatchString(strings.Join(links, "\n")) {
			found = append(found, p+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}

// ofLiving reports whether a process belongs to a run that is under way: lockstorm has started it, and lives. Only what is above
// it is looked into, since hundreds of looks at files of processes that end hold up the kernel.
func ofLiving(p string) bool {
	stat, err := os.ReadFile(filepath.Join(p, "stat"))
	if err != nil {
		return true // it has gone
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // state, parent, ...
	comm, err := os.ReadFile(filepath.Join("/proc", f[1], "comm"))
	return err == nil && strings.TrimSpace(string(comm)) == "lockstorm"
}

// nothingLeft waits, for at most two seconds, until no process of the run lives.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Second); ; {
		left := processesOf(dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("left over: %s", strings.Join(left, "; "))
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}

// grantWait is the longest wait for a first grant: the first run in containers builds their image.
const grantWait = 3 * time.Minute

// waitForGrant waits until a run has granted a lock; images may have to be made before.
func waitForGrant(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(grantWait); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		b, err := history.ReadLog(filepath.Join(dir, "logs", "c1.jsonl"))
		if err == nil && strings.Contains(string(b), `"type":"ok","f":"acquire"`) {
			return
		}
	}
	t.Fatal("no grant in time")
}
