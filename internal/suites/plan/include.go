package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// include adds cases of a set, or one run.
func (x *expansion) include(in inclusion) {
	switch {
	case in.Cases.Line > 0 && len(in.Run)+len(in.Axes) > 0:
		x.wrong(in.Cases.Line, "this entry of `include` has both `cases` and `run`: split it into two entries")
	case in.Trial.Line > 0 && (in.Cases.Line > 0 || len(in.Run) > 0 || in.Explore.Line > 0):
		x.wrong(in.Trial.Line, "an entry of `include` with the key `trial` repeats a saved run with its saved settings: remove the "+
			"keys `run`, `cases` and `explore` from this entry")
	case in.Explore.Line > 0 && in.Cases.Line > 0:
		x.wrong(in.Explore.Line, "an entry of `include` with the key `explore` needs the key `run` with a backend, and must not have "+
			"the key `cases`")
	case in.Cases.Line > 0:
		x.includeSet(in)
	case in.Trial.Line > 0:
		x.includeTrial(in)
	case len(in.Run)+len(in.Axes) > 0:
		x.includeRun(in)
	default:
		x.wrong(max(in.Name.Line, in.Outcome.Line, in.Explore.Line), "this entry of `include` does not say what to run: add one of "+
			"the keys `cases`, `run`, `axes` and `trial`")
	}
}

func (x *expansion) includeSet(in inclusion) {
	cases, ok := x.cat.Sets[in.Cases.Value]
	if !ok {
		x.wrong(in.Cases.Line, "unknown set of cases %q: choose one of %s", in.Cases.Value, strings.Join(x.cat.SetNames(), ", "))
		return
	}
	seeds, err := x.f.seedsOf(in.Seeds, nil)
	x.complain(err)
	used := map[text]bool{}
	from := len(x.cells)
	for _, c := range cases() {
		if len(in.Only) > 0 && !x.only(in.Only, c.Name, used) {
			continue
		}
		x.add(Cell{Case: c, Seeds: seeds, line: in.Cases.Line, set: true})
	}
	for _, t := range in.Only {
		if !used[t] {
			x.wrong(t.Line, "the set of cases %s has no case named %q", in.Cases.Value, t.Value)
		}
	}
	x.apply(in.Rule, x.cells[from:])
}

func (x *expansion) only(globs list, name string, used map[text]bool) (chosen bool) {
	for _, g := range globs {
		if matches(g.Value, name) {
			used[g], chosen = true, true
		}
	}
	return chosen
}

// includeRun adds the run of an entry, or one for each combination of its axes.
func (x *expansion) includeRun(in inclusion) {
	cfg := harness.Defaults()
	for _, v := range append(slices.Clone(x.f.Run), in.Run...) {
		if !x.set(&cfg, v.flag, flat(v.choices)) {
			return
		}
	}
	line := append(in.Run, in.Axes...)[0].flag.Line
	switch {
	case cfg.Backend == "" && !in.Axes.haveLock():
		x.wrong(line, "the key `run` names no backend: add for example `backend: redis-lua`")
	case in.Explore.Line > 0 && len(in.Axes) > 0:
		x.wrong(in.Explore.Line, "an entry of `include` has either `explore` or `axes`: split it into two entries")
	case in.Explore.Line > 0:
		if s := x.search(&in.Explore, cfg); s != nil {
			c := suite.Case{Run: cfg, Search: s}
			x.includeCase(in, c, line, slug(cfg.Backend)+"/explore", cfg.Backend+" under faults that a search chooses")
		}
	case len(in.Axes) > 0:
		x.product(cfg, in.Axes, nil, func(cfg harness.Config, chosen flags) {
			one := in
			for _, v := range chosen {
				one.Name.Value = strings.ReplaceAll(one.Name.Value, "{"+v.flag.Value+"}", slug(joined(v.choices[0])))
			}
			x.includeCase(one, suite.Case{Run: cfg}, chosen.line(), nameOf(cfg, in.Axes, chosen), textOf(cfg))
		})
	default:
		x.includeCase(in, suite.Case{Run: cfg}, line, slug(cfg.Backend)+"/"+slug(strings.Join(cfg.Nemesis, "-")), textOf(cfg))
	}
}

// includeCase adds a case of an entry of include, under the name of the entry or another one.
func (x *expansion) includeCase(in inclusion, c suite.Case, line int, name, doc string) {
	seeds, err := x.f.seedsOf(in.Seeds, nil)
	x.complain(err)
	c.Name, c.Text, c.Source, c.Expect = cmp.Or(in.Name.Value, name), cmp.Or(in.Doc.Value, doc), in.Source.Value,
		suite.Expectation{Outcome: suite.Safe}
	if !suite.GoodName(c.Name) {
		x.wrong(max(in.Name.Line, line), "%q is not a valid name: use lower case words joined by - or /", c.Name)
		return
	}
	x.add(Cell{Case: c, Seeds: seeds, line: line})
	x.own = append(x.own, ownRule{in.Rule, c.Name})
}
