package faults

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The server is another process afterwards, which has lost what was kept in memory; clients
// find it by the same address.
func TestServerRestart(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	l.check(l.store(1).Set(l.ctx, "k", "c1"))
	before := l.pid(1)
	e := l.must("server-restart", on(l.node(1)))
	l.says(e.Proof, "store-1 (pid", "has restarted as pid")
	if e.Heal != nil {
		t.Error("there is something to heal")
	}
	if l.pid(1) == before || l.has(1, "k") || !l.reaches("c1", "store-1") {
		t.Error("it is the same process, has kept something, or cannot be reached")
	}
}

var errNotNow = errors.New("not now")

// stubborn does not start again at once.
type stubborn struct {
	labNode
	tries *int
}

func (s stubborn) Restart(ctx context.Context) (string, error) {
	if *s.tries++; *s.tries == 1 {
		return "", errNotNow
	}
	return s.labNode.Restart(ctx)
}

// A server must not stay dead: when it does not start, the heal tries again.
func TestServerRestartInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	e, err := l.inject("server-restart", on(stubborn{l.node(1), new(int)}))
	if l.reaches("c1", "store-1") {
		t.Error("it was started, and yet that is an error")
	}
	l.fails(e, err, errNotNow.Error())
	if !l.reaches("c1", "store-1") {
		t.Error("it stays dead")
	}
	e, err = l.inject("server-restart", on(l.node(1), bare{"rock"}))
	l.fails(e, err, "lockstorm cannot restart server rock")
	if !l.reaches("c1", "store-1") {
		t.Error("it stays dead because of another one")
	}
}

func TestServerRestartPlans(t *testing.T) {
	cannot(t, serverRestart().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer})
	planned(t, map[string]string{
		"server-restart:nodes=granted": "", "server-restart:nodes=redis-1+redis-2": "",
		"server-restart:for=1s":        `has no parameter "for"`,
		"server-restart:nodes=redis-9": `nothing is named "redis-9" at the start of the run`,
	})
}
