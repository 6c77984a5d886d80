//go:build libraries

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/suite"
)

// cell is what the seeds of one case gave.
type cell struct {
	mu      sync.Mutex
	words   map[string]int // by the word of the outcome, or unknown
	rules   map[string]int // runs by rule of a finding of class defect, and of what is noted
	late    int64          // latest loss notice, ns
	acquire int64          // worst p99 of acquire, ns
}

// fewSeeds are those of the disciplines that are not the library's own.
const fewSeeds = 1

// TestLibraries runs every variant of a library under every fault with LIB_SEEDS seeds (10), some
// under the other disciplines with a few, and writes docs/libraries-measured.md anew. LIB_ONLY names
// variants by what their name begins with.
func TestLibraries(t *testing.T) {
	seeds, cat := number(t, "LIB_SEEDS", 10), harness.Default()
	cells := map[string]*cell{}
	var variants []suite.Variant
	for _, v := range suite.Variants() {
		if strings.HasPrefix(v.Name, os.Getenv("LIB_ONLY")) {
			variants = append(variants, v)
		}
	}
	t.Run("cases", func(t *testing.T) {
		for _, v := range variants {
			for _, d := range v.Disciplines() {
				for _, c := range v.Libraries(cat, d) {
					one := &cell{words: map[string]int{}, rules: map[string]int{}}
					cells[c.Name] = one
					n := seeds
					if d != history.Told {
						n = min(seeds, fewSeeds)
					}
					for seed := 1; seed <= n; seed++ {
						t.Run(fmt.Sprintf("%s/%d", c.Name, seed), func(t *testing.T) {
							t.Parallel()
							one.add(runCase(t, c.Seeded(uint64(seed))))
						})
					}
				}
			}
		}
	})
	if os.Getenv("LIB_ONLY") != "" {
		t.Log("\n" + librariesPage(seeds, variants, cat, cells))
		return
	}
	if err := os.WriteFile(filepath.Join("..", "docs", "libraries-measured.md"), []byte(librariesPage(seeds, variants, cat, cells)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (c *cell) add(r *checker.Results) {
	if r == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	word := string(suite.WordOf(r))
	if r.Verdict == checker.Unknown {
		word = string(checker.Unknown)
	}
	c.words[word]++
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
}

// text is a cell of the table: how many runs ended how, and what was found in them.
func (c *cell) text() string {
	var parts []string
	for _, w := range []string{"safe", "inherent", "blocks", "defect", "unknown"} {
		if n := c.words[w]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", w, n))
		}
	}
	var rules []string
	for r, n := range c.rules {
		rules = append(rules, fmt.Sprintf("%s %d", r, n))
	}
	slices.Sort(rules)
	text := strings.Join(parts, ", ")
	if len(rules) > 0 {
		text += " (" + strings.Join(rules, ", ") + ")"
	}
	return text
}

func librariesPage(seeds int, variants []suite.Variant, cat *harness.Catalogue, cells map[string]*cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Libraries under faults, as measured

<!-- Written by `+"`make libraries`"+`. Do not edit. -->

Each row is runs of 4 s with the seeds 1 to %d (1 to %d where the discipline is not told). How runs ended: safe, inherent (to leases), blocks, defect, or
unknown; in brackets how many of them had findings of which rule. "Told late" is the latest signal after the end of a
lease (discipline told), or after the next grant. What the findings mean stands in [libraries.md](libraries.md).
Measured on a machine with %s.

| variant | discipline | fault | runs | told late | acquire p99 |
| --- | --- | --- | --- | --- | --- |
`, seeds, fewSeeds, cpus())
	for _, v := range variants {
		for _, d := range v.Disciplines() {
			for _, c := range v.Libraries(cat, d) {
				one := cells[c.Name]
				fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s |\n", v.Name, d, c.Run.Nemesis[0], one.text(), ms(one.late), ms(one.acquire))
			}
		}
	}
	b.WriteString("\nThe commands: `lockstorm run FLAGS --discipline DISCIPLINE --nemesis FAULT --time 4s --seed N`, with these flags:\n\n")
	for _, v := range variants {
		fmt.Fprintf(&b, "- %s: `%s`\n", v.Name, v.Line)
	}
	return b.String()
}

func ms(ns int64) string {
	if ns == 0 {
		return "-"
	}
	return fmt.Sprintf("%d ms", time.Duration(ns).Milliseconds())
}
