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
			dir := tasksOf(pid)
			tasks, err := numbered(dir)
			if err != nil {
				return nil
			}
			for _, tid := range tasks {
				text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(tid), "schedstat")) // ns run, ns waited, turns
				if err != nil {
					continue // it has ended meanwhile
				}
				f := strings.Fields(string(text))
				if len(f) < 2 {
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
