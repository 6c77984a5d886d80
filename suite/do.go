package suite

import (
	"context"
	"errors"

	"github.com/lockstorm/lockstorm/harness"
)

// Do makes the run of a case in this process, judges it and says what differs from what
// the case expects. dir is the run's directory; it must be empty or absent. A run that was
// refused or broke has no outcome; its exit code is compared like any other, and the error
// is returned unless just that was expected. harness.WorkerMain must have been called
// with the same catalogue.
func (c Case) Do(ctx context.Context, cat *harness.Catalogue, dir string) (*harness.Outcome, []Difference, error) {
	cfg := c.Run
	cfg.Out = dir
	out, err := harness.Run(ctx, cat, cfg, nil)
	if err == nil {
		return out, c.Expect.Compare(out.ExitCode(), out.Results), nil
	}
	var coded *harness.Error
	if !errors.As(err, &coded) {
		return nil, nil, err
	}
	if c.Expect.refused(err) {
		return nil, nil, nil
	}
	return nil, c.Expect.Compare(coded.Code, nil), err
}
