package campaign

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/nemesis"
)

// next waits for a task that this machine can run; nil: ctx has ended.
func (r *working) next(ctx context.Context) (jetstream.Msg, Task) {
	wait := emptyWait
	first := 0
	for ctx.Err() == nil {
		for i := range r.able {
			need := r.able[(first+i)%len(r.able)]
			msg, t, err := r.fetch(ctx, need)
			if err != nil && ctx.Err() == nil {
				r.fail(err)
				return nil, t
			}
			if msg != nil {
				r.last = time.Now()
				return msg, t
			}
		}
		first++
		if wait == emptyWaitMax && !r.idle && len(r.able) < len(r.Campaign.needs()) {
			r.idle = true
			r.tell(WorkProgress{Note: "the queue of the campaign has no more runs that this machine can execute: this worker waits " +
				"until the other machines have finished (Ctrl-C ends this worker)"})
		}
		if r.Idle > 0 && time.Since(r.last) > r.Idle && r.working() == 0 {
			r.stop(fmt.Errorf("%w within %v", ErrIdle, r.Idle))
		}
		if nemesis.Wait(ctx, wait) {
			wait = min(2*wait, emptyWaitMax)
		}
	}
	return nil, Task{}
}

// working is how many runs are being made.
func (r *working) working() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}

// fetch takes a task of a need, if there is one. A queue that is away has none.
func (r *working) fetch(ctx context.Context, need string) (jetstream.Msg, Task, error) {
	consumer := r.from[need]
	if consumer == nil {
		var err error
		if consumer, err = r.Campaign.tasks.Consumer(ctx, r.Campaign.consumer(need)); err != nil {
			return nil, Task{}, r.bear(ctx, err)
		}
		r.from[need] = consumer
	}
	batch, err := consumer.FetchNoWait(1)
	if err != nil {
		return nil, Task{}, r.bear(ctx, err)
	}
	if msg, open := <-batch.Messages(); open {
		r.awaySince = time.Time{}
		parts := strings.Split(msg.Subject(), ".")
		t, err := parseTask(parts[len(parts)-1])
		if err != nil || t.Cell >= len(r.Campaign.Definition.Cells) {
			return nil, t, fmt.Errorf("the queue of campaign %s contains a message (subject %s) that belongs to no run of the campaign: "+
				"probably another program, or another campaign of this name, wrote to this queue. Start the campaign again with "+
				"another --name", r.Campaign.Name, msg.Subject())
		}
		return msg, t, nil
	}
	err = batch.Error()
	if err == nil && !r.Campaign.q.Connected() { // the request waits for the connection, and nobody answers it
		err = nats.ErrDisconnected
	}
	if err != nil {
		delete(r.from, need)
		return nil, Task{}, r.bear(ctx, err)
	}
	r.awaySince = time.Time{}
	return nil, Task{}, nil
}

// bear is nil for an error that may pass: the queue is away, but not for too long, or the campaign is about to be started. A
// campaign that is gone does not come back.
func (r *working) bear(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the loop that asks ends by ctx
	}
	if r.awaySince.IsZero() {
		r.awaySince = time.Now()
		r.tell(WorkProgress{Note: "the queue does not answer, so this worker waits: " + r.Campaign.q.Explain(err).Error()})
	}
	if _, gone := r.Campaign.q.JS.Stream(ctx, tasksOf(r.Campaign.Name)); errors.Is(gone, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("the campaign %s was removed from the queue %s, so this worker has no more runs to execute", r.Campaign.Name,
			r.Campaign.q.URL())
	}
	if time.Since(r.awaySince) > patience {
		return r.Campaign.q.Explain(err)
	}
	return nil
}
