package etcd

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis/ensembletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func topology(t *testing.T, name string) cluster.Topology {
	t.Helper()
	for _, top := range Topologies() {
		if top.Name == name {
			if err := top.Valid(); err != nil {
				t.Fatal(err)
			}
			return top
		}
	}
	t.Fatalf("no topology %s", name)
	return cluster.Topology{}
}

// One server serves, keeps what it has over a kill, and leads itself.
func TestSingle(t *testing.T) {
	b := ensembletest.Start(t, topology(t, Single))
	s := b.Cluster.Servers()[0]
	if role := s.Role(); role != history.RoleLeader {
		t.Errorf("it says that it is %s", role)
	}
	if err := s.Kill(b.Ctx); err != nil {
		t.Fatal(err)
	}
	if proof, err := s.Restart(b.Ctx); err != nil {
		t.Error(proof, err)
	}
}

// Every leader that is killed, stopped or cut off is replaced, and no traffic between the members
// passes beside the links.
func TestElections(t *testing.T) { ensembletest.Start(t, topology(t, Three)).Elections() }
