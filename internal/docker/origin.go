package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// labels are those of what this process makes for a run.
func labels(run string) map[string]string {
	self, _ := owner(os.Getpid()) // it lives
	out := map[string]string{labelRun: run, labelOwner: self, labelHost: here().host()}
	if m := here().machine; m != "" {
		out[labelMachine] = m
	}
	return out
}

// owner is a process that cannot be taken for another one: its id, and when it was started. It is empty for one
// that has ended; sure is false where nobody can tell, as of processes of others on a host that hides them.
func owner(pid int) (label string, sure bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const began = 22 - 3 // field 22 of all, the third of which comes first here
	if len(fields) <= began || fields[0] == "Z" || fields[0] == "X" {
		return "", true // it has ended
	}
	return fmt.Sprintf("%d-%s", pid, fields[began]), true
}

// origin is where ids of processes mean something: what cannot be read is empty.
type origin struct{ machine, boot, pids string }

// here is where this process is. A machine is known by a fingerprint of its id, which is nobody else's business.
var here = sync.OnceValue(func() origin {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // what cannot be read is not known
	pids, _ := os.Readlink("/proc/self/ns/pid")               // as above
	id, _ := os.ReadFile("/etc/machine-id")                   // as above
	o := origin{boot: strings.TrimSpace(string(boot)), pids: pids}
	if text := strings.TrimSpace(string(id)); text != "" {
		sum := sha256.Sum256([]byte("lockstorm " + text))
		o.machine = hex.EncodeToString(sum[:8])
	}
	return o
})

// host is the origin as a label has it; "unknown" where it cannot be told from others.
func (o origin) host() string {
	if o.boot == "" || o.pids == "" {
		return "unknown"
	}
	return o.boot + " " + o.pids
}

// fate is what has become of the process that made something.
type fate int

const (
	lives  fate = iota
	dead        // that is proven
	untold      // nobody here can tell
)

// fateOf says what has become of the process of labels. It is dead where it was a process of this machine, of
// this boot and of the processes that are seen from here, and is no more; or of this machine and an earlier
// boot, for a boot ends all. Of another machine, whose Docker this is as well, nothing is known, nor where
// this place or that one cannot be told from others. find is the owner of an id.
func fateOf(labels map[string]string, at origin, find func(pid int) (label string, sure bool)) fate {
	boot, pids, known := strings.Cut(labels[labelHost], " ")
	id, _, _ := strings.Cut(labels[labelOwner], "-")
	pid, err := strconv.Atoi(id)
	switch {
	case !known || at.host() == "unknown":
		return untold
	case boot != at.boot && at.machine != "" && labels[labelMachine] == at.machine:
		return dead
	case boot != at.boot || pids != at.pids || err != nil:
		return untold
	}
	switch label, sure := find(pid); {
	case !sure:
		return untold
	case label == labels[labelOwner]:
		return lives
	}
	return dead
}
