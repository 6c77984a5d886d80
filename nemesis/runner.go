package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

const (
	injectLimit = 20 * time.Second // an injection that takes longer has failed
	healLimit   = 10 * time.Second // a heal that takes longer is given up, and said
	stayPart    = 0.9              // of its lease: how long the client of a tied server fault stays at most
)

// Runner carries a plan out. Requests run side by side, their steps one after the
// other. Everything that it does is recorded.
type Runner struct {
	Plan   *Plan
	Faults *Catalogue
	World  World
	Rec    *history.Recorder
	Start  int64 // when the workload began, on the run's clock
	// Progress, when set, is told of each injection and heal.
	Progress func(text string)

	mu     sync.Mutex
	nextID int
	active []*active // in order of injection
	err    error
	stays  sync.WaitGroup
}

// active is an injected fault that must be healed.
type active struct {
	event  history.Event
	fault  history.Fault
	effect Effect
	once   sync.Once
}

// Run carries out the plan until it is done or ctx ends, then heals what is still
// active, the last injected first. The error is the first that a heal or the log had.
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

// healAll heals what is active, the last injected first.
func (r *Runner) healAll(ctx context.Context) {
	r.mu.Lock()
	left := slices.Clone(r.active)
	r.mu.Unlock()
	for _, a := range slices.Backward(left) {
		r.heal(ctx, a)
	}
}

func (r *Runner) request(ctx context.Context, index int) {
	req := r.Plan.Requests[index]
	if len(req.Steps) == 0 {
		return
	}
	spec, err := r.Faults.Get(req.Fault)
	if err != nil {
		r.fail(err)
		return
	}
	for _, st := range req.Steps {
		if !r.until(ctx, st.At) {
			return
		}
		if st.Fault != "" {
			if spec, err = r.Faults.Get(st.Fault); err != nil {
				r.fail(err)
				return
			}
		}
		r.step(ctx, index, spec, st)
	}
}

// until waits for a moment of the plan; false when ctx ended first.
func (r *Runner) until(ctx context.Context, at int64) bool {
	return sleep(ctx, time.Duration(r.Start+at-r.Rec.Clock().Now()))
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// step carries out one step: wait for the point, choose, inject, stay, heal.
func (r *Runner) step(ctx context.Context, index int, spec Spec, st Step) {
	f := history.Fault{
		ID: r.newID(), Fault: spec.Name, Request: index, Family: spec.Family, Point: st.Point, For: st.For,
		Delays: spec.Whom == Clients && spec.Links&ToRegister != 0,
	}
	hit, ok := r.arm(ctx, f, st)
	if !ok {
		return
	}
	letGo := func() {
		if hit != nil {
			hit.Go()
		}
	}
	target, err := r.target(ctx, spec, st, hit, &f)
	if err != nil {
		letGo()
		r.miss(f, err)
		return
	}
	_, gates := spec.Fault.(Gater)
	if !gates {
		r.bound(ctx, hit)
	}
	a, ok := r.inject(ctx, spec, target, f)
	if !gates || !ok {
		r.release(ctx, hit, st, ok)
	}
	if !ok || a.effect.Heal == nil {
		return
	}
	if sleep(ctx, time.Duration(st.For)) {
		r.heal(context.WithoutCancel(ctx), a)
	}
}

// arm waits for the point of a tied step. A point that nobody reaches is on record: the
// fault hit nobody.
func (r *Runner) arm(ctx context.Context, f history.Fault, st Step) (*Hit, bool) {
	if !st.Tied {
		return nil, true
	}
	within := time.Duration(r.Start + st.Until - r.Rec.Clock().Now())
	armed, cancel := context.WithTimeout(ctx, max(within, 0))
	defer cancel()
	hit, err := r.World.Arm(armed, Arm{
		Point: st.Point, Nth: st.Nth, Clients: pinned(st.Clients), GrantedBy: st.Grant,
	})
	if err != nil {
		r.miss(f, fmt.Errorf("no client reached %s (nth %d) in time", orAny(st.Point), st.Nth))
		return nil, false
	}
	return hit, true
}

func orAny(point string) string {
	if point == "" {
		return "a point"
	}
	return point
}

// target resolves whom the step hurts, and notes the roles of this moment.
func (r *Runner) target(ctx context.Context, spec Spec, st Step, hit *Hit, f *history.Fault) (Target, error) {
	t := Target{Hit: hit, For: time.Duration(st.For), Params: st.Params, Draw: st.Draw}
	f.Roles = map[string]string{}
	if hit != nil {
		f.Point, f.By, f.Grant = hit.Point, hit.Client.Name(), hit.Grant
	}
	var err error
	if spec.Whom&Clients != 0 {
		if t.Clients, err = chooseClients(r.World.Clients(), st.Clients, hit, st.Draw); err != nil {
			return t, err
		}
		if _, gates := spec.Fault.(Gater); gates && hit != nil {
			t.Clients = []Client{hit.Client} // nobody else stands there
		}
		for _, c := range t.Clients {
			f.Clients = append(f.Clients, c.Name())
			f.Roles[c.Name()] = string(c.Doing())
		}
		if err := nonEmpty(len(t.Clients), "client"); err != nil {
			return t, err
		}
	}
	if spec.Whom&Nodes == 0 {
		return t, nil
	}
	if t.Nodes, err = chooseNodes(ctx, r.World, st.Nodes, hit, st.Draw); err != nil {
		return t, err
	}
	for _, n := range t.Nodes {
		f.Nodes = append(f.Nodes, n.Name())
		f.Roles[n.Name()] = n.Role()
	}
	return t, nonEmpty(len(t.Nodes), "node")
}

func nonEmpty(n int, kind string) error {
	if n == 0 {
		return errors.New("there is no " + kind + " to hurt")
	}
	return nil
}

// inject records, hurts, and records the proof or the failure.
func (r *Runner) inject(ctx context.Context, spec Spec, t Target, f history.Fault) (*active, bool) {
	r.note(history.Event{Type: history.Invoke, F: history.FFault, Value: history.ValueOf(f)})
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), injectLimit)
	defer cancel()
	effect, err := spec.Fault.Inject(limited, r.World, t)
	a := &active{event: history.Event{F: history.FHeal, Value: history.ValueOf(f)}, fault: f, effect: effect}
	if effect.Heal != nil {
		r.mu.Lock()
		r.active = append(r.active, a)
		r.mu.Unlock()
	}
	if err != nil {
		r.note(history.Event{Type: history.Fail, F: history.FFault, Value: history.ValueOf(f), Error: history.ErrOther, Message: err.Error()})
		if effect.Heal != nil {
			r.heal(context.WithoutCancel(ctx), a)
		}
		return a, false
	}
	f.Proof = effect.Proof
	r.note(history.Event{Type: history.OK, F: history.FFault, Value: history.ValueOf(f)})
	r.say(f.Fault + ": " + f.Proof)
	return a, true
}

// bound lets the client of a tied fault go when 0.9 of its lease is over, also while the
// fault is still being injected: a client that is kept longer acts late because of us.
func (r *Runner) bound(ctx context.Context, hit *Hit) {
	if hit == nil || !hit.Deadline.Set {
		return
	}
	left := r.leaseLeft(hit)
	r.stays.Go(func() {
		sleep(ctx, left)
		hit.Go()
	})
}

// leaseLeft is how long a client at a point may stay there.
func (r *Runner) leaseLeft(hit *Hit) time.Duration {
	left := time.Duration(hit.Deadline.V - r.Rec.Clock().Now())
	return left - time.Duration((1-stayPart)*float64(r.World.TTL()))
}

// release lets the client of a tied fault go. The client of a server fault stays, in
// the background, until another client was granted its lock, at most for 0.9 of its lease.
func (r *Runner) release(ctx context.Context, hit *Hit, st Step, effective bool) {
	if hit == nil {
		return
	}
	if st.Stay == 0 || !effective {
		hit.Go()
		return
	}
	now := r.Rec.Clock().Now()
	limit := time.Duration(st.Stay)
	if hit.Deadline.Set {
		limit = min(limit, r.leaseLeft(hit))
	}
	r.stays.Go(func() {
		defer hit.Go()
		waiting, cancel := context.WithTimeout(ctx, max(limit, 0))
		defer cancel()
		// Granted or not, the client goes on: the history says which it was.
		_ = r.World.Granted(waiting, hit.Lock, hit.Client.Name(), now) // see above
	})
}

// heal undoes a fault once, under a watchdog, and records how it went.
func (r *Runner) heal(ctx context.Context, a *active) {
	a.once.Do(func() {
		e, f := a.event, a.fault
		e.Type = history.Invoke
		r.note(e)
		limited, cancel := context.WithTimeout(ctx, healLimit)
		defer cancel()
		proof, err := a.effect.Heal(limited)
		e.Type, e.Message = history.OK, proof
		if err != nil {
			e.Type, e.Error, e.Message = history.Info, history.ErrOther, err.Error()
			r.fail(fmt.Errorf("heal: %w", err))
		}
		r.note(e)
		r.say("healed " + f.Fault + ": " + e.Message)
		r.mu.Lock()
		r.active = slices.DeleteFunc(r.active, func(x *active) bool { return x == a })
		r.mu.Unlock()
	})
}

// miss records a step that hurt nobody.
func (r *Runner) miss(f history.Fault, why error) {
	r.note(history.Event{Type: history.Fail, F: history.FFault, Value: history.ValueOf(f), Error: history.ErrNotSent, Message: why.Error()})
}

func (r *Runner) newID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nextID++
	return r.nextID
}

func (r *Runner) note(e history.Event) {
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
