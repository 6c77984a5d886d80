//go:build series

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
)

// With a majority dead nobody is granted anything, and after the heal everybody is.
func TestRedlockWithoutAMajority(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	if code, out := lockstorm(t, strings.Fields("run --backend redlock --nemesis server-kill:nodes=3,every=10s --time 5s --seed "+
		"5 --out "+dir)...); code != 0 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	rec := record(t, dir)
	if len(rec.Faults) != 1 || rec.Faults[0].Effect == nil {
		t.Fatalf("%d faults", len(rec.Faults))
	}
	f := rec.Faults[0]
	healed := slices.IndexFunc(rec.Events, func(e history.Event) bool {
		return e.F() == history.FHeal && e.Type() == history.Invoke
	})
	if len(rec.Deaths) != 3 || healed < 0 {
		t.Fatalf("%d deaths, heal at %d", len(rec.Deaths), healed)
	}
	during, after := 0, 0
	for _, g := range rec.Grants {
		switch {
		case !g.Granted():
		case g.Sent() > f.Effect.Time && g.From() < rec.Events[healed].Time: // the effect is noted after the third death
			during++
		case g.Sent() > f.HealEnd.Time:
			after++
		}
	}
	if during != 0 || after == 0 {
		t.Errorf("%d grants while three of five were dead, %d after the heal", during, after)
	}
}

// The report of a fail-over names the master that died, the replica that was promoted, and
// the key that it never had; the record has the kill before the promotion.
func TestFailoverIsExplained(t *testing.T) {
	t.Parallel()
	wants := []string{
		"redis-1 died of SIGKILL", "was promoted", " is first seen as master", "the key ",
		" was never on redis-",
	}
	for try := range 3 { // on a busy host something else may be worse, and be told first, or nobody asks for the lost lock in time
		dir := filepath.Join(t.TempDir(), "run")
		done := turn(t, try)
		code, out := carryOut(t, strings.Fields("run --backend redis-sentinel --nemesis failover-kill --seed 9 --out "+dir)...)
		done()
		if code != harness.ExitViolation && code != harness.ExitUnknown && code != harness.ExitPass {
			t.Fatalf("exit %d\n%s", code, out)
		}
		missing := slices.DeleteFunc(slices.Clone(wants), func(want string) bool { return strings.Contains(out, want) })
		if code == 1 && len(missing) == 0 {
			return
		}
		t.Logf("exit %d, the summary does not say %q:\n%s", code, missing, out)
	}
	t.Error("the fail-over is not explained")
}

// The report of a split brain names both masters, and both sides grant while it lasts.
func TestSplitBrain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	code, out := lockstorm(t, strings.Fields("run --backend redis-sentinel --nemesis leader-isolate --time 10s --seed 4 --out "+
		dir)...)
	if code != 1 || !strings.Contains(out, "both redis-1 and redis-") {
		t.Fatalf("exit %d, or only one master is named\n%s", code, out)
	}
	rec := record(t, dir)
	i := slices.IndexFunc(rec.Faults, func(f *history.Injection) bool { return f.Effective() && f.HealEnd != nil })
	if i < 0 {
		t.Fatal("no isolation took effect")
	}
	// The new master may still have the key of the last holder, for a ttl at most. From then
	// on, in every third of the isolation somebody is granted the lock while another one
	// holds it.
	f := rec.Faults[i]
	both := overlaps(rec, history.Interval{From: f.Effect.Time, To: f.HealEnd.Time})
	if len(both) == 0 || both[0] > f.Effect.Time+rec.Run.TTL {
		t.Fatalf("no two holders within a ttl after %d: %v", f.Effect.Time, both)
	}
	thirds := map[int64]int{}
	for _, at := range both {
		thirds[(at-both[0])*3/(f.HealEnd.Time-both[0])]++
	}
	if len(thirds) != 3 {
		t.Errorf("overlaps by thirds of the isolation: %v", thirds)
	}
}

// overlaps are the moments in a part of the run at which a client was granted a lock that
// another one held.
func overlaps(rec *history.Record, span history.Interval) (out []int64) {
	for _, g := range rec.Grants {
		if !g.Granted() || g.From() < span.From || g.From() >= span.To {
			continue
		}
		held := func(h *history.Grant) bool {
			return h.Client != g.Client && !rec.Believed(h).Overlap(history.Interval{From: g.From(), To: g.From() + 1}).Empty()
		}
		if slices.ContainsFunc(rec.Grants, held) {
			out = append(out, g.From())
		}
	}
	slices.Sort(out)
	return out
}

// What cannot work says why: alone it is refused, beside others it is skipped.
func TestWhatCannotWorkSaysWhy(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--backend redis-lua --nemesis failover-kill":                         "no automatic fail-over",
		"--backend redis-lua --nemesis partition-replication":                 "do not replicate",
		"--backend file-flock --nemesis flush":                                "has no server",
		"--backend redis-lua --provider embedded --nemesis clock-jump":        "use --provider process or container",
		"--backend redis-lua --provider embedded --nemesis evict":             "never evicts",
		"--backend redis-lua --workload mutex --nemesis packet-delay":         "the workload has no data",
		"--backend redis-lua --nemesis partition-client:mode=melt":            "choose cut, blackhole, loss, hold or latency",
		"--backend redis-lua --nemesis clock-jump:by=1ms":                     "the minimum is 20ms",
		"--backend redlock --nemesis server-kill:nodes=6":                     "choose from 1 to 5",
		"--backend redlock --nemesis clock-jump:grant=9":                      "a number from 1 to 5",
		"--backend redis-lua --nemesis chaos:only=melt":                       "unknown nemesis",
		"--backend redis-lua --nemesis evict:policy=noeviction":               "choose one of volatile-ttl",
		"--backend redis-sentinel --nemesis slow-server:share=1":              "run for at least 1 ms",
		"--backend redis-sentinel --nemesis leader-isolate:for=9s --time 10s": "is too long for a run of",
	} {
		code, out := lockstorm(t, append(append([]string{"run"}, strings.Fields(args)...), "--out",
			filepath.Join(t.TempDir(), "run"))...)
		if code != harness.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s", args, code, harness.ExitUsage, want, out)
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, out := lockstorm(t, strings.Fields("run --backend redis-lua --nemesis chaos --time 3s --seed 1 --out "+
		dir)...); !strings.Contains(out, "no automatic fail-over") {
		t.Errorf("chaos does not say what it leaves out:\n%s", out)
	}
}

// record reads the history of a run.
func record(t *testing.T, dir string) *history.Record {
	t.Helper()
	h, err := history.ReadFile(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}
