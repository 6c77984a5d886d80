package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// Names of the parameters of slow-server.
const (
	paramShare  = "share"
	paramPeriod = "period"
)

// SlowServer stops and resumes servers again and again: they answer, late.
//
//	|---stopped---|run|---stopped---|run|   one period: stopped for its share
type SlowServer struct{}

var (
	_ Fault   = SlowServer{}
	_ Checker = SlowServer{}
)

// Available says whether there is a server.
func (SlowServer) Available(s Setting) error { return needsServer(s) }

// Check reads the parameters.
func (SlowServer) Check(own catalog.Values, ttl time.Duration) error {
	_, _, err := dutyCycle(own, ttl)
	return err
}

func dutyCycle(own catalog.Values, ttl time.Duration) (stopped, runs time.Duration, err error) {
	share, err := own.Fraction(paramShare)
	if err != nil {
		return 0, 0, err
	}
	period, err := own.Length(paramPeriod, ttl)
	if err != nil {
		return 0, 0, err
	}
	stopped = time.Duration(share * float64(period))
	if runs = period - stopped; stopped <= 0 || runs < time.Millisecond {
		return 0, 0, fmt.Errorf("%s=%s of %s=%s: it must be stopped for a while and run for a millisecond at least",
			paramShare, own[paramShare], paramPeriod, own[paramPeriod])
	}
	return stopped, runs, nil
}

// Inject stops every target once, with proof, and keeps on doing so until the heal.
func (SlowServer) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	stopped, runs, err := dutyCycle(t.Params, w.TTL())
	if err != nil {
		return Effect{}, err
	}
	slowing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	results := make([]error, len(t.Nodes))
	cycles := make([]int, len(t.Nodes))
	e := Effect{Heal: func(context.Context) (string, error) {
		cancel()
		wg.Wait()
		var texts []string
		for i, n := range t.Nodes {
			texts = append(texts, fmt.Sprintf("%s was stopped %d times", n.Name(), cycles[i]))
		}
		return strings.Join(texts, "; "), errors.Join(results...)
	}}
	var proofs []string
	for i, n := range t.Nodes {
		p, ok := n.(Pauser)
		if !ok {
			return e, fmt.Errorf("node %s cannot be paused", n.Name())
		}
		proof, err := p.Pause(ctx)
		if err != nil {
			_, back := resume(context.WithoutCancel(ctx), p)
			return e, errors.Join(err, back)
		}
		proofs = append(proofs, fmt.Sprintf("%s %s, for %v of every %v", n.Name(), proof, stopped, stopped+runs))
		wg.Go(func() { cycles[i], results[i] = slow(slowing, p, stopped, runs) })
	}
	e.Proof = strings.Join(proofs, "; ")
	return e, nil
}

// slow stops and resumes a node, which is stopped now, until ctx ends; then it runs.
func slow(ctx context.Context, p Pauser, stopped, runs time.Duration) (cycles int, err error) {
	for {
		cycles++
		sleep(ctx, stopped)
		if _, err := resume(context.WithoutCancel(ctx), p); err != nil {
			return cycles, err
		}
		if !sleep(ctx, runs) {
			return cycles, nil
		}
		// Without its end: a stop that is not completed would not be counted.
		if _, err := p.Pause(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, proc.ErrGone) {
			return cycles, err
		}
	}
}
