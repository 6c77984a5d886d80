package adapter

import (
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/internal/proc"
)

// An adapter may start processes of its own, so many and no more.
const (
	maxProcesses = 200
	countEvery   = time.Second
)

// watch ends an adapter that starts processes without end.
func (l *locker) watch() {
	l.every(countEvery, func() (goOn bool) {
		n, err := proc.Below()
		if err != nil || n <= maxProcesses {
			return true
		}
		l.broke(breach("the adapter has more than %d processes", maxProcesses)) //nolint:errcheck // it is told
		return false
	})
}

// every does something again and again while the adapter runs.
func (l *locker) every(each time.Duration, do func() (goOn bool)) {
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		select {
		case <-l.exited:
			return
		case <-tick.C:
		}
		if !do() {
			return
		}
	}
}

// While nothing is asked of an adapter it is pinged, so often. Of answers that take longer than slow it is on record that the
// client was held up: by a collector of its language, by a host that gave it no turn. Our own tickers do not see that.
const (
	pulseEvery = 25 * time.Millisecond
	slow       = 20 * time.Millisecond
)

func (l *locker) pulse() {
	if l.env.Stalled == nil {
		return
	}
	l.every(pulseEvery, func() (goOn bool) {
		if !l.idle() {
			return true // an adapter with a single thread is not late: it is at work
		}
		a := l.call(request{Op: opPing}, l.limit)
		switch took := time.Duration(a.at - a.sent); {
		case errors.Is(a.err, errNoTime):
			l.env.Stalled(l.limit)
		case a.err != nil:
			return false // it has ended, or is ended for what it did
		case took > slow:
			l.env.Stalled(took)
		}
		return true
	})
}
