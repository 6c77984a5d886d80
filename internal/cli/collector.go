package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// Judging a record takes at most this many times the bytes of its lines, and the program's own memory beside it.
const (
	judgingTakes = 6
	programTakes = 128 << 20
	packedTo     = 20 // times the length of a compressed record that its lines have
)

// resting is held while the collector rests: its settings are of the whole process.
var resting sync.Mutex

// restCollector has the garbage collector rest up to a limit of memory, until back is called: nearly all that is allocated
// for judging a record is needed to the end. Where it rests already, nothing changes.
func restCollector(limit int64) (back func()) {
	if !resting.TryLock() {
		return func() {}
	}
	percent, was := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, was))
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(was)
		resting.Unlock()
	}
}

// judgingLimit is how much memory judging a file or the directory of a run takes at most.
func judgingLimit(path string) int64 {
	size := int64(0)
	logs, _ := filepath.Glob(filepath.Join(path, history.LogDir, "*.jsonl")) // the pattern is ours
	for _, name := range append(logs, path, history.FileIn(path)) {
		if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
			size += st.Size()
			if strings.HasSuffix(name, history.PackedSuffix) {
				size += (packedTo - 1) * st.Size()
			}
		}
	}
	return judgingTakes*size + programTakes
}
