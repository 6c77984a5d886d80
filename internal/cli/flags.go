package cli

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/catalog"
)

// once is a flag of one value: a second one would take the place of the first in silence.
type once struct {
	pflag.Value

	given bool
}

// Set takes one value.
func (o *once) Set(s string) error {
	if o.given {
		return errTwice
	}
	o.given = true
	return o.Value.Set(s)
}

var errTwice = errors.New("this flag is given twice: remove one of the two")

// onceEach makes every flag of one value refuse a second one, in all verbs. Switches may be given again.
func onceEach(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, many := f.Value.(pflag.SliceValue); !many && f.Value.Type() != "bool" {
				f.Value = &once{Value: f.Value}
				if f.DefValue == "0s" || f.DefValue == "0" { // help takes these for what they are only in types that it knows
					f.DefValue = ""
				}
			}
		})
	}
}

// plainFlagError says what is wrong with a flag, in place of the message of a Go function.
func (a *App) plainFlagError(err error) error {
	var bad *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &unknown):
		return a.unknownFlag(unknown)
	case !errors.As(err, &bad):
		return err
	case errors.Is(err, errTwice):
		return fmt.Errorf("--%s %q: %w", bad.GetFlag().Name, bad.GetValue(), errTwice)
	}
	value := bad.GetFlag().Value
	if o, ok := value.(*once); ok {
		value = o.Value
	}
	if _, ours := value.(checked); ours {
		return fmt.Errorf("--%s %s: %w", bad.GetFlag().Name, bad.GetValue(), errors.Unwrap(bad))
	}
	want := map[string]string{
		"int": "a whole number", "uint64": "a whole number, 0 or more", "bool": "true or false",
		"duration": "a duration, such as 750ms or 1m30s",
	}[value.Type()]
	switch {
	case want == "":
		return err
	case value.Type() == "duration" && overflows(bad.GetValue()):
		return fmt.Errorf("--%s %s: the duration is too long: choose a shorter one", bad.GetFlag().Name, bad.GetValue())
	}
	return fmt.Errorf("--%s %q: the value must be %s", bad.GetFlag().Name, bad.GetValue(), want)
}

// overflows reports whether a text is a duration, but for its length.
func overflows(text string) bool {
	unit := len(text) - 1
	for unit > 0 && (text[unit] < '0' || text[unit] > '9') {
		unit--
	}
	if unit < 0 || unit == len(text)-1 {
		return false
	}
	_, err := time.ParseDuration("1" + text[unit+1:])
	_, number := strconv.ParseFloat(text[:unit+1], 64)
	return err == nil && number == nil
}

// unknownFlag names the flag of the verb that may have been meant.
func (a *App) unknownFlag(unknown *pflag.NotExistError) error {
	cmd, _, err := a.root().Find(a.st.Args)
	if err != nil {
		return unknown
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := catalog.DidYouMean(unknown.GetSpecifiedName(), names)
	if hint == "" {
		return unknown
	}
	return fmt.Errorf("unknown flag --%s: did you mean --%s?", unknown.GetSpecifiedName(),
		catalog.Nearest(unknown.GetSpecifiedName(), names))
}

// checked is a flag whose value is read by set, of the type that help shows. What stands for nothing given is set before and need
// not keep to what set asks.
type checked struct {
	kind string
	text func() string
	set  func(string) error
}

// Number adds a flag of a whole number from a least one on.
func Number(f *pflag.FlagSet, value *int, name string, least, def int, usage string) {
	*value = def
	f.Var(checked{"int", func() string { return strconv.Itoa(*value) }, func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return fmt.Errorf("the value must be a whole number, %d or more", least)
		}
		*value = n
		return nil
	}}, name, usage)
	if def < least {
		f.Lookup(name).DefValue = "" // it is said in words
	}
}

// positive adds a flag of a duration above zero.
func positive(f *pflag.FlagSet, value *time.Duration, name, usage string) {
	f.Var(checked{"duration", func() string { return value.String() }, func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return errors.New("the value must be a duration above 0, such as 90s or 10m")
		}
		*value = d
		return nil
	}}, name, usage)
	f.Lookup(name).DefValue = ""
}

// String is the value.
func (c checked) String() string { return c.text() }

// Type is what help shows.
func (c checked) Type() string { return c.kind }

// Set reads the value.
func (c checked) Set(s string) error { return c.set(s) }
