package checker

import (
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Input is what a check reads: the facts of a record.
type Input = facts.Facts

// NewInput finds the facts of a history. It fails if the history does not say what was run.
func NewInput(h *history.History) (*Input, error) { return facts.New(h) }
