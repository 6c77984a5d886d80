package plan

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// text is a word of the file, and where it stands.
type text struct {
	Value string
	Line  int
}

// meant is what an alias stands for.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// UnmarshalYAML reads any scalar as it is written: 5 and "5" are the same.
func (t *text) UnmarshalYAML(n *yaml.Node) error {
	n = meant(n)
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: the value has the wrong form: write a single value", n.Line)
	}
	t.Value, t.Line = n.Value, n.Line
	return nil
}

// list is one word, or several.
type list []text

// UnmarshalYAML reads a scalar or a sequence of scalars.
func (l *list) UnmarshalYAML(n *yaml.Node) error {
	n = meant(n)
	if n.Kind == yaml.ScalarNode {
		*l = list{{n.Value, n.Line}}
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: the value has the wrong form: write a single value or a list of values", n.Line)
	}
	for _, c := range n.Content {
		var t text
		if err := t.UnmarshalYAML(c); err != nil {
			return err
		}
		*l = append(*l, t)
	}
	return nil
}

// seeds are a number N, for the seeds 1 to N, or a list of single seeds.
type seeds struct {
	words  list
	single bool
}

// UnmarshalYAML reads a scalar or a sequence of scalars.
func (s *seeds) UnmarshalYAML(n *yaml.Node) error {
	s.single = n.Kind == yaml.SequenceNode
	return s.words.UnmarshalYAML(n)
}

// values are those of one flag: each is the words of one choice.
type values struct {
	flag    text
	choices []list
}

// flags are values by the name of a flag of `run`, in the order of the file.
type flags []values

// UnmarshalYAML reads a mapping; a value is a word, or a list of choices, of which each is a word or,
// of a flag that may be given several times, a list of words.
func (f *flags) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: the value has the wrong form: write flags of lockstorm run as keys and values, for example "+
			"backend: redis-lua", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var v values
		if err := v.flag.UnmarshalYAML(n.Content[i]); err != nil {
			return err
		}
		for _, before := range *f {
			if before.flag.Value == v.flag.Value {
				return fmt.Errorf("line %d: the key `%s` appears twice: remove one of the two", v.flag.Line, v.flag.Value)
			}
		}
		nodes := []*yaml.Node{meant(n.Content[i+1])}
		if nodes[0].Kind == yaml.SequenceNode {
			nodes = nodes[0].Content
		}
		for _, c := range nodes {
			var choice list
			if err := choice.UnmarshalYAML(c); err != nil {
				return err
			}
			if len(choice) == 0 {
				return fmt.Errorf("line %d: the list is empty: remove the key `%s`", c.Line, v.flag.Value)
			}
			v.choices = append(v.choices, choice)
		}
		if len(v.choices) == 0 {
			return fmt.Errorf("line %d: the key `%s` has no values: add a value, or remove the key", v.flag.Line, v.flag.Value)
		}
		*f = append(*f, v)
	}
	return nil
}

// at puts the place of a thing before its error.
func (f *File) at(line int, err error) error {
	return fmt.Errorf("%s:%d: %w", f.path, line, err)
}

// located puts the name of the file before what the decoder says, once for each error, and in the words
// of this file.
func located(path string, err error) error {
	var all *yaml.TypeError
	if !errors.As(err, &all) {
		return placed(path, err.Error())
	}
	var out []error
	for _, one := range all.Errors {
		if !ofUser.MatchString(one) {
			out = append(out, placed(path, one))
		}
	}
	return errors.Join(out...)
}

// ofUser matches the decoder's error for a key that a suite does not read: such keys are for anchors and notes.
var ofUser = regexp.MustCompile(`^line \d+: field x-\S* not found in type `)

// unfit is what the decoder says of a value that is no mapping where one belongs.
var unfit = regexp.MustCompile(`^(line \d+: )cannot unmarshal !!(\w+)(?: .*)? into (?:plan\.\w+|struct .*)$`)

// kinds are the values of YAML in words.
var kinds = map[string]string{
	"seq": "a list", "str": "a text", "int": "a number", "float": "a number",
	"bool": "a value that is true or false", "map": "a mapping", "null": "an empty value",
}

// keys are all that a suite file can have, wherever.
func keys() (out []string) {
	for _, of := range []any{File{}, inclusion{}, Rule{}, coverage{}} {
		t := reflect.TypeOf(of)
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
				out = append(out, name)
			}
		}
	}
	return out
}

func placed(path, msg string) error {
	msg = strings.TrimPrefix(msg, "yaml: ")
	if i := strings.Index(msg, " not found in type "); i >= 0 {
		before, key, _ := strings.Cut(msg[:i], "field ")
		msg = before + "unknown key `" + key + "`"
		if hint := catalog.Nearest(key, keys()); hint != "" {
			msg += fmt.Sprintf(" (did you mean %s?)", hint)
		}
	}
	if m := unfit.FindStringSubmatch(msg); m != nil {
		msg = m[1] + kinds[m[2]] + " is not allowed here: write keys and values, for example name: my-locks"
	}
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			return fmt.Errorf("%s:%s: %s", path, number, what)
		}
	}
	return fmt.Errorf("%s: %s", path, msg)
}

// String is a description as it is written.
func (f flags) String() string {
	parts := make([]string, len(f))
	for i, v := range f {
		words := lists.Map(v.choices, joined)
		parts[i] = v.flag.Value + ": " + strings.Join(words, ", ")
	}
	return "`" + strings.Join(parts, "; ") + "`"
}
