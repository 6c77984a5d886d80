//go:build libraries

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
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

// TestLibraries runs every variant of a library under every fault with LIB_SEEDS seeds (10), some
// under the other disciplines as well, and writes docs/libraries-measured.md anew. LIB_ONLY names
// variants by what their name begins with, and LIB_FAULT a fault likewise: rows of others stay as they are.
func TestLibraries(t *testing.T) {
	seeds, cat := number(t, "LIB_SEEDS", 10), harness.Default()
	path := filepath.Join("..", "docs", "libraries-measured.md")
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	cells := map[string]*cell{}
	t.Run("cases", func(t *testing.T) {
		for _, v := range suite.Variants() {
			for _, d := range v.Disciplines() {
				for _, c := range v.Libraries(cat, d) {
					if !strings.HasPrefix(v.Name, os.Getenv("LIB_ONLY")) || !strings.HasPrefix(c.Run.Nemesis[0], os.Getenv("LIB_FAULT")) {
						continue
					}
					one := &cell{words: map[string]int{}, rules: map[string]int{}}
					cells[c.Name] = one
					for seed := 1; seed <= seeds; seed++ {
						t.Run(fmt.Sprintf("%s/%d", c.Name, seed), func(t *testing.T) {
							t.Parallel()
							one.add(runCase(t, c.Seeded(uint64(seed))))
						})
					}
				}
			}
		}
	})
	if err := os.WriteFile(path, []byte(librariesPage(string(before), cat, cells)), 0o644); err != nil {
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

// librariesPage is the page: rows that were not measured are those of the page before.
func librariesPage(before string, cat *harness.Catalogue, cells map[string]*cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Libraries under faults, as measured

<!-- Written by `+"`make libraries`"+`. Do not edit. -->

Each row is as many runs as it counts, with the seeds from 1 on. How runs ended: safe, inherent (to leases), blocks, defect, or
unknown; in brackets how many of them had findings of which rule. "Told late" is the latest signal after the end of a
lease (discipline told), or after the next grant. What the findings mean stands in [libraries.md](libraries.md).
Measured on a machine with %s.

| variant | discipline | fault | runs | told late | acquire p99 |
| --- | --- | --- | --- | --- | --- |
`, cpus())
	for _, v := range suite.Variants() {
		for _, d := range v.Disciplines() {
			for _, c := range v.Libraries(cat, d) {
				head := fmt.Sprintf("| %s | %s | `%s` |", v.Name, d, c.Run.Nemesis[0])
				if one := cells[c.Name]; one != nil {
					fmt.Fprintf(&b, "%s %s | %s | %s |\n", head, one.text(), ms(one.late), ms(one.acquire))
					continue
				}
				b.WriteString(rowOf(before, head))
			}
		}
	}
	b.WriteString("\nThe commands: `lockstorm run FLAGS --discipline DISCIPLINE --nemesis FAULT --seed N`, with these flags:\n\n")
	for _, v := range suite.Variants() {
		fmt.Fprintf(&b, "- %s: `%s`\n", v.Name, v.Flags())
	}
	return b.String()
}

// rowOf is the row of a page that begins so; where there is none, it is not shown.
func rowOf(page, head string) string {
	for l := range strings.Lines(page) {
		if strings.HasPrefix(l, head) {
			return l
		}
	}
	return ""
}

func ms(ns int64) string {
	if ns == 0 {
		return "-"
	}
	return fmt.Sprintf("%d ms", time.Duration(ns).Milliseconds())
}
