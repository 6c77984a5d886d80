package plan

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// Cell is a case with its seeds: one place of a matrix, or one of several in it. As JSON it is part of suite.json.
type Cell struct {
	Case       suite.Case        `json:"case"`
	Row        string            `json:"row"`                  // of the matrix: the backend
	Column     string            `json:"column"`               // the faults
	Seeds      []uint64          `json:"seeds"`                // one run each
	Thresholds []tally.Threshold `json:"thresholds,omitempty"` // over all its runs
	Control    bool              `json:"control,omitempty"`    // it shows that the harness is right: see suite.Controls
	Skip       string            `json:"skip,omitempty"`       // why it is not run; empty: it is
	Place      int               `json:"place"`                // among the cells of the whole suite

	line int  // of the file
	set  bool // it is a case that exists in code
}

// maxCells bounds a suite: more is a mistake in its axes.
const maxCells = 5000

// Cells expands the file. Everything that can be known without running is checked: the error names each
// line that is wrong.
func (f *File) Cells(b *suite.Collection) ([]Cell, error) {
	x := f.expand(b, []uint64{1})
	x.coverage()
	if f.Compares() {
		for i := range x.cells {
			x.cells[i].Case.Expect = suite.Expectation{Outcome: suite.Any}
		}
	}
	if len(x.errs) == 0 {
		x.check()
	}
	if len(x.errs) > 0 {
		return nil, errors.Join(x.errs...)
	}
	all := append(controls(b), x.cells...)
	for i := range all {
		all[i].Place = i
	}
	return all, nil
}

// Cases are the cases of the file, in its order. One for which the file names a single seed has it; the others hold with every
// seed.
func (f *File) Cases(b *suite.Collection) (all []suite.Case, err error) {
	x := f.expand(b, nil)
	for _, c := range x.cells {
		if len(c.Seeds) == 1 {
			c.Case = c.Case.Seeded(c.Seeds[0])
		}
		all = append(all, c.Case)
	}
	return all, errors.Join(x.errs...)
}

// expand makes the cells, with the seeds of a cell for which the file names none.
func (f *File) expand(b *suite.Collection, seeds []uint64) *expansion {
	x := &expansion{f: f, cat: b}
	seeds, err := f.seedsOf(f.Seeds, seeds)
	x.complain(err)
	x.seeds = seeds
	if f.seeds != nil {
		x.seeds = f.seeds
	}
	x.axes()
	for _, in := range f.Include {
		x.include(in)
	}
	x.partial = len(x.errs) > 0
	x.exclude()
	for _, r := range f.Expect {
		x.rule(r)
	}
	for _, o := range x.own { // what a cell says of itself goes last
		for i := range x.cells {
			if x.cells[i].Case.Name == o.name {
				x.apply(o.Rule, x.cells[i:i+1])
			}
		}
	}
	all := x.thresholds(f.Thresholds)
	for i := range x.cells {
		x.cells[i].Thresholds = append(x.cells[i].Thresholds, all...)
	}
	return x
}

// expansion is a file on its way to cells.
type expansion struct {
	f     *File
	cat   *suite.Collection
	seeds []uint64
	cells []Cell
	own   []ownRule
	errs  []error
	// partial says that cells are missing for what is wrong before: whoever asks for one of them is right.
	partial bool
}

// ownRule is what an entry of include says of its cell, by the name of the cell.
type ownRule struct {
	Rule
	name string
}

func (x *expansion) complain(err error) {
	if err != nil {
		x.errs = append(x.errs, err)
	}
}

func (x *expansion) wrong(line int, format string, args ...any) {
	x.complain(x.f.at(line, fmt.Errorf(format, args...)))
}

// notHere are the flags of run that a suite says in another way.
var notHere = map[string]string{
	"seed": "write the seeds in the key `seeds`", "out": "remove this key, because the suite itself chooses the directories of " +
		"its runs",
}

// runFlags are those that a suite file can set.
func runFlags() (out []string) {
	new(harness.Config).Flags().VisitAll(func(f *pflag.Flag) {
		if notHere[f.Name] == "" {
			out = append(out, f.Name)
		}
	})
	return append(out, execKey)
}

// set gives a configuration the words of a flag; all of a catalogue are resolved before.
func (x *expansion) set(cfg *harness.Config, flag text, words list) bool {
	if flag.Value == execKey {
		return x.exec(cfg, flag, words)
	}
	fs := cfg.Flags()
	known := fs.Lookup(flag.Value)
	switch {
	case notHere[flag.Value] != "":
		x.wrong(flag.Line, "the key `%s` is not allowed here: %s", flag.Value, notHere[flag.Value])
		return false
	case known == nil:
		x.wrong(flag.Line, "unknown key `%s`: %s`lockstorm run --help` lists the flags that are allowed as keys", flag.Value,
			catalog.DidYouMean(flag.Value, runFlags()))
		return false
	case len(words) > 1 && !many(flag.Value):
		x.wrong(flag.Line, "the key `%s` takes one value, not %d values", flag.Value, len(words))
		return false
	}
	for _, w := range words {
		if err := errors.Join(x.known(flag.Value, w.Value), fs.Set(flag.Value, w.Value)); err != nil {
			x.wrong(w.Line, "%s: %w", flag.Value, err)
			return false
		}
	}
	return true
}

// execKey is a lock in another language, with its arguments: exec: [FILE, ARGUMENT...].
const execKey = "exec"

func (x *expansion) exec(cfg *harness.Config, flag text, words list) bool {
	if len(words) == 0 || words[0].Value == "" {
		x.wrong(flag.Line, "the key `exec` names no program: write for example `exec: [./my-lock.py, an-argument]`")
		return false
	}
	cfg.Backend, cfg.Arguments = harness.ExecBackend(words[0].Value), nil
	if len(words) > 1 {
		cfg.Arguments = words[1:].words()
	}
	return true
}

// many reports whether a flag may be given several times.
func many(flag string) bool { return flag == "nemesis" || flag == "require" }

// known looks a name up in the catalogue, without its parameters.
func (x *expansion) known(flag, word string) error {
	name, _ := catalog.Split(word)
	var err error
	switch flag {
	case "backend":
		_, err = x.cat.Backends.Get(name)
	case "nemesis":
		_, err = x.cat.Nemeses.Get(name)
	case "workload":
		_, err = x.cat.Workloads.Get(name)
	case "topology":
		_, err = x.cat.Topologies.Get(name)
	case "register":
		if x.cat.Registers != nil {
			_, err = x.cat.Registers.Get(name)
		}
	}
	return err
}

// axes makes the product of the axes.
func (x *expansion) axes() {
	if len(x.f.Axes) == 0 {
		return
	}
	base := harness.Defaults()
	for _, v := range x.f.Run {
		x.set(&base, v.flag, flat(v.choices))
	}
	if base.Backend == "" && !x.f.Axes.haveLock() {
		x.wrong(x.f.Axes[0].flag.Line, "the key `backend` is missing under `axes`: add for example `backend: redis-lua`")
		return
	}
	x.product(base, x.f.Axes, nil, func(cfg harness.Config, chosen flags) {
		x.add(Cell{line: chosen.line(), Case: suite.Case{
			Name: nameOf(cfg, x.f.Axes, chosen), Text: textOf(cfg), Run: cfg, Expect: suite.Expectation{Outcome: suite.Safe},
		}})
	})
}

// haveLock reports whether flags choose the lock.
func (f flags) haveLock() bool {
	return slices.ContainsFunc(f, func(v values) bool { return v.flag.Value == "backend" || v.flag.Value == execKey })
}

// line is where the last value of flags stands.
func (f flags) line() int { return f[len(f)-1].choices[0][0].Line }

// nameOf is the name of a cell by its lock, its faults and what was chosen on other axes.
func nameOf(cfg harness.Config, axes, chosen flags) string {
	parts := []string{slug(lockOf(cfg)), slug(strings.Join(cfg.Nemesis, "-"))}
	for i, v := range chosen {
		if flag := v.flag.Value; flag != "backend" && flag != execKey && flag != "nemesis" && len(axes[i].choices) > 1 {
			parts = append(parts, slug(flag+"-"+joined(v.choices[0])))
		}
	}
	return strings.Join(parts, "/")
}

// textOf is what a cell is about that does not say it.
func textOf(cfg harness.Config) string {
	return lockOf(cfg) + " under " + strings.Join(cfg.Nemesis, " and ")
}

func flat(choices []list) (out list) {
	for _, c := range choices {
		out = append(out, c...)
	}
	return out
}

// product goes through the choices of one axis after the other, and hands on each combination with what was chosen.
func (x *expansion) product(cfg harness.Config, axes, chosen flags, add func(cfg harness.Config, chosen flags)) {
	if len(x.errs) > 0 || len(x.cells) > maxCells {
		return
	}
	if len(axes) == 0 {
		add(cfg, chosen)
		return
	}
	for _, words := range x.all(axes[0]) {
		next := cfg
		if x.set(&next, axes[0].flag, words) {
			x.product(next, axes[1:], append(slices.Clone(chosen), values{axes[0].flag, []list{words}}), add)
		}
	}
}

// all are the choices of an axis; the word all stands for the whole catalogue.
func (x *expansion) all(axis values) []list {
	names := map[string][]string{"backend": x.cat.Backends.Names(), "nemesis": x.cat.Nemeses.Names()}[axis.flag.Value]
	var out []list
	for _, c := range axis.choices {
		if len(c) != 1 || c[0].Value != "all" || names == nil {
			out = append(out, c)
			continue
		}
		for _, n := range names {
			out = append(out, list{{n, c[0].Line}})
		}
	}
	return out
}

func joined(words list) string { return strings.Join(words.words(), "+") }

// words are the values of a list.
func (l list) words() []string { return lists.Map(l, func(w text) string { return w.Value }) }

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// slug is a text as a part of a name.
func slug(s string) string {
	return strings.Trim(notInName.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

// add takes a cell with a name that nobody has.
func (x *expansion) add(c Cell) {
	if slices.ContainsFunc(x.cells, func(d Cell) bool { return d.Case.Name == c.Case.Name }) {
		x.wrong(c.line, "two cells have the name %s: rename or remove one of them", c.Case.Name)
		return
	}
	if len(x.cells) == maxCells {
		x.wrong(c.line, "the suite has more than %d cells: list fewer values under axes",
			maxCells)
	}
	c.Row, c.Column = row(c.Case.Run), strings.Join(c.Case.Run.Nemesis, " + ")
	if c.Case.Search != nil {
		c.Column = "explore"
	}
	if c.Case.Trial == nil && c.Case.Run.Seed != 0 { // it is about one seed; that of a trial is in it, and others repeat it
		c.Seeds = []uint64{c.Case.Run.Seed}
	} else if c.Seeds == nil {
		c.Seeds = x.seeds
	}
	x.cells = append(x.cells, c)
}

// lockOf is the backend; of a program of another language with its arguments, of paths their last part.
func lockOf(cfg harness.Config) string {
	name := cfg.Backend
	for _, a := range cfg.Arguments {
		name += " " + path.Base(a)
	}
	return name
}

// row is the backend, with what makes it another one: where it runs and how it is used.
func row(cfg harness.Config) string {
	d, name := harness.Defaults(), lockOf(cfg)
	for _, more := range []struct{ text, value, def string }{
		{" on ", cfg.Topology, ""},
		{", provider ", cfg.Provider, d.Provider},
		{", ", strings.Join(cfg.Images, ", "), ""},
		{", network ", cfg.Network, ""},
		{", ", cfg.Workload, d.Workload},
		{", fencing ", cfg.Fencing, d.Fencing},
		{", register ", cfg.Register, ""},
		{", ", cfg.Discipline, ""},
	} {
		if more.value != more.def {
			name += more.text + more.value
		}
	}
	return name
}

// exclude takes cells away.
func (x *expansion) exclude() {
	for _, of := range x.f.Exclude {
		if len(of) == 0 {
			continue
		}
		before := len(x.cells)
		x.cells = slices.DeleteFunc(x.cells, func(c Cell) bool { return x.fits(of, c) })
		if len(x.cells) == before && !x.partial {
			x.wrong(of[0].flag.Line, "no cell matches %s%s", of, x.nearest(of))
		}
	}
}

// fits reports whether a cell is one of those that flags with globs describe. A name alone stands for
// itself with any parameters.
func (x *expansion) fits(of flags, c Cell) bool {
	for _, v := range of {
		got, ok := flagOf(c, v.flag.Value)
		if !ok {
			x.wrong(v.flag.Line, "unknown key `%s`: %s`name` (the name of a cell) and the flags of lockstorm run are allowed as keys",
				v.flag.Value, catalog.DidYouMean(v.flag.Value, append(runFlags(), "name")))
			return false
		}
		bare := make([]string, len(got))
		for i, g := range got {
			bare[i], _ = catalog.Split(g)
		}
		if !slices.ContainsFunc(v.choices, func(globs list) bool {
			glob := joined(globs)
			return matches(glob, strings.Join(got, "+")) || matches(glob, strings.Join(bare, "+"))
		}) {
			return false
		}
	}
	return true
}

// flagOf are the words of a flag of a cell's run; name is that of the cell.
func flagOf(c Cell, flag string) (words []string, ok bool) {
	switch flag {
	case "name":
		return []string{c.Case.Name}, true
	case "nemesis":
		return c.Case.Run.Nemesis, true
	case "require":
		return c.Case.Run.Require, true
	}
	known := c.Case.Run.Flags().Lookup(flag)
	if known == nil {
		return nil, false
	}
	return []string{known.Value.String()}, true
}

// matches compares with a glob, in which a * also stands for slashes.
func matches(glob, word string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(word, "/", "\x00"))
	return ok && err == nil
}

// controls are those that every suite carries.
func controls(b *suite.Collection) []Cell {
	var out []Cell
	for _, c := range suite.Controls() {
		if _, err := b.Backends.Get(c.Run.Backend); err != nil || c.Run.Seed != 1 {
			continue
		}
		out = append(out, Cell{Case: c, Row: c.Run.Backend, Column: "none", Seeds: []uint64{1}, Control: true})
	}
	return out
}
