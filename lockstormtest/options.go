package lockstormtest

import (
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// Option changes how a run is made.
type Option func(*options)

type options struct {
	seeds    []uint64 // none: that of the line, else one that is drawn
	first    bool     // the first seed that is as expected is enough
	attempts int
	failOn   string   // empty: as the line says
	exec     []string // a lock in another language; nil: the line names a backend
}

const (
	maxSeeds        = 100
	maxAttempts     = 10
	defaultAttempts = 3
)

// Seeds makes one run with each of the seeds, one after the other; the first that is not as expected fails the test.
// A seed fixes the plan, not how processes interleave.
func Seeds(seeds ...uint64) Option { return func(o *options) { o.seeds, o.first = seeds, false } }

// FirstOf makes a run with each of the seeds, one after the other, until one is as expected; if none is, the test
// fails. It is for a fault that hits by chance: it shows that a bug is found, not that every run finds it. A defect
// that is not expected fails the test with any seed.
func FirstOf(seeds ...uint64) Option {
	return func(o *options) { o.seeds, o.first = seeds, true }
}

// Exec tests a lock in another language: a program that speaks the protocol of docs/adapters.md, with its arguments.
// The line then names no backend.
func Exec(file string, args ...string) Option {
	return func(o *options) { o.exec = append([]string{file}, args...) }
}

// Attempts sets how often a run is made before its host is called too busy to judge a lock; the default is 3.
func Attempts(n int) Option { return func(o *options) { o.attempts = n } }

// FailOnDefect passes a run that shows only what is inherent to leases, as --fail-on defect does, whatever the line
// says.
func FailOnDefect() Option { return func(o *options) { o.failOn = history.FailOnDefect } }

// valid returns what is wrong with the options, or with an expectation that no run could meet or miss.
func (j *judge) valid() error {
	errs := []error{j.want.Validate(j.cat.Checks)}
	if j.attempts < 1 || j.attempts > maxAttempts {
		errs = append(errs, fmt.Errorf("Attempts(%d): choose a number from 1 to %d", j.attempts, maxAttempts))
	}
	if len(j.seeds) > maxSeeds {
		errs = append(errs, fmt.Errorf("Seeds: %d seeds are too many: the limit is %d", len(j.seeds), maxSeeds))
	}
	for _, s := range j.seeds {
		if s == 0 {
			errs = append(errs, errors.New("Seeds: 0 is not allowed, because it means a random seed: choose numbers above 0"))
		}
	}
	return errors.Join(errs...)
}
