package campaign

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

// Schema is the version of manifests and of what workers store.
const Schema = 1

// Manifest is a campaign as it is stored before anything runs.
type Manifest struct {
	Settings

	Schema     int             `json:"schema"`
	Definition gate.Definition `json:"definition"`
	Needs      []string        `json:"needs"` // of each cell: what a machine must have

	id string // see sum
}

// Task is one run of a campaign.
type Task struct {
	Cell int // its place in the definition
	Seed uint64
}

// ID is a task in the names of subjects and messages.
func (t Task) ID() string { return fmt.Sprintf("%d-%d", t.Cell, t.Seed) }

// Settings are how a campaign is run.
type Settings struct {
	Name    string        `json:"name"`
	Build   string        `json:"build"`       // of the program, see Build
	Retry   int           `json:"retry"`       // attempts more for a run that the host disturbed
	AckWait time.Duration `json:"ack_wait_ns"` // after which a silent worker has lost its run
	Keep    time.Duration `json:"keep_ns"`     // after which the queue forgets the campaign
	Room    int64         `json:"room"`        // bytes of runs that the queue keeps
}

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// Make is the manifest of a suite. What this machine lacks another one may have, so that no cell is skipped for that.
func Make(cat *harness.Catalogue, def gate.Definition, s Settings) (*Manifest, error) {
	if !goodName.MatchString(s.Name) {
		return nil, fmt.Errorf("%q is not a valid name of a campaign: use only letters, digits, - and _", s.Name)
	}
	m := &Manifest{Settings: s, Schema: Schema}
	for i := range def.Cells {
		c := &def.Cells[i]
		if c.Skip != "" && lacking(cat, *c) != nil {
			c.Skip = ""
		}
		m.Needs = append(m.Needs, need(cat, c.Case))
	}
	m.Definition = def
	if len(m.Tasks(cat)) == 0 {
		return nil, errors.New("the suite has no cells (backends under faults) to run")
	}
	return m, m.identify()
}

// lacking says what this machine lacks for a cell; nil: nothing, or the cell is wrong in another way.
func lacking(cat *harness.Catalogue, c plan.Cell) error {
	if err := plan.Possible(cat, c); harness.CodeOf(err) == harness.ExitEnvironment {
		return err
	}
	return nil
}

// need is what a machine must have for a run, as a word of a subject: its servers or the program of its adapter, and whether it
// wants the machine for itself.
func need(cat *harness.Catalogue, c suite.Case) string {
	cfg := c.Run
	bare, options := catalog.Split(cfg.Backend)
	parts := []string{gate.TopologyOf(cat, cfg)}
	if bare == harness.ExecName { // its adapter says on which topology, where the run does not
		parts = []string{cfg.Topology, "exec", filepath.Base(strings.TrimPrefix(options, "cmd="))}
	}
	if cfg.Provider != "" && cfg.Provider != "auto" {
		parts = append(parts, cfg.Provider)
	}
	faults := cfg.Nemesis
	if c.Search != nil {
		faults = c.Search.Only
	}
	for _, special := range [][2]string{{"clock-jump", "clock"}, {"power-loss", "disk"}} { // of the machine: a library, root
		if slices.ContainsFunc(faults, func(n string) bool { return strings.HasPrefix(n, special[0]) }) {
			parts = append(parts, special[1])
		}
	}
	if gate.Needs(cat, c) == gate.Whole {
		parts = append(parts, "alone")
	}
	word := strings.Trim(badRune.ReplaceAllString(strings.Join(parts, "-"), "_"), "-")
	return cmp.Or(word, "none")
}

var badRune = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// Tasks are the runs of a campaign, the longest first. Controls are not among them: each machine makes its own.
func (m *Manifest) Tasks(cat *harness.Catalogue) []Task {
	all := m.runs(func(c plan.Cell) bool { return !c.Control && c.Skip == "" })
	takes := map[int]time.Duration{} // a run of a cell
	for _, t := range all {
		takes[t.Cell] = gate.Takes(cat, m.Definition.Cells[t.Cell].Case)
	}
	slices.SortStableFunc(all, func(a, b Task) int { return cmp.Compare(takes[b.Cell], takes[a.Cell]) })
	return all
}

// Controls are the runs that each machine makes before others.
func (m *Manifest) Controls() []Task { return m.runs(func(c plan.Cell) bool { return c.Control }) }

// runs are those of some cells, in their order.
func (m *Manifest) runs(of func(plan.Cell) bool) (out []Task) {
	for i, c := range m.Definition.Cells {
		for _, seed := range c.Seeds {
			if of(c) {
				out = append(out, Task{i, seed})
			}
		}
	}
	return out
}

// Name of a task for people.
func (m *Manifest) name(t Task) string {
	return fmt.Sprintf("%s seed %d", m.Definition.Cells[t.Cell].Case.Name, t.Seed)
}

// needs are the different needs, each with its first cell.
func (m *Manifest) needs() map[string]int {
	out := map[string]int{}
	for i, n := range m.Needs {
		if _, seen := out[n]; !seen && !m.Definition.Cells[i].Control && m.Definition.Cells[i].Skip == "" {
			out[n] = i
		}
	}
	return out
}

// identify gives the manifest its id, which is in the names of its subjects, consumers and outcomes: those of another campaign of
// the same name, which was there before or will be, are none of it.
// The time at which they were made tells no manifests apart.
func (m *Manifest) identify() error {
	c := *m
	c.Definition.Started, c.Definition.CPUs = time.Time{}, 0
	b, err := json.Marshal(c)
	sum := sha256.Sum256(b)
	m.id = hex.EncodeToString(sum[:8])
	return err
}

// Build identifies the program that runs: all workers of a campaign are of one build, or their answers are not of one judge.
func Build() (id string, err error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// cancelled makes an error of a context that ended one that says so.
func cancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
