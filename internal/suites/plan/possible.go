package plan

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/explore/search"
)

// check looks whether each cell is possible here.
func (x *expansion) check() {
	for i := range x.cells {
		c := &x.cells[i]
		if err := x.f.settle(x.cat.Catalogue, c); err != nil {
			x.wrong(c.line, "%s: %w", c.Case.Name, err)
		}
		if err := c.Case.Expect.Validate(x.cat.Checks); err != nil {
			x.wrong(c.line, "%s: %w", c.Case.Name, err)
		}
	}
}

// settle says whether a cell is run here or skipped; the error says that it can be neither.
func (f *File) settle(cat *harness.Catalogue, c *Cell) error {
	c.Skip = ""
	err := Possible(cat, *c)
	switch code := harness.CodeOf(err); {
	case code == 0:
		return err
	case code == harness.ExitEnvironment:
		if f.SkipMissing() {
			c.Skip = err.Error()
		}
		return nil
	case slices.Contains(c.Case.Expect.Exit, code): // it expects to be refused
		return nil
	case f.Impossible.Value == Skip:
		c.Skip = err.Error()
		return nil
	}
	return err
}

// Possible says why a cell cannot be run here.
func Possible(cat *harness.Catalogue, c Cell) error {
	switch {
	case c.Case.Trial != nil:
		_, err := harness.ParseTrial(cat, harness.TrialFile, c.Case.Trial, "")
		return err
	case c.Case.Search != nil:
		_, err := search.NewSpace(cat, c.Case.Run, choiceOf(c.Case.Search))
		return err
	}
	return harness.Check(cat, c.Case.Seeded(c.Seeds[0]).Run)
}

// Replace runs another backend in the place of one, with the same expectations: a worse lock must turn a gate
// red. What the old one was skipped for says nothing of the new one.
func (f *File) Replace(cat *harness.Catalogue, cells []Cell, old, replacement string) error {
	name, _ := catalog.Split(replacement)
	if _, err := cat.Backends.Get(name); err != nil {
		return fmt.Errorf("--replace: %w", err)
	}
	found := false
	for i := range cells {
		c := &cells[i]
		if bare, _ := catalog.Split(c.Case.Run.Backend); c.Control || (c.Case.Run.Backend != old && bare != old) {
			continue
		}
		if c.Case.Trial != nil {
			return fmt.Errorf("--replace: cell %s repeats a saved run of backend %s, and a saved run cannot use another backend: "+
				"exclude the cell", c.Case.Name, old)
		}
		found = true
		before := c.Case.Run.Backend
		c.Case.Run.Backend = replacement
		c.Row = row(c.Case.Run) + " (in place of " + before + ")"
		if err := f.settle(cat, c); err != nil {
			return fmt.Errorf("--replace %s=%s: %s: %w", old, replacement, c.Case.Name, err)
		}
	}
	if !found {
		return fmt.Errorf("--replace: no cell of the suite has the backend %s%s", old, catalog.DidYouMean(old, backendsOf(cells)))
	}
	return nil
}

func backendsOf(cells []Cell) (out []string) {
	for _, c := range cells {
		if name, _ := catalog.Split(c.Case.Run.Backend); !c.Control {
			out = append(out, name)
		}
	}
	return out
}
