package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// Merge makes one suite of the parts of one that were run apart: in shards, or in pieces. The runs stay
// where they are. Parts that were killed are taken with what they have.
func Merge(dirs []string, out string) (*Suite, error) {
	var all *Suite
	for _, dir := range dirs {
		part, err := Load(dir)
		if err != nil {
			return nil, err
		}
		for i := range part.Outcomes {
			o := &part.Outcomes[i]
			if o.Dir, err = files.Relative(out, filepath.Join(dir, o.Dir)); err != nil {
				return nil, err
			}
		}
		if all == nil {
			all = part
			continue
		}
		if err := all.join(part, dir); err != nil {
			return nil, err
		}
	}
	if all == nil {
		return nil, errors.New("no suite directories given: lockstorm merge DIR... --out DIR")
	}
	all.Dir, all.Missing, all.merged = out, all.missing(), true
	return all, nil
}

// missing are the cells of the whole that are in no part, each with the shards that are not there.
func (s *Suite) missing() (out []string) {
	for _, name := range s.Whole {
		if !slices.ContainsFunc(s.Cells, func(d plan.Cell) bool { return d.Case.Name == name }) {
			out = append(out, "cell "+name)
		}
	}
	if len(out) > maxMissing {
		out = append(out[:maxMissing], checker.Count(len(out)-maxMissing, "more cell"))
	}
	for _, shard := range absent(s.Shard) {
		out = append(out, "shard "+shard)
	}
	return out
}

// maxMissing bounds the cells that are named.
const maxMissing = 10

// absent are the shards of a suite that are not among those named, as in "1/3 3/3".
func absent(shards string) (out []string) {
	there := strings.Fields(shards)
	if len(there) == 0 {
		return nil
	}
	_, of, _ := strings.Cut(there[0], "/")
	n, err := strconv.Atoi(of)
	if err != nil {
		return nil // it was not sharded
	}
	for i := range n {
		if name := fmt.Sprintf("%d/%d", i+1, n); !slices.Contains(there, name) {
			out = append(out, name)
		}
	}
	return out
}

// same says why a part is not of the same suite; nil: it is.
func (s *Suite) same(part *Suite, dir string) error {
	differs := func(what, is, was string) error {
		return fmt.Errorf("cannot merge: %[1]s was made with %[2]s %[3]s, but %[4]s was made with %[2]s %[5]s: run all shards with "+
			"the same program, suite file and --replace", dir, what, is, s.Dir, was)
	}
	switch {
	case part.Name != s.Name:
		return differs("the suite", part.Name, s.Name)
	case part.Source != s.Source:
		return fmt.Errorf("cannot merge: %s was made from another version of the suite file %s than the other shards (compare the "+
			"field `source` in the files %s of the shards)", dir, s.Name, DefinitionFile)
	case !maps.Equal(part.Replaced, s.Replaced):
		return differs("--replace", replacements(part), replacements(s))
	case part.Version != s.Version:
		return differs("lockstorm", part.Version, s.Version)
	case part.WholeSum != s.WholeSum:
		return fmt.Errorf("cannot merge: %s (shard of a suite with %d cells) and %s (shard of a suite with %d cells) have different "+
			"cells or seeds: run all shards with the same program, suite file and --seeds", dir, len(part.Whole), s.Dir, len(s.Whole))
	}
	return nil
}

func (s *Suite) join(part *Suite, dir string) error {
	if err := s.same(part, dir); err != nil {
		return err
	}
	s.Shard = strings.TrimSpace(s.Shard + " " + part.Shard)
	if part.Started.Before(s.Started) {
		s.Started = part.Started
	}
	var double []string
	for _, c := range part.Cells {
		switch has := slices.ContainsFunc(s.Cells, func(d plan.Cell) bool { return d.Case.Name == c.Case.Name }); {
		case !has:
			s.Cells = append(s.Cells, c)
		case !c.Control: // each machine has its own controls
			double = append(double, c.Case.Name)
		}
	}
	if len(double) > 0 {
		return fmt.Errorf("cannot merge: %s has cells that another shard also has (%s); name each shard only once", dir,
			strings.Join(double, ", "))
	}
	slices.SortFunc(s.Cells, func(a, b plan.Cell) int { return cmp.Compare(a.Place, b.Place) })
	s.Outcomes = append(s.Outcomes, part.Outcomes...)
	return nil
}

// replacements are the locks that stand in for others, as on the command line.
func replacements(s *Suite) string {
	out := lists.Map(sortedKeys(s.Replaced), func(name string) string { return name + "=" + s.Replaced[name] })
	return cmp.Or(strings.Join(out, " "), "(no lock)")
}
