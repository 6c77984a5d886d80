package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// A collector that rests works from its limit on: what is not needed fills no memory. Afterwards all is as before, and who
// comes while it rests changes nothing.
func TestTheCollectorRestsUpToALimit(t *testing.T) {
	const limit = 256 << 20
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	back := restCollector(limit)
	restCollector(1)() // the limit stays
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var last []byte
	for range 64 {
		last = make([]byte, 1<<20)
	}
	runtime.ReadMemStats(&after)
	if before.Sys < limit/2 && after.NumGC != before.NumGC {
		t.Errorf("the collector ran %d times far below its limit", after.NumGC-before.NumGC)
	}
	for range 4 * limit >> 20 {
		last = make([]byte, 1<<20)
	}
	runtime.ReadMemStats(&after)
	if runtime.KeepAlive(last); after.HeapInuse > 2*limit { // the collector works beside us: a busy host lets us get ahead of it
		t.Errorf("%d MB of %d are in use, the limit is %d MB", after.HeapInuse>>20, after.TotalAlloc>>20, limit>>20)
	}
	was := debug.SetMemoryLimit(-1)
	back()
	if got := debug.SetGCPercent(100); was != limit || got != 100 || debug.SetMemoryLimit(-1) == limit {
		t.Errorf("the limit was %d, the collector's percentage is %d afterwards, the limit %d", was, got, debug.SetMemoryLimit(-1))
	}
}

// The limit follows from what is read: a file, or what the directory of a run has.
func TestLimitOfJudging(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, history.LogDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{history.File, filepath.Join(history.LogDir, "c1.jsonl"), "report.html"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, bytes := range map[string]int64{dir: 2000, filepath.Join(dir, history.File): 1000, dir + "/none": 0} {
		if got, want := judgingLimit(path), judgingTakes*bytes+programTakes; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
