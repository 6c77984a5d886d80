package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/suite"
)

// exploringOf reads a mapping, or nothing: then all is as usual.
func exploringOf(n *yaml.Node) (e exploring, err error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return e, nil
	case n.Kind != yaml.MappingNode:
		return e, errors.New("`explore` needs keys and values, for example `explore: {for: 60s}`")
	}
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i].Value; !slices.Contains([]string{"for", "only", "without", "vary"}, key) {
			return e, fmt.Errorf("unknown key `%s` under `explore`: choose one of the keys `for`, `only`, `without`, `vary`", key)
		}
	}
	return e, n.Decode(&e)
}

// defaultSearch is how long a search takes that does not say it.
const defaultSearch = time.Minute

// choiceOf is what a search of a suite may vary.
func choiceOf(s *suite.Search) search.Choice {
	return search.Choice{Only: s.Only, Without: s.Without, Vary: s.Vary}
}

// search returns the search of an entry of include; nil: the entry is wrong.
func (x *expansion) search(n *yaml.Node, cfg harness.Config) *suite.Search {
	s, line := &suite.Search{For: defaultSearch}, n.Line
	e, err := exploringOf(n)
	if err != nil {
		x.wrong(line, "%w", err)
		return nil
	}
	if e.For.Line > 0 {
		d, err := time.ParseDuration(e.For.Value)
		if err != nil || d <= 0 {
			x.wrong(e.For.Line, "the key `for` has the value %q: write how long to search, for example 30s", e.For.Value)
			return nil
		}
		s.For = d
	}
	for _, names := range []struct {
		from list
		to   *[]string
	}{{e.Only, &s.Only}, {e.Without, &s.Without}} {
		for _, n := range names.from {
			if err := x.known("nemesis", n.Value); err != nil {
				x.wrong(n.Line, "explore: %w", err)
				return nil
			}
			*names.to = append(*names.to, n.Value)
		}
	}
	for _, n := range e.Vary {
		s.Vary = append(s.Vary, n.Value)
	}
	if slices.ContainsFunc(cfg.Nemesis, func(n string) bool { return n != "none" }) {
		x.wrong(line, "a search chooses its faults: remove `nemesis` from `run`, and list faults under `only` of `explore` to "+
			"limit them")
		return nil
	}
	space, err := search.NewSpace(x.cat.Catalogue, cfg, choiceOf(s))
	if err == nil && s.For < space.Shortest() {
		x.wrong(line, "the search is too short: no run of %s can end within %v. Set the key `for` of `explore` to %v or longer",
			cfg.Backend, s.For, space.Shortest())
		return nil
	}
	if harness.CodeOf(err) == harness.ExitUsage {
		x.wrong(line, "explore: %w", err)
		return nil
	}
	return s // what is missing here, other machines may have: settle says it
}

// shrunkDir is the directory of the result of shrink, below the user's.
const shrunkDir = "shrunk"

// includeTrial adds a run that was kept: its trial.json, or the directory that has it.
func (x *expansion) includeTrial(in inclusion) {
	path := in.Trial.Value
	if !filepath.IsAbs(path) && x.f.path != Stdin {
		path = filepath.Join(filepath.Dir(x.f.path), path)
	}
	if filepath.Ext(path) != ".json" {
		path = filepath.Join(path, harness.TrialFile)
	}
	b, err := files.Read(path, maxFile)
	if err != nil {
		x.wrong(in.Trial.Line, "trial: %w", err)
		return
	}
	_, err = harness.ParseTrial(x.cat.Catalogue, path, b, "")
	if harness.CodeOf(err) == harness.ExitEnvironment { // other machines may have what is missing: settle says it
		err = nil
	}
	cfg, unread := harness.TrialConfig(b)
	if err = cmp.Or(err, unread); err != nil {
		x.wrong(in.Trial.Line, "trial: %w", err)
		return
	}
	cfg.Out, cfg.Command, cfg.Version = "", "", ""
	from, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		x.wrong(in.Trial.Line, "trial: %w", err)
		return
	}
	if filepath.Base(from) == shrunkDir { // as all that shrink makes
		from = filepath.Dir(from)
	}
	name := slug(cfg.Backend) + "/" + slug(filepath.Base(from))
	x.includeCase(in, suite.Case{Run: cfg, Trial: json.RawMessage(b)}, in.Trial.Line, name, "repeats the saved run "+in.Trial.Value+
		" of "+cfg.Backend)
}
