package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// atOnce is how many messages are on their way to the server.
const atOnce = 256

// Start stores a campaign on a queue and publishes its tasks. A campaign that was started before, completely or not, goes on.
// With published it says how far it is.
func Start(ctx context.Context, q *queue.Queue, cat *harness.Catalogue, m *Manifest, published func(n, of int)) (*Campaign,
	error,
) {
	if err := m.identify(); err != nil {
		return nil, err
	}
	c := &Campaign{Manifest: m, q: q}
	tasks := m.Tasks(cat)
	round := newRound()              // the server drops what has an id that it remembers
	if c.reach(ctx, m.Name) != nil { // it is not there, or not whole
		_, before := q.JS.Stream(ctx, tasksOf(m.Name))
		err := c.make(ctx, len(tasks))
		if err != nil && errors.Is(before, jetstream.ErrStreamNotFound) && ctx.Err() == nil { // half of one is of no use
			err = errors.Join(err, Remove(ctx, q, m.Name))
		}
		if err != nil {
			return nil, q.Explain(err)
		}
	}
	err := c.remember(ctx)
	if errors.As(err, new(*Other)) {
		return nil, err
	}
	if err == nil {
		err = c.consumers(ctx)
	}
	if err != nil {
		return nil, q.Explain(err)
	}
	_, missing, _, err := c.look(ctx, tasks)
	if err != nil {
		return nil, err
	}
	return c, c.publish(ctx, missing, round, published)
}

// look reads what came of the campaign, which tasks are lost (they have no outcome that counts, and the queue has no message of
// them), and how many the queue has.
func (c *Campaign) look(ctx context.Context, tasks []Task) (b *board, lost []Task, n int, err error) {
	// first: what ends meanwhile is still queued, or has its outcome
	info, err := c.tasks.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, nil, 0, c.q.Explain(err)
	}
	queued := info.State.Subjects // messages of each
	if b, err = c.board(ctx); err != nil {
		return nil, nil, 0, err
	}
	lost = lists.Filter(tasks, func(t Task) bool { return !b.done(t) && queued[c.subject(t)] == 0 })
	return b, lost, len(queued), nil
}

// publish puts tasks into the queue. round tells those of a later time apart from those that the server remembers.
func (c *Campaign) publish(ctx context.Context, tasks []Task, round string, published func(n, of int)) error {
	var waiting []jetstream.PubAckFuture
	settle := func() error {
		for _, f := range waiting {
			select {
			case <-f.Ok():
			case err := <-f.Err():
				return c.q.Explain(err)
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(publishTime):
				return fmt.Errorf("the queue %s did not acknowledge a task within %v: repeat the command campaign start, which then adds "+
					"only the missing tasks", c.q.URL(), publishTime)
			}
		}
		waiting = waiting[:0]
		return nil
	}
	for i, t := range tasks {
		f, err := c.q.JS.PublishAsync(c.subject(t), nil, jetstream.WithMsgID(t.ID()+round))
		if err != nil {
			return c.q.Explain(err)
		}
		if waiting = append(waiting, f); len(waiting) == atOnce || i == len(tasks)-1 {
			if err := settle(); err != nil {
				return err
			}
			if published != nil {
				published(i+1, len(tasks))
			}
		}
	}
	return nil
}

// newRound tells messages apart from those of an earlier time.
func newRound() string { return "-" + time.Now().UTC().Format("20060102T150405.000") }

// publishTime is how long the server may take to acknowledge.
const publishTime = 30 * time.Second
