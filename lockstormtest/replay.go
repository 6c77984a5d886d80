package lockstormtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/shell"
)

// EnvReplay names the directory of a kept run: the test that made it repeats it, with its seed and its plan. Runs of
// other configurations are made as ever.
const EnvReplay = "LOCKSTORM_REPLAY"

// saved is the trial that is to be made again; nil: none, or not one of this run.
func (j *judge) saved() *harness.Trial {
	j.t.Helper()
	dir := os.Getenv(EnvReplay)
	if dir == "" {
		return nil
	}
	saved, err := harness.ReadTrial(j.cat, dir, "")
	if err != nil {
		j.t.Fatalf("lockstormtest: %s=%s: %v", EnvReplay, dir, err)
	}
	mine, err := harness.Resolve(j.cat, j.cfg)
	if err != nil {
		return nil // it will be refused
	}
	if unseeded(mine.Config) != unseeded(saved.Config) {
		j.t.Logf("lockstormtest: the run in %s has another configuration than this test, so lockstorm makes a new run with the "+
			"configuration of the test: %s", dir, j.cfg.Line())
		return nil
	}
	for _, d := range saved.Differs(j.t.Context()) {
		j.t.Logf("lockstormtest: note: %s", d)
	}
	return saved
}

// unseeded is a configuration whatever its seed.
func unseeded(c harness.Config) string {
	c.Seed = 0
	return c.Line()
}

// command makes the test again, in its package's folder.
func (j *judge) command() string { return "go test -count=1 -run " + pattern(j.t.Name()) + " ." }

// again is the command that makes the same run again.
func (j *judge) again(dir string) string {
	cmd := fmt.Sprintf("%s=%s %s", EnvReplay, shell.Quote(dir), j.command())
	if here, err := os.Getwd(); err == nil {
		return fmt.Sprintf("cd %s && %s", shell.Quote(here), cmd)
	}
	return cmd
}

// pattern is the argument of -run that chooses one test.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return shell.Quote(strings.Join(parts, "/"))
}
