package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/nemesis"
)

// How servers that are not ours are asked whether they still answer, past all links.
const (
	outageEvery = 200 * time.Millisecond
	outageAsk   = time.Second     // for one answer
	outageLimit = 2 * time.Second // from which on silence is an outage
	outageTries = 3               // that must have failed before: each was asked anew
)

// errOutage says that a server of somebody else was lost: the run ends, and what was recorded is judged. It
// proves nothing of the lock beyond violations.
var errOutage = errors.New("a server that lockstorm did not start became unreachable, so the run ended early")

// outages watches servers that somebody else runs: one that stops answering is none of our faults.
type outages struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu   sync.Mutex
	lost []error
}

// watchOutages asks until it is stopped, and ends the context that it returns when a server is lost. Nobody is
// asked where the servers are ours.
func (s *session) watchOutages(ctx context.Context) (context.Context, *outages) {
	ctx, cancel := context.WithCancel(ctx)
	o := &outages{cancel: cancel}
	if s.cluster == nil || !cluster.Foreign(s.provider) {
		return ctx, o
	}
	for _, n := range s.cluster.Servers() {
		o.wg.Go(func() { o.ask(ctx, s.clock.Now, n) })
	}
	return ctx, o
}

func (o *outages) ask(ctx context.Context, now func() int64, n *cluster.Server) {
	answered, failed := now(), 0
	for {
		asked := now()
		err := answers(ctx, n)
		switch silent := now() - answered; {
		case ctx.Err() != nil:
			return
		case err == nil:
			answered, failed = asked, 0
		case failed < outageTries: // a host that stood still asks again before it judges
			failed++
		case silent > int64(outageLimit):
			o.mu.Lock()
			o.lost = append(o.lost, fmt.Errorf("%w: the server %s stopped answering at %s of the run: %w", errOutage, n.Name(),
				checker.Seconds(answered), err))
			o.mu.Unlock()
			o.cancel()
			return
		}
		if !nemesis.Wait(ctx, outageEvery) {
			return
		}
	}
}

func answers(ctx context.Context, n *cluster.Server) error {
	ctx, cancel := context.WithTimeout(ctx, outageAsk)
	defer cancel()
	return n.Answers(ctx)
}

// stop ends the questions, and says which servers were lost, and when.
func (o *outages) stop() error {
	o.cancel()
	o.wg.Wait()
	return errors.Join(o.lost...)
}
