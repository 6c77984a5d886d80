package checker

import (
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Input is what a check is asked about: the facts of a record, which it only reads.
type Input = facts.Facts

// NewInput finds the facts of a history. It fails where the history does not even say what was run.
func NewInput(h *history.History) (*Input, error) { return facts.New(h) }
