package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

const (
	injectLimit = 20 * time.Second // an injection that takes longer has failed
	// a heal that takes longer is given up, and said (on a busy host an ensemble of JVMs elects a leader in more than ten)
	healLimit = 20 * time.Second
)

// Runner carries a plan out. Requests run concurrently, the steps of each one after the other. It records everything
// that it does.
type Runner struct {
	Plan   *Plan
	Faults *Catalogue
	World  World
	Rec    *history.Recorder
	Start  int64 // when the workload began, on the run's clock
	// Limit, if set, is when the last injection or heal is given up.
	Limit time.Time
	// Progress, if set, is called for each injection and heal.
	Progress func(text string)

	mu     sync.Mutex
	nextID int
	active []*active // in order of injection
	err    error
	stays  sync.WaitGroup
}

// Run carries out the plan until it is done or ctx ends, then heals the active faults, the last injected first. It
// returns the first error of a heal or of the log.
func (r *Runner) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for i := range r.Plan.Requests {
		wg.Go(func() { r.request(ctx, i) })
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		// At once, not after the steps have ended: one may be waiting for what another broke.
		r.healAll(context.WithoutCancel(ctx))
		<-done
	}
	r.healAll(context.WithoutCancel(ctx))
	r.stays.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// request carries out one request, step by step.
func (r *Runner) request(ctx context.Context, index int) {
	req := r.Plan.Requests[index]
	for _, st := range req.Steps {
		if !r.until(ctx, st.At) {
			return
		}
		name := req.Fault
		if st.Fault != "" {
			name = st.Fault
		}
		spec, err := r.Faults.Get(name)
		if err != nil {
			r.fail(err)
			return
		}
		r.step(ctx, index, spec, st)
	}
}

// until waits for a moment of the plan; false when ctx ended first.
func (r *Runner) until(ctx context.Context, at int64) bool {
	return Wait(ctx, time.Duration(r.Start+at-r.Rec.Clock().Now()))
}

// step carries out one step: wait for the point, choose, inject, stay, heal.
func (r *Runner) step(ctx context.Context, index int, spec Spec, st Step) {
	f := history.Fault{
		ID: r.newID(), Fault: spec.Name, Request: index, Family: spec.Family, Point: st.Point, For: st.For, Delays: spec.Delays,
		Stops: spec.Stops && !spec.keeps(st.Params),
		Ends:  st.Ends,
	}
	hit, ok := r.meet(ctx, f, st)
	if !ok {
		return
	}
	stops, stands := spec.Family == history.FamilyClient, func() bool { return true }
	if !spec.keeps(st.Params) {
		stands = r.bound(ctx, hit, stops) // first of all: choosing takes time, too
	}
	target, err := r.target(ctx, spec, st, hit, &f)
	if err != nil {
		if hit != nil {
			hit.Go()
		}
		r.miss(f, err)
		return
	}
	if stops && !stands() {
		r.miss(f, fmt.Errorf("too late for this fault: 0.9 of the lease of %s was over, so it had to leave the point %s, because "+
			"the host was busy", hit.Client.Name(), hit.Point))
		return
	}
	stays := hit
	if spec.Behind && st.Stay > 0 && hit != nil {
		stays = r.holder(ctx, hit, target.Clients)
		defer hit.Go()
	}
	a, ok := r.inject(ctx, spec, target, f)
	if !spec.keeps(st.Params) || !ok {
		r.release(ctx, stays, st, ok)
	}
	if !ok || a.effect.Heal == nil {
		return
	}
	if r.last(ctx, st, target) {
		r.heal(context.WithoutCancel(ctx), a)
	}
}

// meet waits for the point of a step; where the step wants another fault beside it, only for as long as that one is active.
func (r *Runner) meet(ctx context.Context, f history.Fault, st Step) (*Hit, bool) {
	began := r.Rec.Clock().Now() - r.Start
	switch {
	case (st.Tied || st.While != 0) && began >= st.Until:
		r.miss(f, fmt.Errorf("too late for this fault: its time limit was %.3f s after the workload began, and it was %.3f s, "+
			"because %s",
			float64(st.Until)/1e9, float64(began)/1e9, whyLate))
		return nil, false
	case st.While == 0:
		return r.arm(ctx, f, st, began)
	}
	within, cancel := context.WithTimeout(ctx, time.Duration(st.Until-began))
	defer cancel()
	var stopped *StoppedError // of the last try
	for {
		gone, err := r.beside(within, st.While)
		if err != nil {
			why := fmt.Errorf("fault number %d was not active while a client reached %s often enough (parameter nth=%d) before "+
				"the time limit", st.While, st.where(), max(st.Nth, 1))
			if stopped != nil {
				why = fmt.Errorf("%w; %w", why, stopped)
			}
			r.miss(f, why)
			return nil, false
		}
		if !st.Tied {
			return nil, true
		}
		hit, err := r.World.Arm(gone, armOf(st))
		if err == nil && gone.Err() == nil {
			return hit, true
		}
		if err == nil { // it came when the other fault was over
			hit.Go()
		}
		errors.As(err, &stopped)
	}
}

// beside waits until a fault of a request is active; the context that it returns ends with that fault.
func (r *Runner) beside(ctx context.Context, number int) (context.Context, error) {
	var other *active
	err := Until(ctx, func() (there bool, _ error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		other, there = lists.Find(r.active, func(a *active) bool { return a.proven && !a.ending && a.fault.Request == number-1 })
		return there, nil
	})
	if err != nil {
		return nil, err
	}
	gone, cancel := context.WithCancel(ctx)
	r.stays.Go(func() {
		defer cancel()
		select {
		case <-other.over:
		case <-gone.Done():
		}
	})
	return gone, nil
}

// last lets a fault last, for its time or until somebody else has the lock; false when ctx ended first.
func (r *Runner) last(ctx context.Context, st Step, t Target) bool {
	if st.Ends != UntilGranted {
		return Wait(ctx, time.Duration(st.For))
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(st.For))
	defer cancel()
	lock, not := "", ""
	if t.Hit != nil {
		lock, not = t.Hit.Lock, t.Hit.Client.Name()
	} else if len(t.Clients) > 0 {
		not = t.Clients[0].Name()
	}
	_ = r.World.Granted(limited, lock, not, r.World.Now()) // granted or not: the history says which it was
	return ctx.Err() == nil
}

// arm waits for the point of a tied step. A point that nobody reaches is on record: the
// fault hit nobody.
func (r *Runner) arm(ctx context.Context, f history.Fault, st Step, began int64) (*Hit, bool) {
	if !st.Tied {
		return nil, true
	}
	armed, cancel := context.WithTimeout(ctx, time.Duration(st.Until-began))
	defer cancel()
	hit, err := r.World.Arm(armed, armOf(st))
	if err != nil {
		r.miss(f, st.missed(err, began))
		return nil, false
	}
	return hit, true
}

const whyLate = "the fault before it in this --nemesis ended late, or the host was busy"

// missed says why a tied step that began to wait at a moment of the workload struck nobody.
func (st Step) missed(err error, began int64) error {
	var stopped *StoppedError
	if errors.As(err, &stopped) && stopped.All {
		return fmt.Errorf("no client could reach %s before the time limit of this fault: %w", st.where(), stopped)
	}
	times := ""
	if st.Nth > 1 {
		times = fmt.Sprintf(" %d times", st.Nth)
	}
	why := fmt.Errorf("no client reached %s%s before the time limit of this fault", st.where(), times)
	if stopped != nil {
		why = fmt.Errorf("%w; %w", why, stopped)
	}
	if late := began - st.At; late > (st.Until-st.At)/2 {
		why = fmt.Errorf("%w; lockstorm began to wait %.3f s late, because %s", why, float64(late)/1e9, whyLate)
	}
	return why
}

// StoppedError says that faults stopped clients that were to reach a point.
type StoppedError struct {
	Clients []string
	All     bool // no other client was to reach it
}

// Error names the clients.
func (e *StoppedError) Error() string {
	return "a fault had stopped " + strings.Join(e.Clients, ", ")
}

func armOf(st Step) Arm {
	return Arm{Point: st.Point, Nth: st.Nth, Message: st.Message, Clients: pinned(st.Clients), GrantedBy: st.Grant}
}

// where is the point of a tied step, in words.
func (st Step) where() string {
	switch {
	case st.Point == "":
		return "any point"
	case st.Message != "":
		return fmt.Sprintf("the point %s (parameter message=%s)", st.Point, st.Message)
	}
	return "the point " + st.Point
}

// target resolves whom the step hurts, and notes the roles of this moment.
func (r *Runner) target(ctx context.Context, spec Spec, st Step, hit *Hit, f *history.Fault) (Target, error) {
	t := Target{Hit: hit, For: time.Duration(st.For), Params: st.Params, Draw: st.Draw}
	f.Roles = map[string]string{}
	if hit != nil {
		f.Point, f.By, f.Grant = hit.Point, hit.Client.Name(), hit.Grant
	}
	if spec.Whom&Clients != 0 {
		if err := r.targetClients(spec, st, &t, f); err != nil {
			return t, err
		}
	}
	if spec.Whom&Nodes != 0 {
		return t, r.targetNodes(ctx, spec, st, &t, f)
	}
	return t, nil
}

func (r *Runner) targetClients(spec Spec, st Step, t *Target, f *history.Fault) (err error) {
	if t.Clients, err = chooseClients(r.World.Clients(), st.Clients, t.Hit, st.Draw); err != nil {
		return err
	}
	if spec.keeps(st.Params) && t.Hit != nil {
		t.Clients = []Client{t.Hit.Client} // nobody else stands there
	}
	for _, c := range t.Clients {
		f.Clients = append(f.Clients, c.Name())
		f.Roles[c.Name()] = string(c.Doing())
	}
	return nonEmpty(len(t.Clients), "client")
}

// rolesWithin is how long we ask again when no server says that it has the role that a timed fault is
// for: a busy one may answer late, and is taken for down then.
const rolesWithin = 3 * time.Second

func (r *Runner) targetNodes(ctx context.Context, spec Spec, st Step, t *Target, f *history.Fault) (err error) {
	asking, cancel := context.WithTimeout(ctx, rolesWithin)
	defer cancel()
	for {
		if t.Nodes, err = chooseNodes(ctx, r.World, st.Nodes, spec.Whom&Clients != 0, t.Hit, st.Draw); err != nil {
			return err
		}
		if len(t.Nodes) > 0 || t.Hit != nil || !Wait(asking, LookEvery) { // a client that stands at a point cannot wait
			break
		}
	}
	for _, n := range t.Nodes {
		f.Nodes = append(f.Nodes, n.Name())
		f.Roles[n.Name()] = n.Role()
	}
	return nonEmpty(len(t.Nodes), "node")
}

func nonEmpty(n int, kind string) error {
	if n == 0 {
		return errors.New("at this moment no " + kind + " matches the parameter " + kind + "s, so the fault has no target")
	}
	return nil
}

func (r *Runner) newID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nextID++
	return r.nextID
}

func (r *Runner) note(e history.Line) {
	if err := r.Rec.Notice(e); err != nil {
		r.fail(err)
	}
}

func (r *Runner) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}

func (r *Runner) say(text string) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf("%6.2f s  %s", float64(r.Rec.Clock().Now())/1e9, text))
	}
}

// within is ctx for so long at most, and until the limit.
func (r *Runner) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(d)
	if !r.Limit.IsZero() && r.Limit.Before(end) {
		end = r.Limit
	}
	return context.WithDeadline(ctx, end)
}

// healAll heals the active faults, the last injected first.
func (r *Runner) healAll(ctx context.Context) {
	r.mu.Lock()
	left := slices.Clone(r.active)
	r.mu.Unlock()
	for _, a := range slices.Backward(left) {
		r.heal(ctx, a)
	}
}
