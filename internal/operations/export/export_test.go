package export_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/operations"
	"github.com/lockstorm/lockstorm/internal/operations/export"
	"github.com/lockstorm/lockstorm/internal/operations/models"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/plant"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// What both can say is the same: an exported history is linearizable if and only if no two clients held the lock at once.
func TestExportKeepsTheVerdict(t *testing.T) {
	counts := map[string]int{}
	datadriven.Walk(t, "../../../checker/testdata/histories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			in := checkertest.InputOf(t, d.Input)
			if own, got := bothVerdicts(t, in); own != "" {
				counts[own+" "+got]++
				if own != got {
					t.Errorf("%s: two clients held the lock at once: %s; the exported history: %s", d.Pos, own, got)
				}
			}
			return d.Expected
		})
	})
	if counts["pass pass"] < 50 || counts["fail fail"] < 20 {
		t.Errorf("compared: %v", counts)
	}
}

// The same of simulated services, right ones and ones with each planted bug. EXPORT_N sets how many, EXPORT_SEED which.
func TestExportKeepsTheVerdictOfSimulations(t *testing.T) {
	n, first := setting.Random(t, "EXPORT_N", 300), setting.Number(t, "EXPORT_SEED", 1)
	plants := plant.Services()
	counts := map[string]int{}
	for i := range n {
		seed := uint64(first + i)
		cfg := sim.DrawVaried(seed)
		if i%2 == 1 {
			cfg = sim.Draw(seed)
			p := plants[i/2%len(plants)]
			if cfg.Bug = p.Bug; p.Prepare != nil {
				p.Prepare(&cfg)
			}
		}
		in, err := checker.NewInput(sim.Run(cfg).History)
		if err != nil {
			t.Fatal(err)
		}
		own, got := bothVerdicts(t, in)
		if own == "" {
			continue
		}
		counts[own+" "+got]++
		if own != got {
			t.Errorf("seed %d, bug %q: two clients held the lock at once: %s; the exported history: %s", seed, cfg.Bug, own, got)
		}
	}
	if counts["pass pass"]*4 < n || counts["fail fail"]*50 < n {
		t.Errorf("of %d simulations were compared: %v", n, counts)
	}
}

// Histories that an export once told wrongly.
func TestExportOfGrantsThatNobodyHeld(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want models.Verdict
	}{
		// c3 learns of its grant when its lease is over: that lease has no part in what c1 and c2 hold at once.
		"a violation beside it": {`
run ends=lease
0ms 3 c3 invoke acquire lock=L grant=c
50ms 1 c1 invoke acquire lock=L grant=a
52ms 1 c1 ok acquire lock=L grant=a lease=a sent=51ms ttl=1s deadline=1051ms
60ms 2 c2 invoke acquire lock=L grant=b
62ms 2 c2 ok acquire lock=L grant=b lease=b sent=61ms ttl=1s deadline=1061ms
70ms 1 c1 invoke release lock=L grant=a
71ms 1 c1 ok release lock=L grant=a
80ms 2 c2 invoke release lock=L grant=b
81ms 2 c2 ok release lock=L grant=b
100ms 3 c3 ok acquire lock=L grant=c lease=c sent=1ms ttl=40ms deadline=41ms
end`, models.Failed},
		// c1 has not been told yet that its lease is over; c2 was told as soon as it learned of its grant.
		"no violation": {`
run ends=lease discipline=told
0ms 1 c1 invoke acquire lock=L grant=a
2ms 1 c1 ok acquire lock=L grant=a lease=a sent=1ms ttl=20ms deadline=21ms
30ms 2 c2 invoke acquire lock=L grant=b
50ms 2 c2 ok acquire lock=L grant=b lease=b sent=31ms ttl=10ms deadline=41ms
50ms - c2 info lost lock=L grant=b
100ms - c1 info lost lock=L grant=a
end`, models.Pass},
		// Two clients have an owner of one name, which no lock takes for the same owner.
		"owners of one name": {`
run ends=lease model=reentrant
0ms 1 c1 invoke acquire lock=L grant=a owner=main
2ms 1 c1 ok acquire lock=L grant=a owner=main lease=a sent=1ms ttl=1s deadline=1001ms
10ms 2 c2 invoke acquire lock=L grant=b owner=main
12ms 2 c2 ok acquire lock=L grant=b owner=main lease=b sent=11ms ttl=1s deadline=1011ms
20ms 1 c1 invoke release lock=L grant=a
21ms 1 c1 ok release lock=L grant=a
30ms 2 c2 invoke release lock=L grant=b
31ms 2 c2 ok release lock=L grant=b
end`, models.Failed},
	} {
		in := checkertest.InputOf(t, c.text)
		own, got := bothVerdicts(t, in)
		if own != string(c.want) || got != string(c.want) {
			t.Errorf("%s: two clients held the lock at once: %s; the exported history: %s; want both %s", name, own, got, c.want)
		}
	}
}

// bothVerdicts are whether two clients held a lock at once, by the check mutual-exclusion and by the exported history;
// empty where there is nothing to compare.
func bothVerdicts(t *testing.T, in *checker.Input) (own, got string) {
	t.Helper()
	r := checker.Judge(in, checks.Default())
	overlaps, measured := r.Checks[checker.MutualExclusion].Figures["violations"]
	if !measured || r.Checks[checker.Assumptions].Verdict != checker.Pass {
		return "", ""
	}
	judged, err := imported(t, in.Record)
	if err != nil {
		return "", ""
	}
	own = string(models.Pass)
	if overlaps > 0 {
		own = string(models.Failed)
	}
	return own, string(judged)
}

var errNothing = errors.New("no operation")

// imported is the verdict on a record that is exported and read back.
func imported(t *testing.T, rec *history.Record) (models.Verdict, error) {
	t.Helper()
	x, err := export.Of(rec)
	if err != nil {
		return "", err
	}
	if len(x.Steps) == 0 {
		return "", errNothing
	}
	var file bytes.Buffer
	if err := operations.WriteJepsen(&file, x.Steps, x.Keyed); err != nil {
		t.Fatal(err)
	}
	h, err := operations.Read(&file, operations.Options{Keyed: x.Keyed})
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Parse(x.Model)
	if err != nil {
		t.Fatal(err)
	}
	judged, err := models.Judge(t.Context(), m, h)
	if err != nil {
		t.Fatal(err)
	}
	return models.Worst(judged), nil
}
