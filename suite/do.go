package suite

import (
	"context"

	"github.com/lockstorm/lockstorm/harness"
)

// Do makes the run of a case in this process, judges it and returns where it differs from the expectation. dir is the
// run's directory; it must be empty or absent. A run that was refused or broke has no outcome; its exit code is
// compared like any other, and the error is returned unless it was expected. lockstormtest.Main (or harness.WorkerMain)
// must have been called with the same catalogue. For a case with a search, Do makes the one run of the configuration.
func (c Case) Do(ctx context.Context, cat *harness.Catalogue, dir string) (*harness.RunOutcome, []Difference, error) {
	out, err := c.run(ctx, cat, dir)
	if err == nil {
		return out, c.Expect.Compare(out.ExitCode(), out.Results), nil
	}
	differs, err := c.Refused(err)
	return nil, differs, err
}

// run makes the run: that of the configuration, or of the trial that was kept.
func (c Case) run(ctx context.Context, cat *harness.Catalogue, dir string) (*harness.RunOutcome, error) {
	cfg := c.Run
	cfg.Out = dir
	if c.Trial == nil {
		return harness.Run(ctx, cat, cfg, nil)
	}
	t, err := harness.ParseTrial(cat, harness.TrialFile, c.Trial, cfg.Version)
	if err != nil {
		return nil, err
	}
	t.Config.Command = cfg.Command
	return t.Run(ctx, dir, nil)
}

// Refused returns where a run that broke, or was refused, differs from the expectation; it returns err unless that
// was expected.
func (c Case) Refused(err error) ([]Difference, error) {
	switch code := harness.CodeOf(err); {
	case code == 0:
		return nil, err
	case c.Expect.refused(err):
		return nil, nil
	default:
		return c.Expect.Compare(code, nil), err
	}
}
