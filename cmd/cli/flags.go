package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// atLeast is a whole number from a least one on. What stands for nothing given is set before and need not
// keep to it.
type atLeast struct {
	value *int
	least int
}

// number adds a flag of a whole number from a least one on.
func number(f *pflag.FlagSet, value *int, name string, least, def int, usage string) {
	*value = def
	f.Var(atLeast{value, least}, name, usage)
	if def < least {
		f.Lookup(name).DefValue = "" // it is said in words
	}
}

// String is the number.
func (a atLeast) String() string { return strconv.Itoa(*a.value) }

// Type is what help shows.
func (a atLeast) Type() string { return "int" }

// Set reads it.
func (a atLeast) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < a.least {
		return fmt.Errorf("want a whole number from %d on", a.least)
	}
	*a.value = n
	return nil
}

// longer is a duration above zero.
type longer struct{ value *time.Duration }

// positive adds a flag of a duration above zero.
func positive(f *pflag.FlagSet, value *time.Duration, name, usage string) {
	f.Var(longer{value}, name, usage)
	f.Lookup(name).DefValue = ""
}

// String is the duration.
func (l longer) String() string { return l.value.String() }

// Type is what help shows.
func (l longer) Type() string { return "duration" }

// Set reads it.
func (l longer) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return fmt.Errorf("want a duration above 0, as 90s or 10m")
	}
	*l.value = d
	return nil
}
