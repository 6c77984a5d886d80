package harness

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// closeLogs ends the controller's own logs: with f:end, when the run is complete, else
// as they are, so that the history is at best unknown.
func (s *session) closeLogs(complete bool) error {
	recs := slices.DeleteFunc([]*history.Recorder{s.nemesisRec, s.registerRec}, func(r *history.Recorder) bool { return r == nil })
	if s.rec == nil {
		return nil
	}
	if !complete {
		var errs []error
		for _, r := range append(recs, s.rec) {
			errs = append(errs, r.Close())
		}
		return errors.Join(errs...)
	}
	for _, r := range recs {
		if err := r.Finish(nil); err != nil {
			return err
		}
	}
	n, err := s.counts()
	if err != nil {
		return err
	}
	return s.rec.Finish(n)
}

// counts is the number of events of each log but the controller's own, read back from
// the files: what is there is what counts.
func (s *session) counts() (map[string]int64, error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, history.LogDir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	n := map[string]int64{}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".jsonl")
		if name == history.PartyController {
			continue
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		n[name] = int64(strings.Count(string(b), "\n"))
	}
	return n, nil
}
