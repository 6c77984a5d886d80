package checker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
)

// From a history file to its verdict, all checks. The aim for a million events: under 2 s of
// processor time, 1.3 s on two idle cores, 350 MB. The collector rests, as in `lockstorm check`. BENCH_EVENTS asks for
// another length.
func BenchmarkFile(b *testing.B) {
	n := benchEvents(b)
	path := filepath.Join(b.TempDir(), history.File)
	if err := longHistory(n).WriteFile(path); err != nil {
		b.Fatal(err)
	}
	debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(n) * 1200))             // six times the file, about
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak begins anew
		b.Fatal(err)
	}
	b.Run(fmt.Sprint(n), func(b *testing.B) {
		start := spent(b)
		for b.Loop() {
			h, err := history.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			in, err := checker.NewInput(h)
			if err != nil {
				b.Fatal(err)
			}
			if r := checker.Judge(in, checks.Default()); r.Verdict == checker.Fail {
				b.Fatal(r.Verdict)
			}
		}
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/file")
		b.ReportMetric((spent(b)-start)/1e9/float64(b.N), "cpu-s/file")
		b.ReportMetric(peak(b), "MB-peak")
		b.ReportMetric(0, "ns/op")
	})
}

// peak is the most memory that the process had, in MB.
func peak(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kb); err == nil {
			return kb / 1024
		}
	}
	b.Fatal("no VmHWM")
	return 0
}
