package harness

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// closeLogs ends the controller's own logs: with f:end, when the run is complete, else
// as they are, so that the history is at best unknown.
func (s *session) closeLogs(complete bool) error {
	recs := slices.DeleteFunc([]*history.Recorder{s.nemesisRec, s.registerRec}, func(r *history.Recorder) bool { return r == nil })
	if s.rec == nil {
		return nil
	}
	if !complete {
		return errors.Join(lists.Map(append(recs, s.rec), (*history.Recorder).Close)...)
	}
	for _, r := range recs {
		if err := r.Finish(history.End{}); err != nil {
			return err
		}
	}
	others, err := s.others()
	if err != nil {
		return err
	}
	return s.rec.Finish(others)
}

// others is what the controller's end says of the other logs, read back from the files: what
// is there is what counts.
func (s *session) others() (end history.End, err error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, history.LogDir, "*.jsonl"))
	if err != nil {
		return end, err
	}
	end.Parties, end.Sums = map[string]int64{}, map[string]uint32{}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".jsonl")
		if name == history.PartyController {
			continue
		}
		history.Settle(p) //nolint:errcheck // on a full disk the tail of the log stays, and is read there
		b, err := history.ReadLog(p)
		if err != nil {
			return end, err
		}
		end.Sums[name], end.Parties[name] = history.FileSum(b)
	}
	return end, nil
}
