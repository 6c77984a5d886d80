package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Names of the parameters of slow-server; flap has a period, too.
const (
	paramShare  = "share"
	paramPeriod = "period"
)

func slowServer() nemesis.Spec {
	return nemesis.Spec{
		Name: "slow-server", Doc: "stops and resumes a server again and again (SIGSTOP, SIGCONT), so that it runs only part of " +
			"the time",
		Proven: "Every thread was stopped at the first stop.",
		End:    "SIGCONT; the record counts the stops.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, Fault: fault{needsServer, injectSlowServer},
		Params: nemesis.ServerParams("1.5ttl", "3ttl", "1",
			catalog.Param{Name: paramShare, Default: "0.8", Doc: "fraction of the time, 0 to 1, that it is stopped"},
			catalog.Param{Name: paramPeriod, Default: "50ms", Doc: "one stop and one run"}),
		Check: func(own catalog.Values, in nemesis.Input) error {
			_, _, err := dutyCycle(own, in.TTL)
			return err
		},
	}
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
		return 0, 0, fmt.Errorf("%s=%s is not possible with %s=%s: in each cycle the server must be stopped for some time, and must "+
			"run for at least 1 ms",
			paramShare, own[paramShare], paramPeriod, own[paramPeriod])
	}
	return stopped, runs, nil
}

// injectSlowServer stops and resumes servers again and again: they answer, late.
//
//	|---stopped---|run|---stopped---|run|   one period: stopped for its share
//
// It stops every target once, with proof, and keeps on doing so until the heal.
func injectSlowServer(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	stopped, runs, err := dutyCycle(t.Params, w.TTL())
	if err != nil {
		return nemesis.Effect{}, err
	}
	slowing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	results := make([]error, len(t.Nodes))
	cycles := make([]int, len(t.Nodes))
	e := nemesis.Effect{Heal: func(context.Context) (string, error) {
		cancel()
		wg.Wait()
		var texts []string
		for i, n := range t.Nodes {
			texts = append(texts, fmt.Sprintf("%s was stopped and resumed (number of stops: %d)", n.Name(), cycles[i]))
		}
		return strings.Join(texts, "; "), errors.Join(results...)
	}}
	var proofs []string
	for i, n := range t.Nodes {
		p, ok := nemesis.As[nemesis.Pauser](n)
		if !ok {
			return e, fmt.Errorf("lockstorm cannot pause server %s", n.Name())
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
func slow(ctx context.Context, p nemesis.Pauser, stopped, runs time.Duration) (cycles int, err error) {
	for {
		cycles++
		nemesis.Wait(ctx, stopped)
		if _, err := resume(context.WithoutCancel(ctx), p); err != nil {
			return cycles, err
		}
		if !nemesis.Wait(ctx, runs) {
			return cycles, nil
		}
		// Without its end: a stop that is not completed would not be counted.
		if _, err := p.Pause(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, proc.ErrGone) {
			return cycles, err
		}
	}
}
