package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/harness/internal/watch"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/nemesis"
)

// RunOutcome is a run that was made and judged.
type RunOutcome struct {
	Dir         string
	Seed        uint64
	Results     *checker.Results
	Record      *history.Record
	Interrupted bool // ctx ended before the run did; what was recorded was judged
	// Worked is for how long the clients worked until [Config.Enough] said so; 0: for the whole time.
	Worked  time.Duration
	Trouble error // error of the harness itself: the history has no end
}

// ExitCode returns the exit code of the run.
func (o *RunOutcome) ExitCode() int {
	if o.Interrupted {
		return ExitInterrupted
	}
	if errors.As(o.Trouble, new(*nemesis.PanicError)) && o.Results.ExitCode != ExitViolation {
		return ExitPanic
	}
	return o.Results.ExitCode
}

// drive starts everything, lets it run, and stops it. After it nothing of the run
// lives.
func drive(ctx context.Context, t *Trial, dir string, p *Progress, out *RunOutcome) (err error) {
	s := newSession(t, dir, p)
	finished := false
	defer func() { err = s.over(context.WithoutCancel(ctx), finished, out, err) }()
	if err := s.up(ctx); err != nil {
		if ctx.Err() != nil {
			return &Error{Code: ExitInterrupted, Err: errors.New("interrupted before the run began")}
		}
		return err
	}
	running, lost := s.watchOutages(ctx)
	finished, out.Trouble = s.inTime(running)
	out.Worked = s.worked
	out.Trouble = errors.Join(lost.stop(), out.Trouble)
	out.Interrupted = ctx.Err() != nil
	return nil
}

// over ends what lives, and closes the logs: with an end, if the run was finished and nothing troubled it. err is why
// there was no run.
func (s *session) over(ctx context.Context, finished bool, out *RunOutcome, err error) error {
	downErr := s.down(ctx)
	if err == nil && (errors.Is(out.Trouble, errOutage) || errors.Is(downErr, proc.ErrAlive)) {
		out.Trouble, downErr = errors.Join(out.Trouble, downErr), nil // it says nothing against what was recorded
	}
	err = errors.Join(err, downErr)
	err = errors.Join(err, s.closeLogs(finished && out.Trouble == nil && err == nil))
	if err != nil && !errors.As(err, new(*Error)) {
		err = Environment(err)
	}
	return err
}

// errCut is returned if a run did not end in time. It proves nothing of the lock beyond violations.
var errCut = errors.New("lockstorm had to cut the run: the host was too busy to end it in time")

// inTime is phases with an end: a run that is not over some seconds after its time and the limit of its recovery test is cut.
func (s *session) inTime(ctx context.Context) (complete bool, err error) {
	planned := s.r.Time + s.r.TTL/2 + time.Duration(s.run.LivenessBound)
	s.cutAt = time.Now().Add(planned + s.limits.cut)
	ctx, cancel := context.WithDeadlineCause(ctx, s.cutAt, errCut)
	defer cancel()
	complete, err = s.phases(ctx)
	if errors.Is(context.Cause(ctx), errCut) {
		err = errors.Join(fmt.Errorf("%w (the workload and the recovery test may take %v, and it lasted for %v)",
			errCut, planned.Round(time.Second), (planned+s.limits.cut).Round(time.Second)), err)
	}
	return complete && err == nil, err
}

// phases runs the workload with its faults, the quiet period and the final sections.
// complete is false when the run was cut short.
func (s *session) phases(ctx context.Context) (complete bool, err error) {
	if err := s.phase(history.PhaseWork, fmt.Sprintf("running workload %s for %v", s.r.Workload, s.r.Time)); err != nil {
		return false, err
	}
	if s.r.topology.FailOver > 0 {
		stop := watch.Roles(s.rec, s.cluster.Servers())
		defer func() { err = errors.Join(err, stop()) }()
	}
	begun := s.clock.Now()
	s.tellAll(control.Message{Op: control.Start})
	work, cancel := context.WithTimeout(ctx, s.r.Time)
	defer cancel()
	defer context.AfterFunc(s.hopeless, cancel)() // a client that cannot go on says so at once
	var wg sync.WaitGroup
	wg.Go(func() { s.ticks(work, begun) })
	if s.r.Enough != nil {
		wg.Go(func() { s.endEarly(work, begun, cancel) })
	}
	var syncErr error
	if s.r.disks {
		wg.Go(func() { syncErr = s.syncDisks(work) })
	}
	runner := &nemesis.Runner{
		Plan: s.plan, Faults: s.r.cat.Nemeses, World: world{s}, Rec: s.nemesisRec, Start: begun, Progress: s.progress.note,
		Limit: s.cutAt.Add(s.limits.undo),
	}
	healErr := runner.Run(work)
	<-work.Done()
	wg.Wait()
	if err := errors.Join(healErr, syncErr); err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, nil
	}
	if s.hopeless.Err() != nil {
		s.endAll(ctx, s.living())
		return false, s.failures()
	}
	if err := s.deadServers(); err != nil {
		return false, err
	}
	if len(s.run.RequestedFaults) > 0 {
		if err := s.phase(history.PhaseQuiet, "all faults have ended"); err != nil {
			return false, err
		}
		if !nemesis.Wait(ctx, s.r.TTL/2) { // what a fault leads to may show only when its clients have asked again
			return false, nil
		}
	}
	return s.finish(ctx)
}

// syncDisks makes durable what servers wrote before the first grant: a loss of power is to take the lock, not what it is kept in.
func (s *session) syncDisks(ctx context.Context) error {
	if s.tail.waitGrant(ctx, "", "", 0) != nil {
		return nil //nolint:nilerr // there was no grant
	}
	return s.cluster.SyncDisks(context.WithoutCancel(ctx))
}

func (s *session) phase(name, text string) error {
	s.progress.phase(name, text)
	return s.rec.Notice(history.Line{F: history.FPhase, Value: history.ValueOf(name)})
}

// ticks reports progress until the workload ends.
func (s *session) ticks(ctx context.Context, begun int64) {
	for nemesis.Wait(ctx, 200*time.Millisecond) {
		s.tail.poll()
		s.progress.tick(time.Duration(s.clock.Now()-begun), s.r.Time, s.tail.count())
	}
}

// stopLimit is how long clients may take to end: a disk that is busy can hold up the last
// lines of their logs for seconds.
const stopLimit = 20 * time.Second

// finish lets every client do one last section per lock, for as long as recovery may
// take, and then stops them. A client that gets nothing is told to give up waiting:
// that is on record, and judged.
func (s *session) finish(ctx context.Context) (complete bool, err error) {
	if err := s.phase(history.PhaseFinal, "recovery test: each client acquires each lock once more"); err != nil {
		return false, err
	}
	s.tellAll(control.Message{Op: control.Final})
	clients := s.living()
	bound, cancel := context.WithTimeout(ctx, time.Duration(s.run.LivenessBound))
	defer cancel()
	s.awaitDone(bound, clients)
	s.endAll(ctx, clients)
	return ctx.Err() == nil, errors.Join(s.failures(), s.deadServers())
}

// endAll tells every client to end, and waits until they have.
func (s *session) endAll(ctx context.Context, clients []*client) {
	s.stopAll()
	ending, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), stopLimit+2*requestTimeout(s.r.TTL))
	defer cancelEnd()
	ending, cancelCut := context.WithDeadline(ending, s.cutAt.Add(s.limits.undo))
	defer cancelCut()
	for _, c := range clients {
		if c.Wait(ending) != nil && ending.Err() != nil {
			c.fail(errors.New("the client's process did not end, although lockstorm had told the client to end"))
		}
		select {
		case <-c.ended:
		case <-ending.Done():
		}
	}
}

// awaitDone waits for the last sections, and says so when they take long.
func (s *session) awaitDone(bound context.Context, clients []*client) {
	said := time.NewTicker(3 * time.Second)
	defer said.Stop()
	for i := 0; i < len(clients); {
		select {
		case <-clients[i].done:
			i++
		case <-clients[i].ended: // it gave up: failures says why
			i++
		case <-bound.Done():
			return
		case <-said.C:
			deadline, _ := bound.Deadline()
			if left := time.Until(deadline).Round(time.Second); left > 0 {
				s.progress.note(fmt.Sprintf("recovery test: at most %d clients have not acquired every lock yet (time left: %v)",
					len(clients)-i, left))
			}
		}
	}
}
