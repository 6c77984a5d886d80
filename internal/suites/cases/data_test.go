package cases

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// everything is all data of this package.
func everything() []suite.Case {
	return slices.Concat(Set("published"), Set("cells"), suite.Controls(), Set("network"), Set("ensembles"), Set("databases"),
		Set("power"), Set("claims"), Table(harness.New(stores.All()...)))
}

// The doctor of the data: every case is possible, explained and named once, and expects
// what can be told of a run.
func TestEveryCaseIsSound(t *testing.T) {
	cases := everything()
	if _, err := harness.ClockShim(); err != nil && os.Getenv("CI") == "" {
		t.Logf("cases with clocks that jump are left out: %v", err)
		cases = slices.DeleteFunc(cases, func(c suite.Case) bool { return slices.ContainsFunc(c.Run.Nemesis, jumps) })
	}
	if err := suite.Validate(harness.New(stores.All()...), cases...); err != nil {
		t.Error(err)
	}
}

func jumps(nemesis string) bool { return strings.HasPrefix(nemesis, "clock-jump") }

// The failures that were published have a source, and one exit code, which the page of the
// track record shows.
func TestPublishedCasesHaveSources(t *testing.T) {
	for _, c := range Set("published") {
		if c.Source == "" || len(c.Expect.Exit) != 1 || c.Run.Seed != 0 {
			t.Errorf("%s: source %q, exit codes %v, seed %d", c.Name, c.Source, c.Expect.Exit, c.Run.Seed)
		}
	}
}

// What is stored comes back, and is of the same text: cases are plain data.
func TestCasesThereAndBack(t *testing.T) {
	for _, c := range everything() {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var again suite.Case
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again, c) {
			t.Errorf("%+v\ncomes back as\n%+v", c, again)
		}
	}
}

// Data that the store guards is tried under every fault that can work on the store.
func TestGuardedDataUnderEveryFault(t *testing.T) {
	cat, all := harness.New(stores.All()...), Set("ensembles")
	for _, f := range cat.Nemeses.All() {
		if _, err := harness.Where(cat, "etcd-txn", f.Name); err != nil {
			continue
		}
		if !slices.ContainsFunc(all, func(c suite.Case) bool {
			return c.Run.Backend == "etcd-txn" && slices.Equal(c.Run.Nemesis, []string{f.Name})
		}) {
			t.Errorf("no case of presets/ensembles.yaml has etcd-txn under %s", f.Name)
		}
	}
}

// The table speaks of every pair that can be run, and of nothing else.
func TestTableAndCatalogueAgree(t *testing.T) {
	cat := harness.New(stores.All()...)
	for _, c := range Table(cat) {
		if c.Expect.Outcome == "" {
			t.Errorf("nothing about %s", c.Name)
		}
	}
	known := map[string]bool{others: true}
	for _, b := range cat.Backends.All() {
		known[b.Name] = true
	}
	for fault, row := range table() {
		if _, err := cat.Nemeses.Get(fault); err != nil {
			t.Error(err)
		}
		for b := range row {
			if !known[b] {
				t.Errorf("%s names %q, which is no backend", fault, b)
			}
		}
	}
	if c := Pair("redis-lua", "no-such-fault", ""); c.Expect.Validate(cat.Checks) == nil {
		t.Error("a pair of which the table says nothing is taken")
	}
}
