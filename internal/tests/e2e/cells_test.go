//go:build series

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/suite"
)

// publishedSeed is the one seed with which the published failures are shown here; make
// track-record takes many.
const publishedSeed = 7

func TestCells(t *testing.T) { runAll(t, append(cases.Set("cells"), suite.Controls()...)) }

func TestNetworkCells(t *testing.T) { runAll(t, cases.Set("network")) }

// Every published failure of the track record shows with one seed. Those of ZooKeeper and etcd are in TestSeriesTrackRecord
// alone: the cells and the claims have their like.
func TestPublishedFailures(t *testing.T) {
	all := slices.DeleteFunc(cases.Set("published"), func(c suite.Case) bool {
		return strings.HasPrefix(c.Name, "zk-") || strings.HasPrefix(c.Name, "etcd-")
	})
	for i, c := range all {
		all[i] = c.Seeded(publishedSeed)
	}
	runAll(t, all)
}

// runAll runs cases, several at the same time, beside those of other tests.
func runAll(t *testing.T, all []suite.Case) {
	t.Parallel()
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			runBeside(t, c)
		})
	}
}
