// Package plan reads suite files: which runs a suite is made of, and what must come of them. A file is
// expanded into cells without running anything; whatever cannot be, unknown names and pairs that
// cannot work included, is an error with its line.
//
//	lockstorm.yaml -> Read -> File -> Cells(catalogue) -> []Cell, each a suite.Case with seeds
package plan

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/suite"
)

// File is a suite file as it is written. docs/suite.md tells what its keys mean.
type File struct {
	Name       text        `yaml:"name"`
	Doc        text        `yaml:"doc"`
	Compare    text        `yaml:"compare"` // true: nothing is expected, its locks are compared
	Seeds      seeds       `yaml:"seeds"`   // a number: 1 to that; a list: those
	Budget     text        `yaml:"budget"`  // of time; what has not begun then is not run
	Missing    text        `yaml:"missing"`
	Impossible text        `yaml:"impossible"`
	Run        flags       `yaml:"run"`  // for every cell of the axes
	Axes       flags       `yaml:"axes"` // their product
	Include    []inclusion `yaml:"include"`
	Exclude    []flags     `yaml:"exclude"`
	Expect     []Rule      `yaml:"expect"`
	Thresholds list        `yaml:"thresholds"`
	Coverage   coverage    `yaml:"coverage"`

	path   string
	source []byte
	seeds  []uint64 // in place of those of the file; nil: those of the file
}

// inclusion are cells beside those of the axes: cases that exist already, one run, a search, or a run that was kept.
type inclusion struct {
	Cases   text      `yaml:"cases"` // the name of a set: see Sets
	Only    list      `yaml:"only"`  // of the set; globs
	Name    text      `yaml:"name"`
	Doc     text      `yaml:"doc"`
	Source  text      `yaml:"source"` // who said so
	Run     flags     `yaml:"run"`
	Axes    flags     `yaml:"axes"`    // one cell for each combination
	Explore yaml.Node `yaml:"explore"` // in place of one run: see exploring
	Trial   text      `yaml:"trial"`   // the trial.json of a run, from the folder of this file
	Seeds   seeds     `yaml:"seeds"`
	Rule    `yaml:",inline"`
}

// exploring is a search, as a file has it.
type exploring struct {
	For     text `yaml:"for"`
	Only    list `yaml:"only"`    // faults
	Without list `yaml:"without"` // faults
	Vary    list `yaml:"vary"`    // options of the lock
}

// Rule is what must come of cells.
type Rule struct {
	Of         flags           `yaml:"of"` // which cells, by the flags of their runs; globs. Nothing: all
	Outcome    text            `yaml:"outcome"`
	Exit       list            `yaml:"exit"` // codes, in place of an outcome
	Checks     answers         `yaml:"checks"`
	Classes    answers         `yaml:"classes"` // of all findings of a check
	Rules      map[string]list `yaml:"rules"`   // that a check must find
	Figures    list            `yaml:"figures"` // bounds of what results.json has of one run
	Thresholds list            `yaml:"thresholds"`
	_          struct{}        `yaml:"-"`
}

// answers are what checks must say.
type answers map[string]text

// coverage is what must have been shown for the suite to count.
type coverage struct {
	Backends  list `yaml:"backends"`
	Nemeses   list `yaml:"nemeses"`
	Exposures text `yaml:"exposures"` // in each cell with faults, at least
}

// What becomes of cells whose servers are not here, or which cannot work at all.
const (
	Fail = "fail"
	Skip = "skip"
)

// Read parses a suite file. The name is for messages.
func Read(name string, source []byte) (*File, error) {
	f := &File{path: name, source: source}
	d := yaml.NewDecoder(bytes.NewReader(source))
	d.KnownFields(true)
	switch err := d.Decode(f); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("the suite file %s is empty: `lockstorm init` writes a suite file to start from", name)
	case err != nil:
		if err := located(name, err); err != nil {
			return nil, err
		}
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the suite file %s has more than one YAML document: remove the lines --- between the documents, or "+
			"split the file", name)
	}
	return f, f.valid()
}

//go:embed init-own.yaml schema.json
var embedded embed.FS

// maxFile bounds a suite file, in bytes.
const maxFile = 1 << 20

// Stdin is the name of the standard input, as a suite file.
const Stdin = "-"

// Open reads a suite file, or a preset by its name; - is the standard input. A file of the name of a preset
// goes first only with a path, as in ./ci.
func Open(b *suite.Collection, name string, stdin io.Reader) (*File, error) {
	if text, ok := b.Presets[name]; ok {
		return Read(name, text)
	}
	var text []byte
	var err error
	if name == Stdin {
		text, err = files.Limited("the standard input", stdin, maxFile)
	} else {
		text, err = files.Read(name, maxFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no suite file and no preset has the name %s (presets: %s): `init` writes a file to start from",
			name, cmp.Or(strings.Join(b.PresetNames(), ", "), "none"))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the suite file: %w (to read a suite from the standard input, write - in place of the "+
			"file name)", err)
	}
	return Read(name, text)
}

// Source is the text that the file was read from.
func (f *File) Source() []byte { return f.source }

// Title is the name of the suite.
func (f *File) Title() string {
	switch {
	case f.Name.Value != "":
		return f.Name.Value
	case f.path == Stdin:
		return "suite"
	}
	return strings.TrimSuffix(path.Base(f.path), path.Ext(f.path))
}

// TimeBudget is how long the suite may take; 0: as long as it needs.
func (f *File) TimeBudget() time.Duration {
	d, _ := time.ParseDuration(f.Budget.Value) // valid has looked at it
	return d
}

// SkipMissing reports whether cells whose servers are not here are skipped.
func (f *File) SkipMissing() bool { return f.Missing.Value == Skip }

func (f *File) valid() error {
	var errs []error
	wrong := func(line int, format string, args ...any) {
		errs = append(errs, f.at(line, fmt.Errorf(format, args...)))
	}
	for _, w := range []text{f.Missing, f.Impossible} {
		if w.Line > 0 && !slices.Contains([]string{Fail, Skip}, w.Value) {
			wrong(w.Line, "%q is not a valid value here: choose %s or %s", w.Value, Fail, Skip)
		}
	}
	f.validWords(wrong)
	if f.Budget.Line > 0 {
		if d, err := time.ParseDuration(f.Budget.Value); err != nil || d <= 0 {
			wrong(f.Budget.Line, "the key `budget` has the value %q: write a duration, for example 90s or 10m", f.Budget.Value)
		}
	}
	if f.Coverage.Exposures.Line > 0 {
		if n, err := strconv.Atoi(f.Coverage.Exposures.Value); err != nil || n < 1 {
			wrong(f.Coverage.Exposures.Line, "the key `exposures` has the value %q: write a whole number, 1 or more",
				f.Coverage.Exposures.Value)
		}
	}
	if len(f.Axes) == 0 && len(f.Include) == 0 {
		errs = append(errs, fmt.Errorf("%s has neither the key `axes` nor the key `include`, so there is nothing to run: add one "+
			"of them", f.path))
	}
	return errors.Join(errs...)
}
