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
			if o.Dir, err = relative(out, filepath.Join(dir, o.Dir)); err != nil {
				return nil, err
			}
		}
		if all == nil {
			all = part
			all.Dir = out
			continue
		}
		if err := all.join(part, dir); err != nil {
			return nil, err
		}
	}
	if all == nil {
		return nil, errors.New("merge what? name the directories of suites")
	}
	all.Absent = absent(all.Shard)
	return all, nil
}

// absent are the shards of a suite that are not among those named, as in "1/3 3/3": cells of theirs are not
// even known.
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

func relative(from, to string) (string, error) {
	a, errA := filepath.Abs(from)
	b, errB := filepath.Abs(to)
	if err := errors.Join(errA, errB); err != nil {
		return "", err
	}
	return filepath.Rel(a, b)
}

func (s *Suite) join(part *Suite, dir string) error {
	if part.Source != s.Source || part.Name != s.Name {
		return fmt.Errorf("%s is of another suite (%s) than the others (%s): only parts of one can be merged", dir, part.Name, s.Name)
	}
	if !maps.Equal(part.Replaced, s.Replaced) {
		return fmt.Errorf("%s was run with --replace %v, and the others with %v: only parts of one suite can be merged", dir, part.Replaced, s.Replaced)
	}
	if part.Version != s.Version {
		return fmt.Errorf("%s was run by lockstorm %s, and the others by %s: only parts of one suite can be merged", dir, part.Version, s.Version)
	}
	s.Shard = strings.TrimSpace(s.Shard + " " + part.Shard)
	if part.Started.Before(s.Started) {
		s.Started = part.Started
	}
	for _, c := range part.Cells {
		switch has := slices.ContainsFunc(s.Cells, func(d Defined) bool { return d.Case.Name == c.Case.Name }); {
		case !has:
			s.Cells = append(s.Cells, c)
		case !c.Control: // each machine has its own controls
			return fmt.Errorf("%s has the cell %s, which another part has as well: merge each part once", dir, c.Case.Name)
		}
	}
	slices.SortFunc(s.Cells, func(a, b Defined) int { return cmp.Compare(a.Place, b.Place) })
	s.Outcomes = append(s.Outcomes, part.Outcomes...)
	return nil
}
