package backends

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/lockstorm/lockstorm/internal/catalog"
)

// ParamArguments is the value that keeps the arguments behind --, as JSON. Users cannot set it as a parameter.
const ParamArguments = "--"

// ParamDescription is the value by which clients learn what the backend said of itself before. Users cannot set it as
// a parameter.
const ParamDescription = "--said"

// Arguments returns the arguments behind --.
func Arguments(v Values) (args []string, err error) {
	if text := v[ParamArguments]; text != "" {
		err = json.Unmarshal([]byte(text), &args)
	}
	return args, err
}

// Choose returns the backend for "name" or "name:key=value,...", made with these parameters and with args where it
// takes some, and the values of all its parameters.
func Choose(c *Catalogue, text string, args ...string) (Spec, Values, error) {
	name, rest := catalog.Split(text)
	s, err := c.Get(name)
	if err != nil {
		return s, nil, err
	}
	told := rest
	if s.OwnParams {
		told = catalog.Only(rest, s.Params)
	}
	v, err := catalog.Parse("backend "+name, told, s.Params)
	if err != nil {
		return s, v, err
	}
	if len(args) > 0 {
		if !s.Arguments {
			return s, v, fmt.Errorf("backend %s takes no arguments, and %q is not a flag: remove this word", name, args[0])
		}
		b, err := json.Marshal(args)
		if err != nil {
			return s, v, err
		}
		v[ParamArguments] = string(b)
	}
	s, err = s.as(v)
	if err != nil || !s.OwnParams {
		return s, v, err
	}
	all, err := catalog.Parse("backend "+name, rest, s.Params)
	if err != nil {
		return s, v, err
	}
	maps.Copy(all, v) // the arguments, too
	return s, all, nil
}

// Made returns the named backend, made with values that were parsed before.
func Made(c *Catalogue, name string, v Values) (Spec, error) {
	s, err := c.Get(name)
	if err != nil {
		return s, err
	}
	return s.as(v)
}

func (s Spec) as(v Values) (Spec, error) {
	if s.With == nil {
		return s, nil
	}
	made, err := s.With(s, v)
	if err != nil {
		return made, fmt.Errorf("backend %s: %w", s.Name, err)
	}
	return made, nil
}
