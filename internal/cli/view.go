package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cachedir"
)

// view shows progress on stderr: on a terminal a live line with phase, time, grants and
// the last fault, elsewhere one line a phase and a fault.
type view struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	width    int // of the terminal; 0: not known
	phase    string
	live     bool // a live line stands on the terminal
	faults   int
	of       string // which of several runs it is, each of which has a line: phases and faults have none
}

func newView(st State) *view { return &view{w: st.Stderr, terminal: st.Terminal, width: st.Width} }

// caches says where the cache is, if not in its usual place.
func (v *view) caches() {
	switch dir, why, err := cachedir.Dir(); {
	case err != nil:
		v.line("note: %v", err)
	case why != "":
		v.line("note: the cache directory of this user is not writable (%s), so lockstorm uses the directory %s", why, dir)
	}
}

// next begins one of several runs.
func (v *view) next(n, of int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.of, v.faults, v.phase = fmt.Sprintf("run %d of %d:", n, of), 0, ""
}

func (v *view) progress() *harness.Progress {
	return &harness.Progress{
		Phase: func(name, text string) {
			v.mu.Lock()
			v.phase = name
			v.mu.Unlock()
			if v.of == "" {
				v.line("%-8s %s", name, text)
			}
		},
		Note: func(text string) {
			v.mu.Lock()
			v.faults++
			v.mu.Unlock()
			if v.of == "" {
				v.line("         %s", text)
			}
		},
		Tick: v.tick,
	}
}

// line writes one line, in place of a live one.
func (v *view) line(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	fmt.Fprintf(v.w, format+"\n", args...) // progress that nobody can read is no reason to stop
}

func (v *view) tick(elapsed, total time.Duration, seen harness.Seen) {
	v.mu.Lock()
	text := fmt.Sprintf("%-8s %4.1f of %.0f s, %d grants, %d fault events", v.phase, elapsed.Seconds(), total.Seconds(), seen.Grants,
		v.faults)
	if seen.Overlaps > 0 {
		text += fmt.Sprintf(", overlaps (two clients held the lock at once): %d", seen.Overlaps)
	}
	if v.of != "" {
		text = v.of + " " + text
	}
	v.mu.Unlock()
	v.status(text)
}

// status shows a live line on a terminal, in place of the one before.
func (v *view) status(text string) {
	if !v.terminal {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	if v.width > 1 && len(text) >= v.width { // a line that wraps cannot be erased
		text = text[:v.width-1]
	}
	fmt.Fprint(v.w, text) // progress that nobody can read is no reason to stop
	v.live = true
}

func (v *view) erase() {
	if v.live {
		fmt.Fprint(v.w, "\r\033[K") // as above
		v.live = false
	}
}

func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
}
