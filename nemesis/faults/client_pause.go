package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

// By what a client is paused.
const (
	paramHow    = "how"
	bySignal    = "signal"
	byCollector = "collector"
)

func clientPause() nemesis.Spec {
	return nemesis.Spec{
		Name: "client-pause", Doc: "stops all threads of a client (SIGSTOP), its renewals too, like a long garbage collection",
		Proven: "/proc shows every thread stopped (state T); with `how=collector`, the collector says for how long it stopped.",
		End:    "SIGCONT, until no thread is stopped; with `how=collector`, the collection's end.",
		Family: history.FamilyClient, Whom: nemesis.Clients, Stops: true,
		Params: append(nemesis.ClientParams("1.5ttl", "2.5ttl"), catalog.Param{
			Name: paramHow, Default: bySignal, Doc: "what stops it (signal: SIGSTOP; collector: its own garbage collector, only with an " +
				"adapter that supports the call `collect`)", Choices: []string{bySignal, byCollector},
		}),
		Strikes: strikeHolder, Fault: fault{nil, injectClientPause}, Check: checkHow,
		Keeps: func(own catalog.Values) bool { return own[paramHow] == byCollector },
		Lasts: func(own catalog.Values) bool { return own[paramHow] != byCollector },
	}
}

func checkHow(own catalog.Values, in nemesis.Input) error {
	return lack(own[paramHow] == bySignal || in.Setting.Collects, "%s=%s needs an adapter that can start a garbage collection (the "+
		"call collect): backend %s has no such adapter", paramHow, byCollector, in.Setting.Backend)
}

// strikeHolder ties every other step to a holder that is about to write or to release. The second step strikes at the backend's
// own first point, where it has one.
func strikeHolder(k int, own []string) string {
	if k == 1 && len(own) > 0 {
		return own[0]
	}
	return []string{history.AtBeforeWrite, history.AtRandom, history.AtBeforeRelease, history.AtRandom}[k%4]
}

// injectClientPause stops whole client processes:
//
//	client  --acquire--[check]--STOP..............CONT--write-->
//	lease   |<------------- ttl ------------>|         ^ too late, and nothing checks
//
// It sends SIGSTOP to the process groups and reads back that every thread stopped.
// A client that stood at a point is let go only then: it goes on when it is resumed.
func injectClientPause(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	if t.Params[paramHow] == byCollector {
		return collect(ctx, w, t)
	}
	var all stops
	for _, c := range t.Clients {
		all = append(all, stop{c.Name(), c})
	}
	return all.pause(ctx)
}

// collect has the collectors of the clients run, one after the other, for as long as the fault lasts. A client that stands at
// a point stays there until they have: its section is stopped as well.
func collect(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	e := nemesis.Effect{Began: w.Now()}
	var proofs []string
	for _, c := range t.Clients {
		can, is := c.(nemesis.Collector)
		if !is {
			return e, errors.New("client " + c.Name() + " cannot start a garbage collection: its adapter does not support the call " +
				"collect")
		}
		proof, err := can.Collect(ctx, t.For)
		if err != nil {
			return e, fmt.Errorf("the garbage collection of client %s failed: %w", c.Name(), err)
		}
		proofs = append(proofs, c.Name()+" was stopped by its garbage collector: "+proof)
	}
	e.Proof = strings.Join(proofs, "; ")
	if t.Hit != nil {
		t.Hit.Go()
	}
	return e, nil
}
