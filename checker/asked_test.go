package checker_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/checker/internal/object"
)

// ask runs one check.
func ask(t testing.TB, name string, in *checker.Input) checker.Result {
	t.Helper()
	c, err := checks.Default().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(in)
}

// judgeLocks asks lock-linearizability alone, of pieces of a size: 0 is its own.
func judgeLocks(in *checker.Input, size int) checker.Result { return object.InPieces(size).Run(in) }
