package workloads

import (
	"sync"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// renewer records the renewals of one lease, under process numbers of its own: they run
// beside the section, and after one of unknown outcome comes another number. So it does for one that
// leaves before the outcome of the last one is on record: its answer may have come, or its connection ended,
// a moment ago.
type renewer struct {
	c           *Client
	lock, grant string         // empty: of a lease that several grants share
	extended    func(to int64) // is told of each new deadline

	mu      sync.Mutex
	process int64 // 0: the next one takes another
	open    bool  // it is in a renewal
}

// renewing records that a renewal is about to leave; what it returns takes its outcome.
func (r *renewer) renewing(lease string) (func(backends.Renewal, error), error) {
	r.mu.Lock()
	if r.process == 0 || r.open {
		r.process = r.c.newProcess()
	}
	r.open = true
	e := history.Line{Process: history.Process{N: r.process}, F: history.FRenew, Lock: r.lock, Grant: r.grant, Lease: lease}
	r.mu.Unlock()
	if err := r.c.invoke(e); err != nil {
		return nil, err // the client is stopping: its log cannot be written
	}
	return func(re backends.Renewal, err error) { r.done(e, re, err) }, nil
}

func (r *renewer) done(e history.Line, re backends.Renewal, err error) {
	e.Type, e.Error = backends.Outcome(err)
	e.Nodes = re.Nodes
	if err == nil {
		e.Sent, e.TTL, e.Deadline = history.Some(re.Sent), history.Some(re.TTL.Nanoseconds()), history.Some(re.Deadline)
	} else {
		e.Message = err.Error()
	}
	if _, logErr := r.c.record(e); logErr == nil && err == nil {
		r.extended(re.Deadline)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Process.N != r.process {
		return // another one has gone on
	}
	if r.open = false; e.Type == history.Info {
		r.process = 0
	}
}
