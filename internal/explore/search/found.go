package search

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/workloads"
)

// Violation is one kind of violation, with its first example.
type Violation struct {
	explore.Target
	Cause   checker.CauseKind `json:"cause_kind"`
	Fault   string            `json:"fault,omitempty"` // that is the cause
	With    []string          `json:"with,omitempty"`  // checks that failed as its consequence in the first run
	Shapes  map[string]int    `json:"shapes"`          // of proofs, and how many runs had them
	Message string            `json:"message"`
	Runs    int               `json:"runs"`     // that had it
	After   time.Duration     `json:"after_ns"` // when it was found first
	Nth     int               `json:"nth"`      // in which run
	Genome  Genome            `json:"genome"`
	Dir     string            `json:"dir,omitempty"` // of the run, in that of the search; empty: it was not kept
}

func (v *Violation) String() string {
	if v.Fault != "" {
		return v.Target.String() + " after " + v.Fault
	}
	return v.Target.String()
}

// follows are checks whose violations follow from one that fails, too: they are told with it.
var follows = map[string]string{
	checker.LockLinearizability: checker.MutualExclusion, checker.DataPlain: checker.MutualExclusion,
	checker.LossNotice: checker.MutualExclusion,
}

// fails reports whether a check makes a run fail.
func fails(r *checker.Results, name string) bool {
	c := r.Checks[name]
	return c.Required && c.Violates()
}

// lateTry is the rule of a try that was not answered in time, whatever was at work meanwhile.
const lateTry = "late-try"

// heldByFaults reports whether a try took too long only while faults were at work. A search has faults that last for longer than
// a try may take: that a try does not end before its fault is no bug that is worth a search, but one that goes on afterwards is.
func heldByFaults(rec *history.Record, f checker.Finding) bool {
	if f.Rule != lateTry {
		return false
	}
	var spans []history.Interval
	for _, in := range rec.Faults {
		if in.Effective() {
			spans = append(spans, in.Span())
		}
	}
	slices.SortFunc(spans, func(a, b history.Interval) int { return cmp.Compare(a.From, b.From) })
	span := history.Interval{From: f.From, To: f.To}
	return span.To-span.From-span.Covered(spans) <= rec.Run.Bounds[workloads.BoundTry]
}

// keep keeps the run that is enough, and the one without a violation that came nearest to one; kept is where a run is kept
// already.
func (w *searching) keep(nth int, dir, kept string, r *checker.Results, b Behaviour) error {
	move := func(to string) error {
		if err := os.RemoveAll(filepath.Join(w.Dir, to)); err != nil {
			return err
		}
		return os.Rename(dir, filepath.Join(w.Dir, to))
	}
	switch {
	case r.Verdict == checker.Fail && w.Enough != nil && w.state.Last == "" && w.Enough(r):
		if w.state.Last = kept; kept == "" {
			w.state.Last = fmt.Sprintf("last-%d", nth)
			return move(w.state.Last)
		}
	case r.Verdict == checker.Pass && (w.state.Nearest == "" || b.Margin < w.margin):
		w.state.Nearest, w.margin = nearestDir, b.Margin
		return move(nearestDir)
	}
	return nil
}

// nearestDir is where the run is that came nearest to a violation.
const nearestDir = "nearest"

// violations adds what a run has broken; the first example of each is kept, where it says.
func (w *searching) violations(g Genome, nth int, dir string, r *checker.Results, rec *history.Record) (kept string, err error) {
	changed := false
	for name, c := range r.Checks {
		if !fails(r, name) || fails(r, follows[name]) {
			continue
		}
		all := slices.DeleteFunc(slices.Clone(c.Findings), func(f checker.Finding) bool {
			return !f.Gating || f.Doubtful ||
				heldByFaults(rec, f)
		})
		if len(all) == 0 {
			continue
		}
		f := slices.MinFunc(all, checker.Rank)
		fault := "" // that is the cause
		if in := rec.Injected(f.Fault); in != nil {
			fault = in.Fault.Fault
		}
		v := w.known(name, fault, f)
		shape := Shape(rec, f)
		if v == nil {
			v = &Violation{
				Target: explore.Target{Check: name, Rule: f.Rule, Class: f.Class}, Cause: f.CauseKind, Fault: fault,
				Shapes: map[string]int{}, Message: f.Message,
				After: time.Since(w.begun), Nth: nth, Genome: g,
			}
			for other, first := range follows {
				if first == name && fails(r, other) {
					v.With = append(v.With, other)
				}
			}
			slices.Sort(v.With)
			if kept == "" && len(w.state.Violations) < w.Keep {
				kept = filepath.Join("found", fmt.Sprintf("%s-%s-%d", name, f.Rule, nth))
			}
			v.Dir = kept
			w.state.Violations, w.state.New = append(w.state.Violations, v), v
		}
		v.Runs++
		v.Shapes[shape]++
		changed = true
	}
	if kept != "" {
		if err := os.MkdirAll(filepath.Join(w.Dir, "found"), 0o755); err != nil {
			return "", err
		}
		if err := os.Rename(dir, filepath.Join(w.Dir, kept)); err != nil {
			return "", err
		}
	}
	if !changed {
		return "", nil
	}
	return kept, files.WriteJSON(filepath.Join(w.Dir, ViolationsFile), w.state.Violations)
}

func (w *searching) known(check, fault string, f checker.Finding) *Violation {
	of := explore.Target{Check: check, Rule: f.Rule, Class: f.Class}
	v, _ := lists.Find(w.state.Violations, func(v *Violation) bool {
		return v.Target == of && v.Cause == f.CauseKind && v.Fault == fault
	})
	return v
}
