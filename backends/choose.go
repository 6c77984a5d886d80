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
	if err != nil {
		return s, v, err
	}
	s, err = s.as(v)
	return s, v, err
}

// Made is the backend of a name as values make it that were parsed before.
func Made(c *Catalogue, name string, v catalog.Values) (Spec, error) {
	s, err := c.Get(name)
	if err != nil {
		return s, err
	}
	return s.as(v)
}

func (s Spec) as(v catalog.Values) (Spec, error) {
	if s.With == nil {
		return s, nil
	}
	made, err := s.With(s, v)
	if err != nil {
		return made, fmt.Errorf("backend %s: %w", s.Name, err)
	}
	return made, nil
}
