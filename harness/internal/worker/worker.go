// Package worker is one client process of a run: it is told who it is, runs one workload
// against one backend, stands at the points that the controller has armed, and ends when it
// is told to.
package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/harness/internal/watch"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/register"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// worker is one client process: it runs one workload loop against one backend, with
// one operation in flight, and obeys the controller's messages.
type worker struct {
	cfg     control.Config
	ch      *control.Channel
	rec     *history.Recorder
	gate    *gate
	addrs   AddressBook
	started chan struct{}
	final   atomic.Bool
	locker  backends.Locker    // once it is open
	wake    context.CancelFunc // ends the waits of the workload

	listening sync.WaitGroup
	cancel    context.CancelCauseFunc
}

// Parts are what a worker can be made of.
type Parts struct {
	Backends  *backends.Catalogue
	Workloads *workloads.Catalogue
	Registers *backends.Registers
}

// Main is this process as a worker, from its configuration to its end.
func Main(cat Parts) error {
	ch, err := control.FromFile(os.NewFile(control.FD, "control"))
	if err != nil {
		return err
	}
	m, err := ch.Receive()
	switch {
	case err != nil:
		return fmt.Errorf("the client cannot receive its configuration from lockstorm: %w", err)
	case m.Op != control.Configure || m.Config == nil:
		return fmt.Errorf("the client expected its configuration from lockstorm, but received the message %q", m.Op)
	}
	w := &worker{cfg: *m.Config, ch: ch, started: make(chan struct{})}
	w.addrs.Set(w.cfg.Addrs)
	w.addrs.Announce(w.cfg.Nodes)
	if err = w.run(cat); err != nil {
		err = errors.Join(err, ch.Send(control.Message{Op: control.Failed, Text: err.Error()}))
	}
	err = errors.Join(err, ch.Close())
	w.listening.Wait()
	return err
}

func (w *worker) run(cat Parts) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	w.cancel = cancel
	rec, err := history.Open(w.cfg.LogPath, w.cfg.Client, history.ClockFrom(w.cfg.ClockBase), w.cfg.Head)
	if err != nil {
		return err
	}
	w.rec = rec
	w.gate = newGate(w.cfg.Client, len(w.cfg.Nodes), rec, w.ch)
	client, workload, closeAll, err := w.open(ctx, cat)
	if err != nil {
		return err
	}
	work, wake := context.WithCancel(ctx)
	defer wake()
	w.wake = wake
	stopWatch := watch.Stalls(rec, time.Duration(w.cfg.StallsAt))
	w.listening.Go(func() { w.listen(ctx) })
	err = w.loop(ctx, work, client, workload)
	err = errors.Join(err, closeAll(), stopWatch())
	if err == nil {
		err = rec.Finish(history.End{})
	}
	return err
}

// open connects to the backend and the register.
func (w *worker) open(ctx context.Context, cat Parts) (*workloads.Client, workloads.Workload, func() error, error) {
	fail := func(err error) (*workloads.Client, workloads.Workload, func() error, error) {
		return nil, nil, nil, err
	}
	spec, err := backends.Made(cat.Backends, w.cfg.Backend.Name, w.cfg.Backend.Values)
	if err != nil {
		return fail(err)
	}
	wl, err := cat.Workloads.Get(w.cfg.Workload.Name)
	if err != nil {
		return fail(err)
	}
	ttl, timeout := time.Duration(w.cfg.TTL), time.Duration(w.cfg.Timeout)
	settings, err := workloads.NewSettings(w.cfg.Workload.Values, w.cfg.Locks, ttl)
	if err != nil {
		return fail(err)
	}
	settings.Dir, settings.Rand, settings.Clients = w.cfg.Dir, w.rand(1), w.cfg.Clients
	w.addrs.Count(wl.Counted)
	env := backends.Env{
		Run: w.cfg.RunID, Client: w.cfg.Client, Nodes: w.cfg.Nodes, Dial: w.addrs.Dial, Dir: w.cfg.Dir, TTL: ttl,
		Retry: time.Duration(w.cfg.Retry), Timeout: timeout, Now: w.rec.Clock().Now, Rand: w.rand(2), Values: w.cfg.Backend.Values,
		Addr: w.addrs.Addr, ClockBase: w.cfg.ClockBase, Breach: w.breach, Stalled: w.stalled,
	}
	var resource workloads.Resource
	if !spec.Settles {
		if resource, err = w.resource(ctx, cat, env); err != nil {
			return fail(err)
		}
	}
	var wire func() history.Wire
	if wl.Counted {
		wire = w.addrs.Wire
	}
	client := workloads.NewClient(workloads.ClientConfig{
		Wire: wire,
		Name: w.cfg.Client, Index: w.cfg.Index, Recorder: w.rec,
		Settles: spec.Settles, Registers: w.cfg.Registers, Fencing: w.cfg.Fencing,
		NoTokens: w.cfg.NoTokens, NoTry: spec.NoTry,
		Trusting: w.cfg.Trusting, OnlyTold: w.cfg.OnlyTold, AsksMethod: w.cfg.AsksMethod, TTL: ttl, Gate: w.gate,
		Rand: w.rand(3), OnLogError: func(err error) { w.cancel(err) },
	})
	env.Session = client.Session()
	locker, err := spec.Open(ctx, env)
	if err != nil {
		return fail(fmt.Errorf("cannot open backend %s: %w", spec.Name, err))
	}
	if spec.Settles {
		own, is := locker.(workloads.Resource)
		if !is {
			return fail(fmt.Errorf("backend %s sets `Settles`, but its Locker does not implement Resource: implement it, or "+
				"leave out `Settles`", spec.Name))
		}
		resource = own
	}
	client.Use(locker, resource)
	w.locker = locker
	closeAll := func() error {
		if spec.Settles {
			return ignoreBroken(locker.Close())
		}
		return errors.Join(resource.Close(), ignoreBroken(locker.Close()))
	}
	return client, wl.New(settings), closeAll, nil
}

// breach puts on record that nothing of the run counts, and ends this client.
func (w *worker) breach(text string) {
	err := w.rec.Notice(history.Line{F: history.FBreach, Client: w.cfg.Client, Message: text})
	w.cancel(errors.Join(errors.New(text), err))
}

// collect has the garbage collector of the lock run, until the client ends, and says what came of it.
func (w *worker) collect(ctx context.Context, length time.Duration) {
	m := control.Message{Op: control.Collected}
	if can, is := w.locker.(backends.Collector); !is {
		m.Error = "this lock has no garbage collector to start: use an adapter with the call `collect`"
	} else if proof, err := can.Collect(ctx, length); err != nil {
		m.Error = err.Error()
	} else {
		m.Text = proof
	}
	w.ch.Send(m) //nolint:errcheck // a controller that has gone asks for nothing any more
}

// stalled puts on record that what stands between client and lock was held up. Where that cannot be written, the log's next
// event fails as well, and ends the client.
func (w *worker) stalled(late time.Duration) {
	if err := w.rec.Notice(history.Line{
		F: history.FStall, Client: w.cfg.Client,
		Value: history.ValueOf(history.Stall{Late: late.Nanoseconds()}),
	}); err != nil {
		w.cancel(err)
	}
}

// resource is what the lock protects: in a store, or the server of ours.
func (w *worker) resource(ctx context.Context, cat Parts, env backends.Env) (workloads.Resource, error) {
	if w.cfg.Register == "" {
		return workloads.RegisterResource(w.cfg.Client,
			&register.Client{Timeout: env.Timeout, Dial: func(ctx context.Context) (net.Conn, error) {
				return w.addrs.Dial(ctx, history.PartyRegister)
			}}), nil
	}
	spec, err := cat.Registers.Get(w.cfg.Register)
	if err != nil {
		return nil, err
	}
	return spec.Open(ctx, env)
}

// ignoreBroken drops errors of closing what a fault has broken already.
func ignoreBroken(err error) error {
	if t, _ := backends.Outcome(err); t == history.Info {
		return nil
	}
	return err
}

// rand is a generator of this client alone; n keeps its uses apart.
func (w *worker) rand(n uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.cfg.Seed, uint64(w.cfg.Index)<<8|n)) // reproducible on purpose
}

// loop runs sections until the controller asks for the final ones, does those, and
// waits to be stopped. The error is why the worker must give up; nil when it was only told to stop.
func (w *worker) loop(ctx, work context.Context, c *workloads.Client, wl workloads.Workload) error {
	if err := w.ch.Send(control.Message{Op: control.Ready}); err != nil {
		return err
	}
	select {
	case <-w.started:
	case <-work.Done():
		return context.Cause(ctx)
	}
	for !w.final.Load() && work.Err() == nil {
		if _, err := wl.Section(work, c, workloads.Turn{}); err != nil {
			return err
		}
	}
	for _, lock := range w.cfg.Locks {
		if err := w.lastSection(work, c, wl, lock); err != nil || work.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
	}
	if err := w.ch.Send(control.Message{Op: control.Done}); err != nil {
		return err
	}
	<-work.Done()
	return context.Cause(ctx)
}

// lastSection tries until the lock was granted once: an attempt of unknown outcome says
// nothing about whether the lock comes back.
func (w *worker) lastSection(work context.Context, c *workloads.Client, wl workloads.Workload, lock string) error {
	for work.Err() == nil {
		granted, err := wl.Section(work, c, workloads.Turn{Last: true, Lock: lock})
		if granted || err != nil {
			return err
		}
		nemesis.Wait(work, time.Duration(w.cfg.Retry))
	}
	return nil
}

// listen obeys the controller. When the channel ends the controller is gone, or we have
// closed it ourselves.
func (w *worker) listen(ctx context.Context) {
	for {
		m, err := w.ch.Receive()
		if err != nil {
			w.gate.openAll()
			w.wake()
			return
		}
		switch m.Op {
		case control.Start:
			close(w.started)
		case control.Arm:
			w.gate.arm(m)
		case control.Disarm:
			w.gate.disarm(m.ID)
		case control.Go:
			w.gate.letGo(m.ID)
		case control.Move:
			w.addrs.Set(map[string]string{m.Node: m.Addr})
		case control.Final:
			w.final.Store(true)
		case control.Collect:
			w.listening.Go(func() { w.collect(ctx, time.Duration(m.Length)) })
		case control.Stop:
			w.gate.openAll()
			w.wake()
		}
	}
}
