package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

func flap() nemesis.Spec {
	return nemesis.Spec{
		Name: "flap", Doc: "resets connections of clients to servers again and again",
		Proven: "At least one connection was reset.",
		End:    "The resets stop, and are counted.",
		Family: history.FamilyLink, Whom: nemesis.ClientsAndNodes, Links: nemesis.ToServers, Strikes: strikeHolder,
		Fault:  fault{needsServer, injectFlap},
		Params: onLinks("1.5ttl", "3ttl", catalog.Param{Name: paramPeriod, Default: "50ms", Doc: "average time between two resets"}),
		Check: func(own catalog.Values, in nemesis.Input) error {
			_, err := flapPeriod(own, in.TTL)
			return err
		},
	}
}

func flapPeriod(own catalog.Values, ttl time.Duration) (time.Duration, error) {
	d, err := own.Length(paramPeriod, ttl)
	if err == nil && d < time.Millisecond {
		err = fmt.Errorf("%s=%s is too short: the minimum is 1 ms", paramPeriod, own[paramPeriod])
	}
	return d, err
}

// injectFlap resets connections again and again; in between new ones work.
// It returns after the first reset of a connection, and goes on until the heal.
func injectFlap(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	period, err := flapPeriod(t.Params, w.TTL())
	if err != nil {
		return nemesis.Effect{}, err
	}
	links := links(w, t)
	first, began := 0, int64(0) // a client that has no connection now opens one soon
	if nemesis.Until(ctx, func() (bool, error) { began, first = w.Now(), resetAll(links); return first > 0, nil }) != nil {
		return nemesis.Effect{}, fmt.Errorf("flap found no open connection between the chosen clients and servers (links: %d), so "+
			"there was nothing to reset", len(links))
	}
	flapping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	total, rounds := first, 1
	rnd := rand.New(rand.NewPCG(t.Draw, 1))
	wg.Go(func() {
		for nemesis.Wait(flapping, period/2+time.Duration(rnd.Int64N(int64(period)))) {
			rounds++
			total += resetAll(links)
		}
	})
	return nemesis.Effect{
		Began: began,
		Proof: fmt.Sprintf("connections reset: %d (links: %d); lockstorm repeats the reset about every %v", first, len(links), period),
		Heal: func(context.Context) (string, error) {
			cancel()
			wg.Wait()
			return fmt.Sprintf("lockstorm has stopped the resets (connections reset: %d; rounds of resets: %d)", total, rounds), nil
		},
	}, nil
}

func resetAll(links []*link.Link) (n int) {
	for _, l := range links {
		n += l.Reset()
	}
	return n
}
