package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// failoverTakes is the room that a plan leaves for an injection that waits for a
// fail-over.
func failoverTakes(time.Duration) time.Duration { return 3 * time.Second }

// needsFleet says what a fail-over lacks.
func needsFleet(s nemesis.Setting) error {
	return lack(s.FailOver > 0,
		"topology %s has no automatic fail-over: choose a topology whose servers replace a failed leader by "+
			"themselves", s.Topology)
}

// theMaster is the only target, which must be the master: a promotion in the place of
// anybody else proves nothing.
func theMaster(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Node, error) {
	m, err := w.Fleet().Master(ctx)
	if err != nil {
		return nil, err
	}
	return m, onlyOn(m, t)
}

func onlyOn(master nemesis.Node, t nemesis.Target) error {
	return lack(len(t.Nodes) == 1 && t.Nodes[0].Name() == master.Name(),
		"this fault acts only on the master (%s), but its targets include another server: use nodes=master", master.Name())
}

// replaced is what strikes the leader, and waits until another one is in its place. What the followers had by then is not
// controlled: failover-kill makes the loss of a lock certain, where that can be. One that was only paused still takes itself for
// the leader until it is told.
func replaced(strike injects) injects {
	return func(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
		old, err := theMaster(ctx, w, t)
		if err != nil {
			return nemesis.Effect{}, err
		}
		since := w.Now()
		e, err := strike(ctx, w, t)
		e.Began = since
		if err != nil {
			return e, err
		}
		_, text, err := promoted(ctx, w, old.Name(), since)
		e.Proof += "; " + text
		return e, err
	}
}

// promoted waits for another master and says who it is and how long it took.
func promoted(ctx context.Context, w nemesis.World, old string, since int64) (nemesis.Node, string, error) {
	n, err := w.Fleet().Promoted(ctx, old)
	if err != nil {
		return nil, "", err
	}
	return n, fmt.Sprintf("%s was promoted after %v", n.Name(), time.Duration(w.Now()-since).Round(time.Millisecond)), nil
}
