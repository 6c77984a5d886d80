package hunt

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// Hunt plays n cases from a seed on, on all cores. Memory does not grow with n: what is kept
// is counts, and the first case of each kind. progress, where it is given, gets a line now
// and then, and one where a kind of disagreement shows for the first time.
func Hunt(first uint64, n int, progress io.Writer) (*Table, error) {
	var next, done atomic.Int64
	workers := runtime.GOMAXPROCS(0)
	tables, errs := make([]*Table, workers), make([]error, workers)
	every := max(int64(n/20), 1000)
	var wg sync.WaitGroup
	for i := range workers {
		tables[i] = NewTable()
		wg.Go(func() {
			for k := next.Add(1) - 1; k < int64(n); k = next.Add(1) - 1 {
				o, err := Cases(first + uint64(k)).Play()
				if err != nil {
					errs[i] = fmt.Errorf("seed %d: %w", first+uint64(k), err)
					return
				}
				tables[i].Add(o)
				if progress != nil {
					tables[i].news(o, progress)
				}
				if d := done.Add(1); progress != nil && d%every == 0 {
					fmt.Fprintf(progress, "%d of %d histories\n", d, n)
				}
			}
		})
	}
	wg.Wait()
	out := NewTable()
	for i, t := range tables {
		if errs[i] != nil {
			return nil, errs[i]
		}
		out.Merge(t)
	}
	return out, nil
}
