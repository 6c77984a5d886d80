package gate

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

// randomSuite is a suite of cells of all stores, lengths and numbers of seeds.
func randomSuite(rnd *rand.Rand, cells int) []plan.Cell {
	backends := []string{
		"file-flock", "redis-lua", "redlock", "redis-sentinel", "zk-exclusive", "etcd-mutex", "postgres-advisory",
		"mariadb-get-lock",
	}
	out := []plan.Cell{{
		Case: suite.Case{Name: "control-a", Run: suite.MustLine("--backend none")}, Seeds: []uint64{1},
		Control: true,
	}}
	for i := range cells {
		c := plan.Cell{Case: suite.Case{
			Name: fmt.Sprintf("cell-%d", i),
			Run:  suite.MustLine("--backend " + backends[rnd.IntN(len(backends))]),
		}}
		c.Case.Run.Time = time.Duration(1+rnd.IntN(20)) * time.Second
		c.Case.Run.Clients = 2 + rnd.IntN(30)
		for seed := range 1 + rnd.IntN(5) {
			c.Seeds = append(c.Seeds, uint64(seed+1))
		}
		out = append(out, c)
	}
	for i := range out {
		out[i].Place = i
	}
	return out
}

// onHost is the same suite as a host sees it that lacks some of the servers.
func onHost(cells []plan.Cell, lacks map[string]bool) []plan.Cell {
	out := slices.Clone(cells)
	for i := range out {
		if store, _, _ := strings.Cut(out[i].Case.Run.Backend, "-"); lacks[store] && !out[i].Control {
			out[i].Skip = "no server of " + store
		}
	}
	return out
}

// Shards on hosts with different servers are cut alike: every cell is in one of them, and none has more than a
// fifth above its even share of the work, or its longest cell.
func TestShardsOfDifferentHosts(t *testing.T) {
	t.Parallel()
	rnd, cat := rand.New(rand.NewPCG(7, 8)), harness.New(stores.All()...)
	for n := range 2000 {
		hosts := 2 + rnd.IntN(4)
		cells := randomSuite(rnd, rnd.IntN(80))
		found, load, longest, sum := map[string]int{}, make([]time.Duration, hosts), time.Duration(0), time.Duration(0)
		for i := range hosts {
			lacks := map[string]bool{}
			for _, store := range []string{"redis", "zk", "etcd", "postgres", "mariadb"} {
				lacks[store] = rnd.IntN(3) == 0
			}
			for _, c := range (Shard{i + 1, hosts}).Take(cat, onHost(cells, lacks)) {
				if c.Control {
					continue
				}
				found[c.Case.Name]++
				load[i] += cost(cat, c)
				longest, sum = max(longest, cost(cat, c)), sum+cost(cat, c)
			}
		}
		for _, c := range cells {
			if !c.Control && found[c.Case.Name] != 1 {
				t.Fatalf("suite %d: %s is in %d of %d shards", n, c.Case.Name, found[c.Case.Name], hosts)
			}
		}
		even := max(sum/time.Duration(hosts), longest)
		if most := slices.Max(load); len(cells) > 4*hosts && most > even*6/5 {
			t.Errorf("suite %d: %d cells on %d hosts: loads %v, even is %v", n, len(cells), hosts, load, even)
		}
	}
}

// Merge knows all cells of the suite: it names those that are in no part, and those that are in two, and
// does not mix parts of other cells.
func TestMergeKnowsAllCells(t *testing.T) {
	t.Parallel()
	cells := randomSuite(rand.New(rand.NewPCG(9, 10)), 12)
	base, dirs := t.TempDir(), []string{}
	store := func(name string, shard Shard, of, part []plan.Cell) string {
		def := Definition{Schema: Schema, Name: "s", Source: "x", Cells: part}
		def.Part(shard, of)
		s := &Suite{Definition: def, Dir: filepath.Join(base, name)}
		if err := s.begin(false); err != nil {
			t.Fatal(err)
		}
		return s.Dir
	}
	for n := 1; n <= 3; n++ {
		shard := Shard{n, 3}
		dirs = append(dirs, store(fmt.Sprint(n), shard, cells, shard.Take(harness.New(stores.All()...), cells)))
	}
	all, err := Merge(dirs, filepath.Join(base, "all"))
	if err != nil || len(all.Missing) != 0 || len(all.Cells) != len(cells) {
		t.Fatalf("missing %v of %d cells (%v)", all.Missing, len(all.Cells), err)
	}
	some, err := Merge(dirs[:2], filepath.Join(base, "some"))
	if err != nil {
		t.Fatal(err)
	}
	r := judged(t, some)
	lost := withoutControls((Shard{3, 3}).Take(harness.New(stores.All()...), cells))
	if r.ExitCode != harness.ExitUnknown || !slices.Contains(r.Lacks, "shard 3/3") || len(r.Lacks) != len(lost)+1 {
		t.Errorf("exit %d, lacks %v", r.ExitCode, r.Lacks)
	}
	for _, c := range lost {
		if !slices.Contains(r.Lacks, "cell "+c.Case.Name) {
			t.Errorf("%s is missing, and is not named: %v", c.Case.Name, r.Lacks)
		}
	}
	if _, err := Merge([]string{dirs[0], dirs[1], dirs[0]}, filepath.Join(base, "double")); err == nil ||
		!strings.Contains(err.Error(), lastOf(cells, 1)) {
		t.Errorf("twice the same part: %v", err)
	}
	less := slices.Clone(cells)
	less[3].Seeds = []uint64{9}
	other := store("other", Shard{3, 3}, less, (Shard{3, 3}).Take(harness.New(stores.All()...), less))
	if _, err := Merge([]string{dirs[0], other}, filepath.Join(base, "mixed")); err == nil ||
		!strings.Contains(err.Error(), "--seeds") {
		t.Errorf("a part with other seeds: %v", err)
	}
	skipped := store("skipped", Shard{3, 3}, onHost(cells, map[string]bool{"zk": true}),
		(Shard{3, 3}).Take(harness.New(stores.All()...), onHost(cells, map[string]bool{"zk": true})))
	if all, err = Merge([]string{dirs[0], dirs[1], skipped}, filepath.Join(base, "hosts")); err != nil || len(all.Missing) > 0 {
		t.Errorf("a host without ZooKeeper: %v", err)
	}
}

// lastOf is a cell of the first of three shards.
func lastOf(cells []plan.Cell, number int) string {
	part := withoutControls((Shard{number, 3}).Take(harness.New(stores.All()...), cells))
	return part[len(part)-1].Case.Name
}

// The text of a suite is one thing and its cells another: both must be the same in all parts.
func TestMergeOfAnotherSuite(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for name, change := range map[string]func(*Definition){
		"with the suite b":   func(d *Definition) { d.Name = "b" },
		"another version":    func(d *Definition) { d.Source = "y" },
		"with --replace a=b": func(d *Definition) { d.Replaced = map[string]string{"a": "b"} },
		"with lockstorm v2,": func(d *Definition) { d.Version = "v2" },
	} {
		var dirs []string
		for i := range 2 {
			d := Definition{Schema: Schema, Name: "a", Source: "x", Version: "v1"}
			if i == 1 {
				change(&d)
			}
			s := &Suite{Definition: d, Dir: filepath.Join(base, strings.Fields(name)[1], fmt.Sprint(i))}
			if err := s.begin(false); err != nil {
				t.Fatal(err)
			}
			dirs = append(dirs, s.Dir)
		}
		if _, err := Merge(dirs, filepath.Join(base, "out")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What the whole suite must show is asked of the whole: a shard that has no cell of it is green by itself.
func TestCoverageIsOfTheWhole(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	f, cells := fileOf(t, "axes: {backend: [redis-lua, redis-fenced], nemesis: [none, client-pause]}\nexpect: [{outcome: "+
		"any}]\ncoverage: {nemeses: client-pause}\n")
	var dirs []string
	for n := 1; n <= 4; n++ {
		shard := Shard{n, 4}
		part := shard.Take(harness.New(stores.All()...), cells)
		def := Definition{Schema: Schema, Name: "s", Source: "x", Cells: part, Required: f.Required()}
		def.Part(shard, cells)
		s := &Suite{Definition: def, Dir: filepath.Join(base, fmt.Sprint(n))}
		if err := s.begin(false); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, s.Dir)
		for _, c := range part {
			s.Outcomes = append(s.Outcomes, RunResult{
				Cell: c.Case.Name, Seed: 1, Status: Expected, Outcome: suite.Safe,
				Stats: map[string]int64{"grants": 5, "faults_injected": 1, "faults_effective": 1},
			})
		}
		if r := judged(t, s); len(r.Lacks) > 0 || r.ExitCode != 0 {
			t.Errorf("shard %d: exit %d: %s", n, r.ExitCode, r.Verdict)
		}
	}
	all, err := Merge(dirs, filepath.Join(base, "all"))
	if err != nil {
		t.Fatal(err)
	}
	if r := judged(t, all); !slices.Contains(r.Lacks, "nemesis client-pause") {
		t.Errorf("nothing was run, and the whole lacks %v", r.Lacks)
	}
}
