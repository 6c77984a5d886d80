package workloads

import (
	"sync"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// renewer records the renewals of one lease, under process numbers of its own: they run
// beside the section, and after one of unknown outcome comes another number.
type renewer struct {
	c           *Client
	lock, grant string         // empty: of a lease that several grants share
	extended    func(to int64) // is told of each new deadline

	mu      sync.Mutex
	process int64 // 0: none yet
}

// renewing records that a renewal is about to leave; what it returns takes its outcome.
func (r *renewer) renewing(lease string) (func(backends.Renewal, error), error) {
	r.mu.Lock()
	if r.process == 0 {
		r.process = r.c.newProcess()
	}
	e := history.Event{Process: history.Process{N: r.process}, F: history.FRenew, Lock: r.lock, Grant: r.grant, Lease: lease}
	r.mu.Unlock()
	if err := r.c.invoke(e); err != nil {
		return nil, err // the client is stopping: its log cannot be written
	}
	return func(re backends.Renewal, err error) { r.done(e, re, err) }, nil
}

func (r *renewer) done(e history.Event, re backends.Renewal, err error) {
	e.Type, e.Error = backends.Outcome(err)
	if err == nil {
		e.Sent, e.TTL, e.Deadline = history.Some(re.Sent), history.Some(re.TTL.Nanoseconds()), history.Some(re.Deadline)
	} else {
		e.Message = err.Error()
	}
	if _, logErr := r.c.record(e); logErr == nil && err == nil {
		r.extended(re.Deadline)
	}
	if e.Type == history.Info {
		r.mu.Lock()
		r.process = r.c.newProcess()
		r.mu.Unlock()
	}
}
