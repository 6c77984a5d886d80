package tables

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// budgets are how many words a page may have.
var budgets = map[string]int{
	"faults": 2500, "backends": 3000, "libraries": 5500,
	"matrix": 600, "choosing": 900, "libraries-measured": 500, "adapters-measured": 500, "databases": 500,
	"ensembles": 500, "releases": 500,
	"track-record": 520, "versions": 500, "containers": 500, "defaults": 500, "claims": 2500,
}

// written are how many words a page that is written by hand may have, as wc -w counts.
var written = map[string]int{
	"README": 450, "docs/README": 200, "docs/glossary": 400, "docs/semantics": 5000, "docs/hunt": 1500,
	"docs/extending": 2500, "docs/own-lock": 900, "docs/suite": 2200, "docs/results": 1800, "docs/adapters": 1800,
	"docs/explore": 900, "docs/campaigns": 1200, "docs/ci": 900, "docs/providers": 1200, "docs/try": 700,
	"docs/cli": 600, "docs/inconclusive": 600, "docs/operations": 900, "docs/proof": 900, "docs/shrink": 450,
	"docs/leader-election": 1000,
}

// word has a letter: figures, signs and the lines of a table are no words.
var (
	target = regexp.MustCompile(`\]\([^)]*\)`)
	word   = regexp.MustCompile(`[^\s|]*\pL[^\s|]*`)
)

// A reader finds what he looks for: what is measured is in the data, and what is common is told once.
func TestWordsOfPages(t *testing.T) {
	for page, most := range budgets {
		text, err := os.ReadFile("../../../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(word.FindAll(target.ReplaceAll(text, []byte("]")), -1)); n > most {
			t.Errorf("docs/%s.md has %d words: at most %d", page, n, most)
		}
	}
}

// A reader gets an answer in a minute.
func TestWordsOfWrittenPages(t *testing.T) {
	for page, most := range written {
		text, err := os.ReadFile("../../../" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(string(text))); n > most {
			t.Errorf("%s.md has %d words: at most %d", page, n, most)
		}
		if before, _, found := strings.Cut(string(text), "\n# Reference\n"); found && len(strings.Fields(before)) > 1200 {
			t.Errorf("%s.md has %d words before its reference: at most 1200", page, len(strings.Fields(before)))
		}
	}
}

// A bug of a library is told in 150 words or fewer, its command included, and is in the index above all sections.
func TestSectionsOfLibraries(t *testing.T) {
	text, err := os.ReadFile("../../../docs/libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	index, rest, _ := strings.Cut(string(text), "\n## Tested versions\n")
	sections := strings.Split(rest, "\n## ")[1:]
	if len(sections) < 40 {
		t.Fatalf("docs/libraries.md has %d sections", len(sections))
	}
	for _, s := range sections {
		title, body, _ := strings.Cut(s, "\n")
		if n := len(strings.Fields(body)); n > 150 {
			t.Errorf("docs/libraries.md: %q has %d words: at most 150", title, n)
		}
		if tells := !strings.HasPrefix(title, "Measurements") && !strings.HasPrefix(title, "Libraries"); tells &&
			!strings.Contains(index, "(#"+anchor(title)+")") {
			t.Errorf("docs/libraries.md: %q is not in the index", title)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s:]*)\)`) // without those to other hosts
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
)

// Links of pages lead to files, and to headings, that there are.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../../../README.md", "../../../CONTRIBUTING.md", "../../../ARCHITECTURE.md")
	anchors := func(page string) map[string]bool {
		out := map[string]bool{}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			out[anchor(m[1])] = true
		}
		return out
	}
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			seen++
			file, at, _ := strings.Cut(m[1], "#")
			path := filepath.Join(filepath.Dir(page), file)
			if file == "" {
				path = page
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[1])
			} else if at != "" && strings.HasSuffix(path, ".md") && !anchors(path)[at] {
				t.Errorf("%s: %s has no heading %s", page, file, at)
			}
		}
	}
	if seen < 300 {
		t.Errorf("%d links were looked at", seen)
	}
}
