// Package watch looks, for as long as a run goes on, at what nobody does on purpose: tickers
// that come late, a wall clock that moves, servers that change their role. What it sees goes
// on record.
package watch

import (
	"sync"
	"time"
)

// every calls f until the returned function is called, which waits for its end and
// returns its first error; after an error f is not called again.
func every(period time.Duration, f func() error) func() error {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var err error
	wg.Go(func() {
		t := time.NewTicker(period)
		defer t.Stop()
		for {
			select {
			case <-stop:
				err = f() // what came since the last tick
				return
			case <-t.C:
				if err = f(); err != nil {
					return
				}
			}
		}
	})
	return func() error {
		close(stop)
		wg.Wait()
		return err
	}
}
