package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/reports"
)

// trails leads from the page of each run to the other runs of its cell, all of which are there by now, and says
// how often its outcome showed among them.
func (s *Suite) trails() (err error) {
	for _, c := range s.Cells {
		runs := s.last(c.Case.Name)
		for i := range runs {
			page := filepath.Join(s.Dir, runs[i].Dir, harness.ReportFile)
			if _, missing := os.Stat(page); errors.Is(missing, fs.ErrNotExist) {
				continue // it was never judged
			}
			err = errors.Join(err, reports.Retrail(page, reports.Context{Trail: harness.Trail(filepath.Dir(page)), Rate: rateOf(runs, i)}))
		}
	}
	return err
}

// rateOf says how many runs of a cell had the outcome of run i.
func rateOf(runs []RunResult, i int) string {
	if len(runs) < 2 {
		return ""
	}
	mine := failedIn(runs[i])
	same := len(lists.Filter(runs, func(o RunResult) bool { return o.Exit == runs[i].Exit && slices.Equal(failedIn(o), mine) }))
	if len(mine) > 0 {
		return fmt.Sprintf("The same checks failed in %d of the %d runs of this cell.", same, len(runs))
	}
	return fmt.Sprintf("%d of the %d runs of this cell ended like this run.", same, len(runs))
}

// failedIn are the required checks that fail in a run, in order.
func failedIn(o RunResult) []string {
	return lists.Filter(sortedKeys(o.Checks), func(name string) bool {
		return o.Checks[name].Required && o.Checks[name].Verdict == checker.Fail
	})
}
