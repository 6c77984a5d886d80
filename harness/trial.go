package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/nemesis"
)

// TrialFile is the file of the trial in a run directory. It includes the plan, which plan.json shows to people.
const TrialFile = "trial.json"

// TrialSchema is the version of trial.json that this package writes.
const TrialSchema = 1

// Trial is a run that can be made again and again: a checked and completed configuration, its plan, and the versions
// that it was made with.
//
//	Config -> Resolve -> Trial (trial.json) -> Run -> RunOutcome
//	             replay: ReadTrial --^
type Trial struct {
	Schema int           `json:"schema"`
	Config Config        `json:"config"` // complete: nothing in it is left to be chosen
	Plan   *nemesis.Plan `json:"plan"`
	// Versions are those with which a trial that was read was made; each run finds its own.
	Versions map[string]string `json:"versions"`

	r      *resolved
	limits limits // others than usual
}

// Resolve checks a configuration against a catalogue, completes it, and makes its plan. It starts nothing and asks no
// server. The error, if any, is an [Error].
func Resolve(cat *Catalogue, cfg Config) (*Trial, error) {
	if err := renamed(cat, cfg); err != nil {
		return nil, Usage(err)
	}
	r, err := complete(cat, cfg)
	if err != nil {
		return nil, err
	}
	plan, err := nemesis.NewPlan(cat.Nemeses, r.input())
	if err != nil {
		return nil, r.refusedPlan(err)
	}
	return newTrial(r, plan)
}

// renamed refuses former names of faults, which stored trials and records may have.
func renamed(cat *Catalogue, cfg Config) error {
	for _, text := range cfg.Nemesis {
		name, _ := catalog.Split(text)
		if spec, err := cat.Nemeses.Get(name); err == nil && spec.Name != name {
			return fmt.Errorf("the fault %s has a new name: use %s", name, spec.Name)
		}
	}
	return nil
}

func newTrial(r *resolved, plan *nemesis.Plan) (*Trial, error) {
	if err := r.take(plan); err != nil {
		return nil, err
	}
	if bound := r.livenessBound(plan); bound > maxBound {
		return nil, Usage(fmt.Errorf("the recovery test can take %v, more than the limit of %v: use fewer clients or locks, a "+
			"shorter ttl or hold, or a smaller clock jump",
			bound.Round(time.Second), maxBound))
	}
	t := &Trial{Schema: TrialSchema, Config: r.Config, Plan: plan, r: r}
	t.Config.Provider = r.provider.Name()
	return t, nil
}

// ReadTrial reads the trial of a run directory, to run it again with its saved plan. The catalogue must have all that
// it names, and its provider must be available here. version is that of the lockstorm that will run it.
func ReadTrial(cat *Catalogue, dir, version string) (*Trial, error) {
	path := filepath.Join(dir, TrialFile)
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Usage(fmt.Errorf("%s has no file %s: it is not a run directory, or an older version of lockstorm made it", dir,
			TrialFile))
	case err != nil:
		return nil, Usage(err)
	}
	return ParseTrial(cat, path, b, version)
}

// ParseTrial is ReadTrial for a text; path is its source, for messages.
func ParseTrial(cat *Catalogue, path string, b []byte, version string) (*Trial, error) {
	var saved Trial
	if err := json.Unmarshal(b, &saved); err != nil {
		return nil, Usage(fmt.Errorf("%s: %w", path, err))
	}
	if saved.Schema != TrialSchema {
		return nil, Usage(fmt.Errorf("%s has schema %d, but this version of lockstorm reads only schema %d: use the version of "+
			"lockstorm that wrote the file", path, saved.Schema, TrialSchema))
	}
	if saved.Plan == nil {
		return nil, Usage(fmt.Errorf("%s has no field \"plan\", so no run can be repeated from it: name the trial.json of a run", path))
	}
	saved.Config.Version = version
	r, err := complete(cat, saved.Config)
	if err != nil {
		return nil, err
	}
	in := r.input()
	if err := saved.Plan.Check(cat.Nemeses, in); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
		in.Setting.NoLoss, in.Setting.NoClock = "", ""
		if in.Setting.Theirs == "" && saved.Plan.Check(cat.Nemeses, in) == nil { // another machine can
			return nil, Environment(err)
		}
		return nil, Usage(err)
	}
	t, err := newTrial(r, saved.Plan)
	if err == nil {
		t.Versions = saved.Versions
	}
	return t, err
}

// TrialConfig returns the configuration of a saved trial, whether it can be run here or not.
func TrialConfig(b []byte) (Config, error) {
	var saved Trial
	err := json.Unmarshal(b, &saved)
	return saved.Config, err
}

// Revise returns the trial of a configuration with a changed plan, or an error if the configuration cannot carry it
// out. Its command is a replay, since no flags would make that plan.
func Revise(cat *Catalogue, cfg Config, plan *nemesis.Plan) (*Trial, error) {
	r, err := complete(cat, cfg)
	if err != nil {
		return nil, err
	}
	if err := plan.Check(cat.Nemeses, r.input()); err != nil {
		return nil, Usage(err)
	}
	return newTrial(r, plan)
}

// Crowd says that this host has too few processors for the clients of the trial; empty: it has enough.
func (t *Trial) Crowd() string {
	processors := runtime.GOMAXPROCS(0)
	if most := bornClients * processors; t.Config.Clients > most {
		return fmt.Sprintf("%d clients are too many for this host with %d processors, and the run may be inconclusive: use at "+
			"most %d",
			t.Config.Clients, processors, most)
	}
	return ""
}

// WriteFile saves the trial as JSON.
func (t *Trial) WriteFile(path string) error {
	return files.WriteJSON(path, t)
}

// Judged runs the trial and returns its results alone.
func (t *Trial) Judged(ctx context.Context, out string) (*checker.Results, error) {
	o, err := t.Run(ctx, out, nil)
	if err != nil {
		return nil, err
	}
	return o.Results, nil
}

// Run makes the run in a directory, which must be empty or absent, judges it, and writes the results there. When ctx
// ends, everything is stopped and what was recorded is judged. The error, if any, is an [Error]. A trial may be run
// again, also concurrently.
func (t *Trial) Run(ctx context.Context, out string, p *Progress) (*RunOutcome, error) {
	if err := EmptyDir(out); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(out)
	if err != nil {
		return nil, Usage(err)
	}
	err = errors.Join(makeDirs(dir), t.Plan.WriteFile(filepath.Join(dir, planFile)))
	if err = errors.Join(err, t.WriteFile(filepath.Join(dir, TrialFile))); err != nil {
		return nil, Environment(err)
	}
	o := &RunOutcome{Dir: out, Seed: t.Config.Seed}
	if err := drive(ctx, t, dir, p, o); err != nil {
		return nil, err
	}
	p.phase("judge", "merge the logs and judge the history")
	return Interruptible(ctx, dir, func() (*RunOutcome, error) { return o, judgeInto(o, t.r.cat, dir) })
}

// Run resolves a configuration and runs it in the directory cfg.Out.
func Run(ctx context.Context, cat *Catalogue, cfg Config, p *Progress) (*RunOutcome, error) {
	t, err := Resolve(cat, cfg)
	if err != nil {
		return nil, err
	}
	return t.Run(ctx, cfg.Out, p)
}

// Check resolves a configuration without running it. Unknown names and impossible combinations are [Error] values
// with the exit code for wrong usage.
func Check(cat *Catalogue, cfg Config) error {
	_, err := Resolve(cat, cfg)
	return err
}

// EmptyDir creates a directory for the output of a command. It never touches existing files.
func EmptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return Usage(fmt.Errorf("--out %s is not empty: choose a new directory (runs are never overwritten)", dir))
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return Usage(fmt.Errorf("--out: %w", err))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Usage(fmt.Errorf("--out: %w", err))
	}
	return nil
}
