package search

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Files of a search, in its directory.
const (
	CorpusFile     = "corpus.jsonl"
	ViolationsFile = "violations.json"
)

// Entry is a genome that did something new.
type Entry struct {
	Genome   Genome   `json:"genome"`
	Features []uint64 `json:"features"` // that were new
	Margin   int64    `json:"margin_ns"`
	Violated bool     `json:"violated,omitempty"`

	children int
	foreign  bool // it is from another search
}

// mostFeatures bounds the features that are remembered.
const mostFeatures = 1 << 17

// corpus is what a search has learnt.
type corpus struct {
	entries []*Entry
	seen    map[uint64]int // features, and how many runs had them
	file    *os.File
}

// openCorpus reads the corpus of a directory, if there is one, and goes on with it. A line that was cut off by a kill is left
// out.
func openCorpus(dir string) (*corpus, error) {
	path := filepath.Join(dir, CorpusFile)
	c := &corpus{seen: map[uint64]int{}}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	lines := bufio.NewScanner(bytes.NewReader(b[:whole]))
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		e := &Entry{}
		if err := json.Unmarshal(lines.Bytes(), e); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", path, n, err)
		}
		c.entries = append(c.entries, e)
		for _, f := range e.Features {
			c.seen[f]++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := os.Truncate(path, int64(whole)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return c, err
}

// learn remembers the behaviour of an entry, by what is new in it; then its genome becomes a parent. What another search has seen
// counts only where it is new.
func (c *corpus) learn(e Entry) (fresh int, err error) {
	all := e.Features
	e.Features = nil
	for _, f := range all {
		switch {
		case c.seen[f] == 0 && len(c.seen) < mostFeatures:
			e.Features = append(e.Features, f)
			c.seen[f] = 1
		case c.seen[f] > 0 && !e.foreign:
			c.seen[f]++
		}
	}
	if len(e.Features) == 0 {
		return 0, nil
	}
	c.entries = append(c.entries, &e)
	line, err := json.Marshal(e)
	if err == nil {
		_, err = c.file.Write(append(line, '\n'))
	}
	return len(e.Features), err
}

// The ways in which a parent is chosen.
const (
	tournament = 3
	nearest    = 8
	nearTurn   = 3 // one choice of so many is by margin
	knownWorth = 0.3
)

// parent chooses one: one time in three one of those that came nearest to a violation without one, else the one of a few that has
// the rarest behaviour and the fewest children. What has shown a violation is known, and leads to it again.
func (c *corpus) parent(rnd *rand.Rand) *Entry {
	if len(c.entries) == 0 {
		return nil
	}
	var e *Entry
	near := slices.DeleteFunc(slices.Clone(c.entries), func(e *Entry) bool { return e.Violated })
	if len(near) > 0 && rnd.IntN(nearTurn) == 0 {
		slices.SortStableFunc(near, func(a, b *Entry) int {
			return cmp.Compare(a.Margin+int64(a.children)*childCost, b.Margin+int64(b.children)*childCost)
		})
		e = near[rnd.IntN(min(nearest, len(near)))]
	} else {
		best := -1.0
		for range tournament {
			o := c.entries[rnd.IntN(len(c.entries))]
			rare := 0.0
			for _, f := range o.Features {
				rare += 1 / float64(c.seen[f])
			}
			if o.Violated {
				rare *= knownWorth
			}
			if score := rare / float64(1+o.children); score > best {
				best, e = score, o
			}
		}
	}
	e.children++
	return e
}

// childCost is the nearness, in ns, that a child of an entry costs it: others get their turn.
const childCost = 5e6
