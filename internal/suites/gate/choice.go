package gate

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
)

// choice asks of the cells which lock to choose.
func (r *Results) choice() *answer.Ranking {
	var cells []answer.Cell
	for _, j := range r.Cells {
		if j.Control || j.Chosen { // what was chosen says nothing of how often a lock fails
			continue
		}
		c := answer.Cell{
			Lock: j.Row, Fault: j.Column, Word: j.Word, Skipped: j.Status == Skipped, Samples: j.Samples(),
			Blocked: j.Failed[checker.Liveness],
		}
		if !c.Skipped {
			c.Open = max(j.Of-len(c.Samples), 0)
		}
		cells = append(cells, c)
	}
	return answer.Of(cells)
}
