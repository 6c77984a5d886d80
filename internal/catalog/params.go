package catalog

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Param is one parameter: its name, default (empty: chosen by the thing itself) and
// what it means.
type Param struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Doc     string `json:"doc"`

	Choices []string `json:"-"` // all its values; none: it has others than words
}

// Values are given and default parameters by name.
type Values map[string]string

// Split parts a spec into its name and the text of its parameters. A colon without any is
// an unfinished spec: its text is a comma, which Parse refuses.
func Split(spec string) (name, rest string) {
	name, rest, colon := strings.Cut(spec, ":")
	if colon && rest == "" {
		rest = ","
	}
	return name, rest
}

// Parse reads key=value pairs separated by commas and fills in defaults. what is said in
// front of errors: an unknown key is one that names the valid ones, a key that is given twice
// another.
func Parse(what, text string, valid []Param) (Values, error) {
	v := Values{}
	names := make([]string, len(valid))
	for i, p := range valid {
		names[i] = p.Name
		v[p.Name] = p.Default
	}
	if text == "" {
		return v, nil
	}
	given := map[string]bool{}
	if text == "," {
		return nil, fmt.Errorf("%s has nothing after its colon: write name:key=value, or leave out the colon", what)
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, val, ok := strings.Cut(pair, "=")
		if _, known := v[key]; !known {
			if len(names) == 0 {
				return nil, fmt.Errorf("%s takes no parameters, but the command gives %q", what, pair)
			}
			if len(names) == 1 && !ok {
				return nil, fmt.Errorf("%s has no parameter %q: write %s=%s", what, key, names[0], key)
			}
			return nil, fmt.Errorf("%s has no parameter %q: %schoose from %s", what, key, DidYouMean(key, names),
				strings.Join(names, ", "))
		}
		if !ok || val == "" {
			return nil, fmt.Errorf("parameter %q of %s needs a value, as in %s=VALUE", key, what, key)
		}
		if given[key] {
			return nil, fmt.Errorf("parameter %q of %s is given twice", key, what)
		}
		given[key], v[key] = true, val
	}
	if err := v.Chosen(valid); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// Chosen refuses a value that is none of its parameter's choices.
func (v Values) Chosen(params []Param) error {
	for _, p := range params {
		val, has := v[p.Name]
		if last := len(p.Choices) - 1; has && last > 0 && !slices.Contains(p.Choices, val) {
			return fmt.Errorf("%s=%s: choose %s or %s", p.Name, val, strings.Join(p.Choices[:last], ", "), p.Choices[last])
		}
	}
	return nil
}

// Only is the part of a text of parameters that has these names, for [Parse].
func Only(text string, valid []Param) string {
	pairs := slices.DeleteFunc(strings.Split(text, ","), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return !slices.ContainsFunc(valid, func(p Param) bool { return p.Name == key })
	})
	return strings.Join(pairs, ",")
}

// maxLength bounds every length: no run is longer than a day.
const maxLength = 24 * time.Hour

// Length reads a duration or a multiple of the ttl ("1.5ttl"); an absent one is 0.
func (v Values) Length(name string, ttl time.Duration) (time.Duration, error) {
	text := v[name]
	if text == "" {
		return 0, nil
	}
	bad := fmt.Errorf("%s=%s is not a length of time: write a duration (750ms) or a multiple of the time to live (1.5ttl)", name,
		text)
	tooLong := fmt.Errorf("%s=%s is too long: the maximum is %v", name, text, maxLength)
	if times, ok := strings.CutSuffix(text, "ttl"); ok {
		f, err := strconv.ParseFloat(times, 64)
		if err != nil || math.IsNaN(f) || f < 0 {
			return 0, bad
		}
		if f*float64(ttl) > float64(maxLength) {
			return 0, tooLong
		}
		return time.Duration(f * float64(ttl)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, bad
	}
	if d > maxLength {
		return 0, tooLong
	}
	return d, nil
}

// Fraction reads a number from 0 to 1.
func (v Values) Fraction(name string) (float64, error) {
	f, err := strconv.ParseFloat(v[name], 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return 0, fmt.Errorf("%s=%s is not a number from 0 to 1", name, v[name])
	}
	return f, nil
}

// Count reads a whole number of at least 1; an absent one is def.
func (v Values) Count(name string, def int) (int, error) {
	if v[name] == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v[name])
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%s is not a whole number of at least 1", name, v[name])
	}
	return n, nil
}

// Whole reads a whole number from 0 to limit.
func (v Values) Whole(name string, limit int) (int, error) {
	n, err := strconv.Atoi(v[name])
	if err != nil || n < 0 || n > limit {
		return 0, fmt.Errorf("%s=%s is not a whole number from 0 to %d", name, v[name], limit)
	}
	return n, nil
}

// YesNo are the choices of a parameter that is on or off.
func YesNo() []string { return []string{"yes", "no"} }

// CheckParams says in a sentence what is wrong with a list of parameters.
func CheckParams(params []Param) error {
	seen := map[string]bool{}
	for _, p := range params {
		switch {
		case !goodName.MatchString(p.Name):
			return fmt.Errorf("%q is not a valid name for a parameter: use lower case words joined by -", p.Name)
		case seen[p.Name]:
			return fmt.Errorf("two parameters are named %q", p.Name)
		case strings.TrimSpace(p.Doc) == "":
			return fmt.Errorf("parameter %q has no description: set its field Doc", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}
