package checker_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// againstRuns are those of each binary; a pair takes some seconds.
const againstRuns = 7

// `lockstorm check` of a million events by two binaries, BENCH_OLD and BENCH_NEW, in turn, so that both see the same
// host: the ratios of the medians, new to old. The aim: 1.05 at most. On a busy host that of processor time counts.
// BENCH_EVENTS asks for another length.
func BenchmarkAgainst(b *testing.B) {
	binaries := []string{os.Getenv("BENCH_OLD"), os.Getenv("BENCH_NEW")}
	if slices.Contains(binaries, "") {
		b.Skip("BENCH_OLD and BENCH_NEW name the binaries: see make bench-against")
	}
	path := filepath.Join(b.TempDir(), history.File)
	if err := longHistory(benchEvents(b)).WriteFile(path); err != nil {
		b.Fatal(err)
	}
	var wall, cpu [2][]time.Duration
	for b.Loop() { // once: -benchtime 1x
		for range againstRuns {
			for i, binary := range binaries {
				w, c := checkedBy(b, binary, path)
				wall[i], cpu[i] = append(wall[i], w), append(cpu[i], c)
			}
		}
	}
	b.ReportMetric(ratio(cpu), "times-the-cpu")
	b.ReportMetric(ratio(wall), "times-the-wall")
	b.ReportMetric(median(cpu[0]).Seconds(), "old-cpu-s")
	b.ReportMetric(median(cpu[1]).Seconds(), "new-cpu-s")
	b.ReportMetric(0, "ns/op")
}

// checkedBy is how long a binary takes to check a history, by the clock and in processor time. It must pass, or be
// inconclusive: a safe history has no faults.
func checkedBy(b *testing.B, binary, path string) (wall, cpu time.Duration) {
	b.Helper()
	cmd := exec.Command(binary, "check", path)
	begun := time.Now()
	out, _ := cmd.CombinedOutput() // the exit code says it
	if s := cmd.ProcessState; s == nil || (s.ExitCode() != 0 && s.ExitCode() != 2) {
		b.Fatalf("%s: %v\n%s", binary, s, out)
	}
	return time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func ratio(of [2][]time.Duration) float64 { return float64(median(of[1])) / float64(median(of[0])) }

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// benchEvents is the length of a long history.
func benchEvents(b *testing.B) int {
	n := 1_000_000
	if text := os.Getenv("BENCH_EVENTS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatal(err)
		}
	}
	return n
}
