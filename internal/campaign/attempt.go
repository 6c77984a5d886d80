package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/nemesis"
)

// keep tells the queue that a task is at work, until it is settled: it gives it to nobody else meanwhile.
func (r *working) keep(ctx context.Context, msg jetstream.Msg) (settled func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var asking sync.WaitGroup
	asking.Go(func() {
		for nemesis.Wait(ctx, r.Campaign.AckWait/3) {
			msg.InProgress() //nolint:errcheck // another worker gets it, then, and both attempts are kept
		}
	})
	return func() { stop(); asking.Wait() }
}

// handle makes a task that a message has brought, stores what came of it, and only then acknowledges the message. When the run
// has ended it frees the machine for the next one.
func (r *working) handle(ctx context.Context, msg jetstream.Msg, t Task, free func()) {
	given := uint64(1)
	if meta, err := msg.Metadata(); err == nil {
		given = meta.NumDelivered
	}
	if given > mostGiven { // of these only workers count that died
		given -= min(r.Campaign.backs(ctx, t), given-1)
	}
	o := owner{t, ""}
	if r.board.settled(o) { // only its acknowledgement was lost
		r.acknowledge(ctx, msg)
		return
	}
	if r.lacksFor(t) {
		r.giveBack(ctx, msg, t, growing(given))
		return
	}
	out, again := r.attempt(ctx, o, given, free)
	switch {
	case out == nil:
		r.giveBack(ctx, msg, t, 0)
	case again:
		r.giveBack(ctx, msg, t, busyDelay)
	default:
		r.acknowledge(ctx, msg)
	}
}

// lacksFor reports whether this machine lacks something for a task, although it had what the first cell of its need wanted:
// others may have it.
func (r *working) lacksFor(t Task) bool {
	if r.Do != nil {
		return false
	}
	missing := lacking(r.Catalogue, r.Campaign.Definition.Cells[t.Cell])
	if missing == nil {
		return false
	}
	r.mu.Lock()
	first := !r.unable[t.Cell]
	r.unable[t.Cell] = true
	r.mu.Unlock()
	if first {
		r.tell(WorkProgress{Note: fmt.Sprintf("the run %s is left to the other machines of the campaign, because this machine cannot "+
			"execute the run: %v", r.Campaign.name(t), missing)})
	}
	return true
}

// growing is how long a task that was refused stays away: the longer the more often.
func growing(given uint64) time.Duration {
	return min(busyDelay<<min(given, 10), busyDelayMost)
}

// busyDelayMost bounds it.
const busyDelayMost = 5 * time.Minute

// giveBack has the queue hand out a task again, after a while. If the queue does not hear of it, it does so later.
func (r *working) giveBack(ctx context.Context, msg jetstream.Msg, t Task, after time.Duration) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	r.Campaign.gaveBack(last, t)
	if after > 0 {
		msg.NakWithDelay(after) //nolint:errcheck // see above
	} else {
		msg.Nak() //nolint:errcheck // see above
	}
	if ctx.Err() != nil {
		r.Campaign.q.Flush() //nolint:errcheck // see above
	}
}

// lastTime is how long a worker that ends may take to store or give back what it has.
const lastTime = 20 * time.Second

// gaveBack counts that a task was given back by a worker that lives.
func (c *Campaign) gaveBack(ctx context.Context, t Task) {
	n := c.backs(ctx, t) + 1
	c.results.PutString(ctx, c.backKey(t), strconv.FormatUint(n, 10)) //nolint:errcheck // then it counts as one that died
}

// backs is how often a task was given back.
func (c *Campaign) backs(ctx context.Context, t Task) uint64 {
	e, err := c.results.Get(ctx, c.backKey(t))
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(string(e.Value()), 10, 64)
	return n
}

// acknowledge ends a task. Where the queue does not hear of it, the task comes again, and is acknowledged then.
func (r *working) acknowledge(ctx context.Context, msg jetstream.Msg) {
	const soon = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), soon)
	defer cancel()
	msg.DoubleAck(ctx) //nolint:errcheck // see above
}

// attempt makes an attempt and stores it. No outcome: it was given up. again: the host disturbed it, and it may be made once
// more.
func (r *working) attempt(ctx context.Context, o owner, given uint64, free func()) (out *gate.RunResult, again bool) {
	cell := r.Campaign.Definition.Cells[o.Cell]
	r.tell(WorkProgress{Task: r.Campaign.name(o.Task)})
	dir, err := os.MkdirTemp(r.Dir, fmt.Sprintf("run-%s-", o.ID()))
	if err != nil {
		r.fail(harness.Environment(err))
		return nil, false
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the folder of the worker is removed with all that is in it
	s := &gate.Suite{Definition: r.Campaign.Definition, Dir: dir}
	r.Campaign.share(s, o.Task)
	n := r.board.attempts(o)
	switch do := r.Do; {
	case given > mostGiven:
		out = &gate.RunResult{
			Cell: cell.Case.Name, Seed: o.Seed, Attempt: n, Status: gate.Broken, Exit: harness.ExitPanic,
			Command: cell.Case.Seeded(o.Seed).Run.Line(), Began: time.Now().UTC(),
			Error: fmt.Sprintf("%d workers took this run from the queue of the campaign one after the other, but none of these workers "+
				"finished the run", given-1),
		}
	case do != nil:
		out, err = do(ctx, s, cell, o.Seed, n)
	default:
		out, err = s.Attempt(ctx, r.Catalogue, cell, o.Seed, n)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.fail(harness.Environment(err))
		}
		return nil, false
	}
	ending, cancel := lasting(ctx) // what has ended is stored, even if the worker ends meanwhile
	defer cancel()
	if r.storing.Acquire(ending, 1) != nil {
		return nil, false
	}
	defer r.storing.Release(1)
	free()
	if err := r.store(ending, o, out, filepath.Join(dir, out.Dir), given); err != nil {
		if ctx.Err() == nil {
			r.fail(harness.Environment(fmt.Errorf("cannot store the outcome of the run %s in the queue "+
				"of the campaign: %w", r.Campaign.name(o.Task), err)))
		}
		return nil, false
	}
	again = !r.board.settled(o)
	r.sick(out)
	r.tell(WorkProgress{Task: r.Campaign.name(o.Task), Outcome: out, Note: map[bool]string{
		true: "a worker program of the campaign will repeat this run",
	}[again]})
	return out, again
}

// lasting is a context that ends a while after another one.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(lastTime, cancel)
		context.AfterFunc(out, func() { t.Stop() })
	})
	return out, func() { stop(); cancel() }
}

// mostSick is how many runs in a row may miss something on a machine, before its worker ends: it would take all tasks, and finish
// none.
const mostSick = 5

// sick ends the worker when run after run cannot be made here.
func (r *working) sick(out *gate.RunResult) {
	r.mu.Lock()
	r.inRow++
	if out.Exit != harness.ExitEnvironment || out.Status != gate.Broken {
		r.inRow = 0
	}
	n := r.inRow
	r.mu.Unlock()
	if n >= mostSick {
		r.fail(harness.Environment(fmt.Errorf("%d consecutive runs failed on this machine, because a "+
			"server or tool is missing or broken; error of the last run: %s", n, out.Error)))
	}
}

// store keeps the directory of an attempt and then, under the first free number, its outcome.
func (r *working) store(ctx context.Context, o owner, out *gate.RunResult, dir string, given uint64) error {
	res := Result{Outcome: *out, Worker: r.Name, Machine: r.Machine, Given: given}
	if _, err := os.Stat(filepath.Join(dir, gate.OutcomeFile)); err == nil {
		res.Object = fmt.Sprintf("%s/%s/%d", r.Name, o.ID(), time.Now().UnixNano())
		if err := r.insist(ctx, func(ctx context.Context) error { return r.Campaign.upload(ctx, res.Object, dir) }); err != nil {
			return err
		}
	}
	for ; ; out.Attempt++ {
		res.Outcome.Attempt = out.Attempt
		value, err := json.Marshal(res)
		if err != nil {
			return err
		}
		k := r.Campaign.key(o.Task, o.machine, out.Attempt)
		err = r.insist(ctx, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, lastTime)
			defer cancel()
			_, err := r.Campaign.results.Create(ctx, k, value)
			if errors.Is(err, jetstream.ErrKeyExists) && r.mine(ctx, k, res.Object) {
				return nil // the answer to an earlier request was lost
			}
			return err
		})
		if err == nil {
			return r.board.add(k, value)
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return err
		}
	}
}

// mine reports whether an outcome that is stored is the one of this object.
func (r *working) mine(ctx context.Context, key, object string) bool {
	e, err := r.Campaign.results.Get(ctx, key)
	var there Result
	return err == nil && json.Unmarshal(e.Value(), &there) == nil && there.Worker == r.Name && there.Object == object
}

// insist does something with the queue, again while it is away.
func (r *working) insist(ctx context.Context, do func(context.Context) error) error {
	wait := emptyWait
	for begun := time.Now(); ; {
		once, cancel := context.WithTimeout(ctx, uploadTime) // of itself a request waits for ever
		err := do(once)
		cancel()
		if err == nil || errors.Is(err, jetstream.ErrKeyExists) || ctx.Err() != nil {
			return err
		}
		explained := r.Campaign.q.Explain(err)
		if errors.As(explained, new(queue.Full)) || !queue.Away(err) || time.Since(begun) > patience {
			return explained
		}
		if !nemesis.Wait(ctx, wait) {
			return err
		}
		wait = min(2*wait, emptyWaitMax)
	}
}

// upload stores the directory of a run.
func (c *Campaign) upload(ctx context.Context, name, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := pack(w, dir)
		w.CloseWithError(err)
		packed <- err
	}()
	_, err := c.runs.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	r.CloseWithError(err)
	if perr := <-packed; err == nil {
		err = perr
	}
	return err
}

// uploadTime bounds how long one run takes to be stored.
const uploadTime = 5 * time.Minute
