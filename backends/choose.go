package backends

import (
	"fmt"

	"github.com/lockstorm/lockstorm/catalog"
)

// Choose finds the backend of "name" or "name:key=value,...", as its parameters make it, with
// the values of all of them.
func Choose(c *Catalogue, text string) (Spec, catalog.Values, error) {
	name, rest := catalog.Split(text)
	s, err := c.Get(name)
	if err != nil {
		return s, nil, err
	}
	v, err := catalog.Parse("backend "+name, rest, s.Params)
	if err != nil || s.With == nil {
		return s, v, err
	}
	if s, err = s.With(s, v); err != nil {
		return s, v, fmt.Errorf("backend %s: %w", name, err)
	}
	return s, v, nil
}
