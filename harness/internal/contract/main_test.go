package contract

import (
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/companion/servers"
	"github.com/lockstorm/lockstorm/internal/leaktest"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// The test binary starts itself again as embedded servers.
func TestMain(m *testing.M) {
	servers.Child()
	harness.WorkerMain(plainCatalogue())
	leaktest.Main(m)
}

// plainCatalogue is what the tests run.
func plainCatalogue() *harness.Catalogue { return harness.New(stores.All()...) }

func startTopology(t testing.TB, name, provider string) *cluster.Cluster {
	t.Helper()
	top, err := plainCatalogue().Topologies.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return ensembletest.StartWith(t, top, provider, func(s *proc.Starter) []cluster.Provider {
		return plainCatalogue().Providers(harness.Means{Starter: s})
	}).Cluster
}
