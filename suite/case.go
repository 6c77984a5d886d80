// Package suite lets you hold runs to their expected outcomes. A [Case] is a run and its [Expectation]; [Expectation.Compare]
// returns the differences. Tests, docs, claims and gates all use it. [Controls] are the runs without faults that show that the
// harness itself is right. Put a [Case] into a test or a gate to hold a lock to an outcome.
//
// A case is plain data: [Case.Do] runs it in this process, and the real binary runs it with the words of
// harness.Config.Args.
package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/lockstorm/lockstorm/harness"
)

// Case is a run and its expected outcome.
type Case struct {
	Name   string `json:"name"`             // unique in its suite: lower case words joined by - or /
	Text   string `json:"text"`             // what it shows, in a sentence
	Source string `json:"source,omitempty"` // who claims it, as a Markdown link; empty: we do
	// Run is the run. If its seed is 0, the case must hold with every seed.
	Run    harness.Config `json:"run"`
	Expect Expectation    `json:"expect"`
	// Search, if not nil, replaces the run: it chooses faults, workload, clients, locks, time and seeds itself.
	Search *Search `json:"search,omitempty"`
	// Trial, if any, is the trial.json of a kept run: its plan is carried out as it is, and Run is its configuration.
	Trial json.RawMessage `json:"trial,omitempty"`
}

// Search says for how long a case is searched for violations, and with which faults.
type Search struct {
	For     time.Duration `json:"for_ns"`
	Only    []string      `json:"only,omitempty"`    // faults; empty: all that can be injected
	Without []string      `json:"without,omitempty"` // faults
	Vary    []string      `json:"vary,omitempty"`    // options of the lock
}

// MustLine returns the configuration of a line of flags, as harness.ParseLine reads it. It panics if the line is
// wrong: use it for cases that are written in Go.
func MustLine(line string) harness.Config {
	cfg, err := harness.ParseLine(line)
	if err != nil {
		panic(fmt.Sprintf("suite: %v", err))
	}
	return cfg
}

// Seeded returns the case with another seed. A kept trial keeps its seed: other seeds only repeat it.
func (c Case) Seeded(seed uint64) Case {
	if c.Trial == nil {
		c.Run.Seed = seed
	}
	return c
}

var goodName = regexp.MustCompile(`^[a-z0-9]+([-/][a-z0-9]+)*$`)

// GoodName reports whether a case may have this name.
func GoodName(name string) bool { return goodName.MatchString(name) }

// Validate checks cases without running them: their names, whether their runs are possible here, and whether a run
// could show at all what they expect.
func Validate(cat *harness.Catalogue, cases ...Case) error {
	var errs []error
	seen := map[string]bool{}
	for i, c := range cases {
		switch {
		case !goodName.MatchString(c.Name):
			errs = append(errs, fmt.Errorf("case %d: %q is not a valid name: use lower case words joined by - or /", i+1, c.Name))
		case seen[c.Name]:
			errs = append(errs, fmt.Errorf("two cases have the name %s", c.Name))
		}
		seen[c.Name] = true
		if err := c.valid(cat); err != nil {
			errs = append(errs, fmt.Errorf("case %s: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (c Case) valid(cat *harness.Catalogue) error {
	var errs []error
	if c.Text == "" {
		errs = append(errs, errors.New("the field `Text` of the case is empty: describe in `Text` what the case shows"))
	}
	if err := c.Expect.Validate(cat.Checks); err != nil {
		errs = append(errs, err)
	}
	if err := harness.Check(cat, c.Run); err != nil && !c.Expect.refused(err) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// refused reports whether a case expects that its run is refused in just this way.
func (e Expectation) refused(err error) bool {
	code := harness.CodeOf(err)
	return code != 0 && len(e.Exit) > 0 && len(e.Compare(code, nil)) == 0
}

// plain is a case without its methods.
type plain Case

// run is a configuration as it is stored; earlier versions stored a line of flags without quotes.
type run harness.Config

func (r *run) UnmarshalJSON(b []byte) error {
	var line string
	if json.Unmarshal(b, &line) == nil {
		cfg, err := harness.ParseLine(line)
		*r = run(cfg)
		return err
	}
	return strictly(b, (*harness.Config)(r))
}

// MarshalJSON writes a case without the directory of its run and the command that repeats it.
func (c Case) MarshalJSON() ([]byte, error) {
	c.Run.Command = ""
	return json.Marshal(plain(c))
}

// strictly reads JSON; a field that is not known is an error.
func strictly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// UnmarshalJSON reads a case. An unknown field is an error: every run would meet a misspelt expectation.
func (c *Case) UnmarshalJSON(b []byte) error {
	*c = Case{}
	w := struct {
		*plain
		Run *run `json:"run"`
	}{(*plain)(c), (*run)(&c.Run)}
	if err := strictly(b, &w); err != nil {
		return fmt.Errorf("case %q: %w", c.Name, err)
	}
	return nil
}
