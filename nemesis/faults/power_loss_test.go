package faults

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A server that is on no disk of ours is left as it is: it does not lose its power. What happens to one that is, package contract
// of the harness tests.
func TestPowerLossInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	before := l.pid(1)
	e, err := l.inject("power-loss", on(l.node(1), bare{"rock"}))
	l.fails(e, err, "store-1 is on no disk that can lose its power")
	e, err = l.inject("power-loss", on(bare{"rock"}))
	l.fails(e, err, "the power of rock cannot be taken away")
	if len(l.kills) > 0 || l.pid(1) != before {
		t.Errorf("it was killed: %v", l.kills)
	}
}

func TestPowerLossPlans(t *testing.T) {
	cannot(t, powerLoss().Fault, map[string]func(*nemesis.Setting){
		withoutServer: noServer, "no disk": func(s *nemesis.Setting) { s.NoDisks = "no disk" },
	})
	planned(t, map[string]string{
		"power-loss:nodes=all,at=acquired,nth=3": "", "power-loss:keeps=torn": "", "power-loss:keeps=prefix,nodes=majority": "",
		"power-loss:keeps=all": "keeps=all: choose nothing, prefix or torn",
		"power-loss:for=1s":    "for",
	})
}
