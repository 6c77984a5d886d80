package plan

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// Documented is the outcome that docs/backends.md has for a pair.
const Documented = "documented"

// rule applies a rule to the cells that it matches; a rule without any is a mistake. Cases of sets bring their
// expectations, and only their own entry of include can change them.
func (x *expansion) rule(r Rule) {
	none := true
	for i := range x.cells {
		if !x.cells[i].set && x.fits(r.Of, x.cells[i]) {
			none = false
			x.expect(r, &x.cells[i])
		}
	}
	if none && len(r.Of) > 0 && !x.partial {
		x.wrong(r.Of[0].flag.Line, "no cell matches %s%s", r.Of, x.nearest(r.Of))
	}
}

// apply puts the rule of an entry of include on its cells.
func (x *expansion) apply(r Rule, cells []Cell) {
	if len(r.Of) > 0 {
		x.wrong(r.Of[0].flag.Line, "the key `of` is allowed only in entries of `expect`, not in entries of `include`: remove the key "+
			"from this entry")
	}
	for i := range cells {
		x.expect(r, &cells[i])
	}
}

func (x *expansion) expect(r Rule, c *Cell) {
	if line := r.asks(); line > 0 && x.f.Compares() {
		x.once(line, "a suite with `compare: true` has no expected outcomes: remove the keys `outcome`, `exit`, `checks`, `classes`, "+
			"`rules` and `figures` (the key `thresholds` is allowed)")
		return
	}
	if r.Outcome.Line > 0 {
		w, err := x.outcome(r.Outcome.Value, c)
		if err != nil {
			x.wrong(r.Outcome.Line, "%w", err)
		}
		c.Case.Expect = suite.Expectation{Outcome: w} // in place of what a case of a set expects
	} else if len(r.Exit) > 0 {
		c.Case.Expect = suite.Expectation{}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Checks)) {
		if _, err := x.cat.Checks.Get(name); err != nil {
			x.wrong(r.Checks[name].Line, "%w", err)
			continue
		}
		if err := answer(&c.Case.Expect, name, r.Checks[name].Value); err != nil {
			x.wrong(r.Checks[name].Line, "%w", err)
		}
	}
	x.exactly(r, &c.Case.Expect)
	c.Thresholds = append(c.Thresholds, x.thresholds(r.Thresholds)...)
}

// exactly adds a rule's exit codes, findings and figures to the expectation; check decides whether it is possible.
func (x *expansion) exactly(r Rule, e *suite.Expectation) {
	for _, code := range r.Exit {
		n, err := strconv.Atoi(code.Value)
		switch {
		case err == nil:
			e.Exit = append(e.Exit, n)
		case code.Value != string(suite.Any):
			x.wrong(code.Line, "the key `exit` has the value %q: write an exit code, a list of codes, or any", code.Value)
		}
	}
	for name, class := range r.Classes {
		put(&e.Classes, name, checker.Class(class.Value))
	}
	for name, rules := range r.Rules {
		put(&e.Rules, name, rules.words())
	}
	for _, t := range r.Figures {
		name, b, err := bound(t.Value)
		if err != nil {
			x.wrong(t.Line, "%w", err)
			continue
		}
		if was := e.Figures[name]; b.AtLeast == nil {
			b.AtLeast = was.AtLeast
		} else if b.AtMost == nil {
			b.AtMost = was.AtMost
		}
		put(&e.Figures, name, b)
	}
}

// put sets a value in a map that others may have, too.
func put[V any](m *map[string]V, name string, v V) {
	if *m = maps.Clone(*m); *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = v
}

var bounds = regexp.MustCompile(`^([a-z0-9_]+)\s*(<=|>=|==)\s*(\S+)$`)

// bound reads a limit of a figure, as in grants >= 1 or wait_p99_ns <= 2s.
func bound(s string) (name string, b suite.Bound, err error) {
	m := bounds.FindStringSubmatch(s)
	if m == nil {
		return "", b, fmt.Errorf("%q is not a limit of a figure of results.json: write for example %q (operators: <=, >=, ==)", s,
			"wait_p99_ns <= 2s")
	}
	v, err := strconv.ParseInt(m[3], 10, 64)
	if strings.HasSuffix(m[1], "_ns") {
		var d time.Duration
		d, err = time.ParseDuration(m[3])
		v = int64(d)
	}
	if m[2] != "<=" {
		b.AtLeast = &v
	}
	if m[2] != ">=" {
		b.AtMost = &v
	}
	return m[1], b, err
}

// Expectation is what a rule asks of a run of which nothing else is expected.
func (r Rule) Expectation(b *suite.Collection) (suite.Expectation, error) {
	x, c := &expansion{f: &File{}, cat: b}, Cell{}
	x.expect(r, &c)
	return c.Case.Expect, errors.Join(append(x.errs, c.Case.Expect.Validate(b.Checks))...)
}

// outcome reads the word of a cell.
func (x *expansion) outcome(word string, c *Cell) (suite.Outcome, error) {
	if word != Documented {
		if suite.Outcome(word).Doc() == "" {
			return "", fmt.Errorf("unknown outcome %q: choose one of %v or %s", word, suite.Words(), Documented)
		}
		return suite.Outcome(word), nil
	}
	backend, _ := catalog.Split(c.Case.Run.Backend)
	if len(c.Case.Run.Nemesis) != 1 {
		return "", fmt.Errorf("%s: there is no documented outcome for several faults at once: in place of `documented`, write an "+
			"outcome, for example outcome: safe", c.Case.Name)
	}
	fault, _ := catalog.Split(c.Case.Run.Nemesis[0])
	w, ok := x.cat.Documented(backend, fault)
	if !ok {
		return "", fmt.Errorf("%s: there is no documented outcome for this backend and fault: in place of `documented`, write an "+
			"outcome, for example outcome: safe", c.Case.Name)
	}
	return w, nil
}

// answerWords are what a check can be expected to say.
var answerWords = []string{"safe", "violated", "inherent", "defect", "skipped", "unknown", "any"}

// answer adds the required answer of a check to the expectation.
func answer(e *suite.Expectation, check, word string) error {
	e.Verdicts, e.Classes = maps.Clone(e.Verdicts), maps.Clone(e.Classes) // cells may share them
	delete(e.Classes, check)
	switch word {
	case "safe":
		put(&e.Verdicts, check, checker.Pass)
	case "violated":
		put(&e.Verdicts, check, checker.Fail)
	case "inherent", "defect":
		put(&e.Verdicts, check, checker.Fail)
		put(&e.Classes, check, checker.Class(word))
	case "skipped", "unknown":
		put(&e.Verdicts, check, checker.Verdict(word))
	case "any":
		delete(e.Verdicts, check)
	default:
		return fmt.Errorf("%s is not a possible expectation for check %s: choose one of %s", word, check,
			strings.Join(answerWords, ", "))
	}
	return nil
}

func (x *expansion) thresholds(texts list) (all []tally.Threshold) {
	for _, t := range texts {
		if parsed, err := tally.ParseThreshold(t.Value); err != nil {
			x.wrong(t.Line, "%w", err)
		} else {
			all = append(all, parsed)
		}
	}
	return all
}

// coverage looks at whether what must be covered is among the cells.
func (x *expansion) coverage() {
	if x.partial {
		return
	}
	all := slices.Concat(x.f.Coverage.Backends, x.f.Coverage.Nemeses)
	for kind, name := range x.f.Required().Each {
		if !slices.ContainsFunc(x.cells, func(c Cell) bool { return c.Covers(kind, name) }) {
			x.wrong(all[0].Line, "`coverage` requires the %s %s, but no cell of the suite has it", kind, name)
		}
		all = all[1:]
	}
}

func covers(want string, got []string) bool {
	return slices.ContainsFunc(got, func(g string) bool {
		name, _ := catalog.Split(g)
		return g == want || name == want
	})
}

// Required is what must have been shown for the suite to count.
type Required struct {
	Backends  []string `json:"backends,omitempty"`
	Nemeses   []string `json:"nemeses,omitempty"`
	Exposures int64    `json:"exposures,omitempty"` // in each cell with faults
}

// What coverage is of.
const (
	OfBackend = "backend"
	ofNemesis = "nemesis"
)

// Each goes through the backends and nemeses, each with its kind.
func (r Required) Each(yield func(kind, name string) bool) {
	for _, b := range r.Backends {
		if !yield(OfBackend, b) {
			return
		}
	}
	for _, n := range r.Nemeses {
		if !yield(ofNemesis, n) {
			return
		}
	}
}

// Required is the coverage that the file asks for.
func (f *File) Required() Required {
	r := Required{Backends: f.Coverage.Backends.words(), Nemeses: f.Coverage.Nemeses.words()}
	r.Exposures, _ = strconv.ParseInt(f.Coverage.Exposures.Value, 10, 64) // valid has looked at it
	return r
}

// Covers reports whether a cell is of a backend or a nemesis that coverage names.
func (c Cell) Covers(kind, name string) bool {
	if kind == OfBackend {
		return covers(name, []string{c.Case.Run.Backend})
	}
	return covers(name, c.Case.Run.Nemesis)
}

// asks is the line of what a rule asks of single runs; 0: it asks nothing.
func (r Rule) asks() int {
	for _, l := range append([]list{{r.Outcome}, r.Exit, r.Figures}, slices.Collect(maps.Values(r.Rules))...) {
		if len(l) > 0 && l[0].Line > 0 {
			return l[0].Line
		}
	}
	for _, of := range []answers{r.Checks, r.Classes} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			return of[name].Line
		}
	}
	return 0
}

// once complains of a line once, however many cells it is about.
func (x *expansion) once(line int, text string) {
	err := x.f.at(line, errors.New(text))
	if !slices.ContainsFunc(x.errs, func(e error) bool { return e.Error() == err.Error() }) {
		x.complain(err)
	}
}

// nearest names what a description that matches no cell may have meant.
func (x *expansion) nearest(of flags) string {
	for _, v := range of {
		var have []string
		for _, c := range x.cells {
			got, _ := flagOf(c, v.flag.Value)
			for _, g := range got {
				bare, _ := catalog.Split(g)
				have = append(have, bare)
			}
		}
		for _, globs := range v.choices {
			word := joined(globs)
			if slices.ContainsFunc(have, func(h string) bool { return matches(word, h) }) {
				continue
			}
			if hint := catalog.DidYouMean(word, have); hint != "" {
				return " (" + strings.TrimSpace(hint) + ")"
			}
		}
	}
	return ""
}
