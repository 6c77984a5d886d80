package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/nemesis/link"
)

// Flap resets connections again and again; in between new ones work.
type Flap struct{}

var (
	_ Fault   = Flap{}
	_ Checker = Flap{}
)

// Available says whether there is a server.
func (Flap) Available(s Setting) error { return needsServer(s) }

// Check reads the parameters.
func (Flap) Check(own catalog.Values, ttl time.Duration) error {
	_, err := flapPeriod(own, ttl)
	return err
}

func flapPeriod(own catalog.Values, ttl time.Duration) (time.Duration, error) {
	d, err := own.Length(paramPeriod, ttl)
	if err == nil && d < time.Millisecond {
		err = fmt.Errorf("%s=%s: a millisecond at least", paramPeriod, own[paramPeriod])
	}
	return d, err
}

// Inject returns after the first reset of a connection, and goes on until the heal.
func (Flap) Inject(ctx context.Context, w World, t Target) (Effect, error) {
	period, err := flapPeriod(t.Params, w.TTL())
	if err != nil {
		return Effect{}, err
	}
	var links []*link.Link
	for _, c := range t.Clients {
		for _, n := range t.Nodes {
			links = append(links, w.Net().Link(c.Name(), n.Name()))
		}
	}
	first := 0
	for first == 0 { // a client that has no connection now opens one soon
		for _, l := range links {
			first += l.Reset()
		}
		if first == 0 && !sleep(ctx, lookEvery) {
			return Effect{}, fmt.Errorf("there was no connection to reset on %d links", len(links))
		}
	}
	flapping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	total, rounds := first, 1
	rnd := rand.New(rand.NewPCG(t.Draw, 1))
	wg.Go(func() {
		for sleep(flapping, period/2+time.Duration(rnd.Int64N(int64(period)))) {
			rounds++
			for _, l := range links {
				total += l.Reset()
			}
		}
	})
	return Effect{
		Proof: fmt.Sprintf("%d connections on %d links were reset, and will be every %v or so", first, len(links), period),
		Heal: func(context.Context) (string, error) {
			cancel()
			wg.Wait()
			return fmt.Sprintf("%d connections were reset in %d rounds", total, rounds), nil
		},
	}, nil
}
