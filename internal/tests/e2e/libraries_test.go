//go:build series

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/docs/tables"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
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
func TestSeriesLibraries(t *testing.T) {
	cat := harness.New(stores.All()...)
	var all []suite.Case
	for _, v := range cases.Variants() {
		for _, d := range v.Disciplines {
			all = append(all, v.Libraries(cat, d)...)
		}
	}
	measure(t, all, filepath.Join("..", "..", "..", "docs", "libraries-measured.md"), tables.Has, func(before string, measured map[string]tables.Measured) string {
		return tables.Libraries(before, cpus(), cat, measured)
	})
}

// TestSeriesAdapters does the same for the libraries of other languages, and writes docs/adapters-measured.md anew.
func TestSeriesAdapters(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..")) // where the adapters are, as the commands of the page have it
	var all []suite.Case
	for _, v := range cases.Adapters() {
		all = append(all, v.Cases()...)
	}
	measure(t, all, filepath.Join("docs", "adapters-measured.md"), tables.Has, func(before string, measured map[string]tables.Measured) string {
		return tables.Adapters(before, cpus(), measured)
	})
}

// measure runs the cases that are chosen, but those that the page has where LIB_RESUME is set, and writes the page whenever the last seed of a case has run.
func measure(t *testing.T, all []suite.Case, path string, has func(page string, c suite.Case) bool, page func(before string, measured map[string]tables.Measured) string) {
	seeds, only, fault := setting.Number(t, "LIB_SEEDS", 10), begins(t, "LIB_ONLY"), begins(t, "LIB_FAULT")
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var writing sync.Mutex
	measured := map[string]tables.Measured{}
	write := func(name string, one *cell) {
		writing.Lock()
		defer writing.Unlock()
		measured[name] = tables.Measured{Runs: one.text(), Late: ms(one.late), Acquire: ms(one.acquire), Versions: one.versions}
		if err := os.WriteFile(path, []byte(page(string(before), measured)), 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Run("cases", func(t *testing.T) {
		for _, c := range all {
			if !only.MatchString(c.Name) || !fault.MatchString(c.Run.Nemesis[0]) || os.Getenv("LIB_RESUME") != "" && has(string(before), c) {
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

// add takes what a run came to, and reports whether it was the last one, and any of them came to something.
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
		if what != "adapter" && what != "library" && what != "go" && what != "lockstorm" && !strings.Contains(r.Versions["library"], name) {
			parts = append(parts, name+" "+number.FindString(r.Versions[what]))
		}
	}
	return strings.Join(parts, ", ")
}

var number = regexp.MustCompile(`[0-9][0-9A-Za-z.+~-]*`)

// text is a cell of the table: how many runs ended how, and what was found in them.
func (c *cell) text() string {
	var parts []string
	for _, w := range []string{"safe", "inherent", "blocks", "defect", "unknown"} {
		if n := c.words[w]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", w, n))
		}
	}
	var rules []string
	for r, n := range c.rules {
		if r != "orphan" {
			rules = append(rules, fmt.Sprintf("%s in %d", r, n))
		}
	}
	slices.Sort(rules)
	text := strings.Join(parts, ", ")
	if len(rules) > 0 {
		text += " (" + strings.Join(rules, ", ") + ")"
	}
	if n := c.rules["orphan"]; n > 0 { // it is no defect, and safe runs have it, too
		text += fmt.Sprintf("; orphan in %d", n)
	}
	return text
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

func ms(ns int64) string {
	if ns == 0 {
		return "-"
	}
	return fmt.Sprintf("%d ms", time.Duration(ns).Milliseconds())
}
