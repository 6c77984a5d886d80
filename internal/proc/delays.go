package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Delays are for how long each thread of some processes, and of all that they have started, has waited so far for a processor
// although it could run. A process that has ended has none; nil where the kernel does not count it.
func Delays(pids []int) map[int]time.Duration {
	all, err := processes()
	if err != nil {
		return nil
	}
	out := map[int]time.Duration{}
	for _, root := range pids {
		for pid := range under(root, all) {
			stats, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat") // nanoseconds run, nanoseconds waited, turns
			if err != nil {
				return nil
			}
			for _, path := range stats {
				text, err := os.ReadFile(path)
				if err != nil {
					continue // it has ended meanwhile
				}
				f := strings.Fields(string(text))
				tid, errID := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				if len(f) < 2 || errID != nil {
					return nil
				}
				waited, err := strconv.ParseInt(f[1], 10, 64)
				if err != nil {
					return nil
				}
				out[tid] = time.Duration(waited)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
