//go:build series

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/docs/tables"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// cell is what the seeds of one case gave.
type cell struct {
	mu      sync.Mutex
	left    int            // seeds that have not run
	words   map[string]int // by the word of the outcome, or unknown
	rules   map[string]int // runs by rule of a finding of class defect, and of what is noted
	late    int64          // latest loss notice, ns
	acquire int64          // worst p99 of acquire, ns

	versions string // of the last run, but of what is the same in each
}

// TestSeriesLibraries runs every variant of a library under every fault with LIB_SEEDS seeds (10), some
// under the other disciplines as well, and writes docs/libraries-measured.md anew. LIB_ONLY names
// variants by a regular expression for what their name begins with, and LIB_FAULT faults likewise: rows of
// others stay as they are. The page is written after each row; with LIB_RESUME=1 rows that it has are not measured again.
// The others do the same for the libraries of other languages, and for their releases.
func TestSeriesLibraries(t *testing.T) { measure(t, tables.Libraries()) }
func TestSeriesAdapters(t *testing.T)  { measure(t, tables.Adapters()) }
func TestSeriesReleases(t *testing.T)  { measure(t, tables.Releases()) }

// measure runs the cases that are chosen, but those that the page has where LIB_RESUME is set, and writes the page whenever the
// last seed of a case has run. It runs where the adapters are, as the commands of the pages have it.
func measure(t *testing.T, s tables.Series) {
	t.Chdir(filepath.Join("..", "..", ".."))
	seeds, only, fault := setting.Number(t, "LIB_SEEDS", 10), begins(t, "LIB_ONLY"), begins(t, "LIB_FAULT")
	_, missing, err := s.Table("docs", nil)
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.Mutex
	got := map[string]measured.Row{}
	write := func(name string, one *cell) {
		writing.Lock()
		defer writing.Unlock()
		got[name] = one.row()
		table, _, err := s.Table("docs", got)
		if err == nil {
			table.About["machine"] = cpus()
			err = tables.Write("docs", s.Page, table)
		}
		if err != nil {
			t.Error(err)
		}
	}
	t.Run("cases", func(t *testing.T) {
		for _, c := range s.Cases {
			if !only.MatchString(c.Name) || !fault.MatchString(c.Run.Nemesis[0]) || os.Getenv("LIB_RESUME") != "" &&
				!slices.Contains(missing, c.Name) {
				continue
			}
			one := &cell{words: map[string]int{}, rules: map[string]int{}, left: seeds}
			for seed := 1; seed <= seeds; seed++ {
				t.Run(fmt.Sprintf("%s/%d", c.Name, seed), func(t *testing.T) {
					t.Parallel()
					if one.add(runCase(t, c.Seeded(uint64(seed)))) {
						write(c.Name, one)
					}
				})
			}
		}
	})
}

// add takes the outcome of a run, and reports whether it was the last one, and any of them was judged.
func (c *cell) add(r *checker.Results) (complete bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
	if r == nil {
		return c.left == 0 && len(c.words) > 0
	}
	word := string(suite.WordOf(r))
	if r.Verdict == checker.Unknown {
		word = string(checker.Unknown)
	}
	c.words[word]++
	c.versions = versions(r)
	c.late = max(c.late, r.Stats["loss_notice_late_max_ns"])
	c.acquire = max(c.acquire, r.Stats["acquire_p99_ns"])
	seen := map[string]bool{}
	for _, check := range r.Checks {
		for _, f := range check.Findings {
			if !f.Doubtful && (f.Class == checker.Defect || f.Rule == "orphan") && !seen[f.Rule] {
				seen[f.Rule] = true
				c.rules[f.Rule]++
			}
		}
	}
	return c.left == 0
}

// versions are those of the library, its language and the servers. A server's own line has more than its version.
func versions(r *checker.Results) string {
	var parts []string
	if library := r.Versions["library"]; library != "" {
		parts = append(parts, library)
	}
	for _, what := range slices.Sorted(maps.Keys(r.Versions)) {
		name := what
		if what == "java" && strings.Contains(r.Versions[what], "zookeeper") {
			name = "zookeeper" // the program that runs it
		}
		if what != "adapter" && what != "library" && what != "go" && what != "lockstorm" &&
			!strings.Contains(r.Versions["library"], name) {
			parts = append(parts, name+" "+number.FindString(r.Versions[what]))
		}
	}
	return strings.Join(parts, ", ")
}

var number = regexp.MustCompile(`[0-9][0-9A-Za-z.+~-]*`)

// row are the columns of what was measured.
func (c *cell) row() measured.Row {
	r := measured.Row{
		"told_late_max_ms": ms(c.late), "acquire_p99_max_ms": ms(c.acquire), "versions": c.versions,
		"measured_on": today(), "orphan_runs": strconv.Itoa(c.rules["orphan"]),
	}
	runs := 0
	for _, w := range []string{"safe", "inherent", "blocks", "defect", "unknown"} {
		r[w+"_runs"] = strconv.Itoa(c.words[w])
		runs += c.words[w]
	}
	r["runs"] = strconv.Itoa(runs)
	var rules []string
	for rule, n := range c.rules {
		if rule != "orphan" { // it is no defect, and safe runs have it, too
			rules = append(rules, fmt.Sprintf("%s %d", rule, n))
		}
	}
	slices.Sort(rules)
	r["defect_rules"] = strings.Join(rules, "; ")
	library, _, _ := strings.Cut(c.versions, ",")
	if words := strings.Fields(library); len(words) > 0 {
		r["version"] = words[len(words)-1]
	}
	return r
}

// begins is what a name has to begin with, by a setting; nothing: any.
func begins(t *testing.T, setting string) *regexp.Regexp {
	t.Helper()
	re, err := regexp.Compile("^(?:" + os.Getenv(setting) + ")")
	if err != nil {
		t.Fatalf("%s: %v", setting, err)
	}
	return re
}

// ms is a time in whole milliseconds; empty where there is none.
func ms(ns int64) string {
	if ns == 0 {
		return ""
	}
	return strconv.FormatInt(time.Duration(ns).Milliseconds(), 10)
}
