//go:build series

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/operations/models"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// exportedLines are runs of right locks and of wrong ones, in files and in every store, with what hurts them in several ways.
var exportedLines = []string{
	"--backend none --nemesis none --time 2s",
	"--backend file-flock --nemesis client-pause --time 4s",
	"--backend file-excl --nemesis client-kill --workload try --time 4s",
	"--backend redis-setnx --nemesis client-kill --time 4s",
	"--backend redis-setnx --nemesis delete-key --time 4s",
	"--backend redis-del --nemesis client-pause --workload mutex --time 5s",
	"--backend redis-lua --nemesis client-pause --time 5s",
	"--backend redis-lua --nemesis client-pause:at=acquired --discipline trusting --time 5s",
	"--backend redis-lua --nemesis lost-reply --workload handoff --clients 10 --time 4s",
	"--backend redis-lua --nemesis server-restart --ttl 3s --topology redis-single --time 8s",
	"--backend redis-lua --nemesis client-pause --workload two-locks --locks 2 --time 5s",
	"--backend redis-fenced --nemesis client-kill --time 5s",
	// tokens begin anew, mostly while the lock is free
	"--backend redis-fenced --nemesis server-restart:at=random --workload counter:hold=0.01ttl,think=1ttl --clients 2 --topology " +
		"redis-single --time 5s",
	"--backend redis-watchdog --nemesis client-stall --locks 3 --time 5s",
	"--backend redlock --nemesis server-restart --workload job --time 5s",
	"--backend zk-sequential:token=sequence --nemesis client-kill --time 5s", // the first token is 0
	"--backend zk-sequential:lost-on=expiry --nemesis partition-client:at=acquired,for=3ttl,every=5ttl --workload " +
		"counter:hold=3ttl --clients 3 --time 6s",
	"--backend zk-exclusive-norecheck --nemesis none --workload mutex --time 3s",
	"--backend zk-seed001 --nemesis none --workload reentrant --time 3s",
	"--backend etcd-mutex --nemesis session-expire --time 5s",
	"--backend etcd-election --nemesis client-pause:at=random,clients=half,for=1.5ttl --time 6s",
	"--backend etcd-lock-rpc --nemesis server-restart --time 5s",
	"--backend sql-lease-row --nemesis lost-reply --workload stock --time 5s",
	"--backend postgres-advisory --nemesis kill-connection --workload reentrant --time 5s",
	"--backend mariadb-get-lock --nemesis client-pause --workload reentrant --time 5s",
}

// refusedLines are runs of what several clients may hold at once, and of what is no lock: they cannot be exported.
var refusedLines = []string{
	"--backend zk-rwlock --nemesis none --workload rwlock --time 2s",
	"--backend sql-optimistic --nemesis none --time 2s",
}

// TestSeriesExports makes 50 runs (EXPORT_SEEDS seeds of each line, 2, from EXPORT_SEED on), exports each, judges the file
// by the command that the export prints, and compares. What both can say must be the same:
//
//   - Did two clients believe at once that they held the lock (mutual-exclusion, whatever the class)? The file is linearizable
//     if and only if they did not.
//   - Where there are tokens: did they grow from holder to holder (fencing-tokens, rules regress and duplicate), and two clients
//     did not hold the lock at once? By the model fenced-mutex the file is linearizable if and only if that is so. Of clients
//     that do not obey deadlines only the one half holds: a grant may be used when a later one is over.
//
// A grant that was over before its client learned of it has no holder, and the file does not say that it was made. Nor does
// it have leases, refused releases, data and ends of faults. So it says nothing of what the other checks find, which the
// table lists.
func TestSeriesExports(t *testing.T) {
	seeds, first := setting.Number(t, "EXPORT_SEEDS", 2), setting.Number(t, "EXPORT_SEED", 1)
	all := make([]exported, len(exportedLines)*seeds)
	t.Run("runs", func(t *testing.T) {
		for i := range all {
			c := suite.Case{Run: suite.MustLine(exportedLines[i/seeds])}.Seeded(uint64(first + i%seeds))
			t.Run(fmt.Sprintf("%s/%d", exportedLines[i/seeds], c.Run.Seed), func(t *testing.T) {
				t.Parallel()
				all[i].run(t, c)
			})
		}
		for _, line := range refusedLines {
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				dir := runOf(t, suite.Case{Run: suite.MustLine(line)}.Seeded(uint64(first)))
				if code, out := lockstorm(t, "export", dir); code != harness.ExitUsage || !strings.Contains(out, "cannot be exported") {
					t.Errorf("lockstorm export of a run of %s: exit code %d\n%s", line, code, out)
				}
			})
		}
	})
	tell(t, all)
}

// tell prints what was said of each run. Runs of one sort alone would have shown nothing.
func tell(t *testing.T, all []exported) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "backend\tfault\tworkload\tseed\tone holder\tmutex\tand tokens grow\tfenced-mutex\tnot in the file")
	compared := map[string]int{}
	made := 0
	for _, e := range all {
		if e.results == nil {
			continue // left out by -run, or failed
		}
		made++
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", e.results.Backend, strings.Join(e.results.Nemesis, " "),
			e.results.Workload, e.results.Seed,
			e.own, e.imported, e.tokens, e.fenced, strings.Join(e.rest(), ", "))
		compared[fmt.Sprintf("one holder: %s, mutex: %s", e.own, e.imported)]++
		if e.tokens != "" {
			compared[fmt.Sprintf("and tokens grow: %s, fenced-mutex: %s", e.tokens, e.fenced)]++
		}
	}
	w.Flush() //nolint:errcheck // to memory
	t.Logf("what the run says, and what the file says:\n%s", table.String())
	for _, what := range slices.Sorted(maps.Keys(compared)) {
		t.Logf("%3d runs: %s", compared[what], what)
	}
	if passed := compared["one holder: pass, mutex: pass"]; made == len(all) && (passed*5 < made || passed*5 > made*4) {
		t.Errorf("%d of %d runs passed: too few of one sort to have shown anything", passed, made)
	}
}

// exported is a run, and what was said of it and of its exported file.
type exported struct {
	results        *checker.Results
	own, imported  models.Verdict // on one holder at a time
	tokens, fenced models.Verdict // on that, and on the order of tokens; empty where there are none
}

// run makes a run, exports it, and compares.
func (e *exported) run(t *testing.T, c suite.Case) {
	dir := runOf(t, c)
	r := results(t, dir)
	overlaps, measured := r.Checks[checker.MutualExclusion].Figures["violations"]
	if !measured || r.Checks[checker.Assumptions].Verdict != checker.Pass {
		t.Fatalf("lockstorm run %s: not judged: %+v", c.Run.Line(), r.Checks[checker.Assumptions])
	}
	words := exportOf(t, dir)
	e.own, e.imported = verdictOf(overlaps == 0), judgedAs(t, words)
	if e.own != e.imported {
		t.Errorf("lockstorm run %s: one holder at a time: %s (%d times two); lockstorm %s: %s", c.Run.Line(), e.own, overlaps,
			strings.Join(words, " "), e.imported)
	}
	model, tokens := slices.Index(words, "mutex"), r.Checks[checker.FencingTokens]
	if model >= 0 && tokens.Verdict != checker.Skipped {
		words[model] = "fenced-mutex"
		e.tokens, e.fenced = verdictOf(overlaps == 0 && !outOfOrder(t, dir, tokens.Findings)), judgedAs(t, words)
		if e.tokens != e.fenced && (e.tokens == models.Failed || r.Discipline == history.Obey) {
			t.Errorf("lockstorm run %s: one holder at a time, and tokens grow: %s; lockstorm %s: %s", c.Run.Line(), e.tokens,
				strings.Join(words, " "), e.fenced)
		}
	}
	e.results = r
}

// exportOf exports a run, and returns the arguments of the command that the export prints.
func exportOf(t *testing.T, dir string) []string {
	t.Helper()
	code, out := lockstorm(t, "export", dir, "--as", "jepsen", "--out", filepath.Join(t.TempDir(), "history.edn"))
	_, command, _ := strings.Cut(out, "to judge these events: ")
	words := strings.Fields(command)
	if code != harness.ExitPass || len(words) == 0 {
		t.Fatalf("lockstorm export: exit code %d\n%s", code, out)
	}
	return words[1:]
}

// outOfOrder reports whether a finding says of two grants that were held that their tokens do not grow.
func outOfOrder(t *testing.T, dir string, findings []checker.Finding) bool {
	t.Helper()
	h, err := history.ReadFile(filepath.Join(dir, history.File))
	if err != nil {
		t.Fatal(err)
	}
	known, err := facts.New(h)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(findings, func(f checker.Finding) bool {
		nobodys := func(id string) bool { return known.Hold(known.ByID[id]).Empty() }
		return ofOrder(f) && !slices.ContainsFunc(f.Grants, nobodys)
	})
}

// ofOrder reports whether a finding is of the order of tokens.
func ofOrder(f checker.Finding) bool { return f.Rule == "regress" || f.Rule == "duplicate" }

// rest are the checks that found something of which the file says nothing, with their rules.
func (e *exported) rest() (out []string) {
	for _, name := range e.results.Order {
		c := e.results.Checks[name]
		if name == checker.MutualExclusion || (c.Verdict != checker.Fail && c.Verdict != checker.Unknown) {
			continue
		}
		var rules []string
		for _, f := range c.Findings {
			if e.tokens != models.Failed || !ofOrder(f) {
				rules = append(rules, f.Rule)
			}
		}
		slices.Sort(rules)
		if rules = slices.Compact(rules); len(rules) > 0 {
			out = append(out, fmt.Sprintf("%s (%s)", name, strings.Join(rules, " ")))
		}
	}
	return out
}

func verdictOf(right bool) models.Verdict {
	if right {
		return models.Pass
	}
	return models.Failed
}

// runOf makes a run, and returns its directory.
func runOf(t *testing.T, c suite.Case) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	code, out := lockstorm(t, append([]string{"run", "--out", dir}, c.Run.Args()...)...)
	if code > harness.ExitUnknown {
		t.Fatalf("lockstorm run %s: exit code %d\n%s", c.Run.Line(), code, out)
	}
	nothingLeft(t, dir)
	return dir
}

// judgedAs is the verdict of a command, which its exit code says, too.
func judgedAs(t *testing.T, words []string) models.Verdict {
	t.Helper()
	code, out := lockstorm(t, append(words, "--json")...)
	var answer struct {
		Verdict models.Verdict `json:"verdict"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Verdict == "" {
		t.Fatalf("lockstorm %s: exit code %d: %v\n%s", strings.Join(words, " "), code, err, out)
	}
	codes := map[models.Verdict]int{
		models.Pass: harness.ExitPass, models.Failed: harness.ExitViolation,
		models.Unknown: harness.ExitUnknown,
	}
	if code != codes[answer.Verdict] {
		t.Errorf("lockstorm %s: verdict %s, exit code %d", strings.Join(words, " "), answer.Verdict, code)
	}
	return answer.Verdict
}
