//go:build series

package campaign

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// 10,000 cells whose runs sleep for 5 s, over 200 workers in four processes. What the queue costs is the time beyond that of the
// naps; start, queue and finish are this process.
func TestSeriesLoad(t *testing.T) {
	const cells, processes, jobs, nap = 10000, 4, 50, 5 * time.Second
	s := serve(t, t.TempDir(), "127.0.0.1:0")
	q := open(t, s.URL())
	m := manifest(t, "load", cells, 1)
	m.AckWait = time.Minute
	begun := time.Now()
	c := start(t, q, m)
	t.Logf("published %d tasks in %v", cells, time.Since(begun).Round(time.Millisecond))
	before := cpu(t)
	begun = time.Now()
	var mu sync.Mutex
	var ends []time.Duration
	var wg sync.WaitGroup
	var usage []time.Duration
	for range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), workerOf+"="+s.URL(), fmt.Sprintf("%s=%d", workerJobs, jobs), workerNap+"="+nap.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			mu.Lock()
			ends = append(ends, time.Since(begun))
			usage = append(usage, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			mu.Unlock()
		})
	}
	wg.Wait()
	took, ideal := time.Since(begun), time.Duration(cells/processes/jobs)*nap
	served := cpu(t) - before
	t.Logf("took %v of %v: the queue costs %.1f %% of the time", took.Round(time.Millisecond), ideal,
		100*float64(took-ideal)/float64(ideal))
	t.Logf("processes ended after %v: the last one %.1f %% after the first", ends,
		100*(float64(slices.Max(ends))/float64(slices.Min(ends))-1))
	t.Logf("processor time of the queue: %v, %v for each run; of the workers: %v", served.Round(time.Millisecond),
		(served / cells).Round(time.Microsecond), usage)
	begun = time.Now()
	if n := ended(t, c, t.TempDir()); n != cells {
		t.Errorf("%d attempts of %d runs", n, cells)
	}
	t.Logf("gathered in %v; memory of start, queue and finish together: %s", time.Since(begun).Round(time.Millisecond), peak(t))
}

func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the most memory that this process had.
func peak(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "not known"
}
