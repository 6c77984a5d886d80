//go:build series

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/stores"
	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/suite/own"
	"github.com/lockstorm/lockstorm/suite/plan"
)

// publishedSeed is the one seed with which the published failures are shown here; make
// track-record takes many.
const publishedSeed = 7

func TestCells(t *testing.T) { runAll(t, append(own.Cells(), suite.Controls()...)) }

func TestNetworkCells(t *testing.T) { runAll(t, own.Network()) }

// Every published failure of the track record shows with one seed. Those of ZooKeeper and etcd are in make track-record
// alone: the cells and the claims have their like.
func TestPublishedFailures(t *testing.T) {
	cases := slices.DeleteFunc(own.Published(), func(c suite.Case) bool {
		return strings.HasPrefix(c.Name, "zk-") || strings.HasPrefix(c.Name, "etcd-")
	})
	for i, c := range cases {
		cases[i] = c.Seeded(publishedSeed)
	}
	runAll(t, cases)
}

// without leaves out the cells of the preset that FAST_WITHOUT names: make ci runs those in the gate, with the same expectations.
func without(t *testing.T, cases []suite.Case) []suite.Case {
	t.Helper()
	name := os.Getenv("FAST_WITHOUT")
	if name == "" {
		return cases
	}
	book := own.Book(harness.New(stores.All()...))
	f, err := plan.Open(book, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(book)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(cases, func(c suite.Case) bool {
		return slices.ContainsFunc(cells, func(o plan.Cell) bool { return o.Name == c.Name && o.Run.Line() == c.Run.Line() })
	})
}

// runAll runs cases, several at the same time, beside those of other tests.
func runAll(t *testing.T, cases []suite.Case) {
	t.Parallel()
	for _, c := range without(t, cases) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			runCase(t, c)
		})
	}
}
