package reports

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Story is what happened in a run, as the terminal and the page tell it. All times are ns since the start of the run.
type Story struct {
	Happened []*happening // what checks found that failed, or cannot say whether, the worst first
	More     int          // how many are left out
	Survived *Survived    // what a lock without a violation survived; nil for every other run
	Noted    []Incident   // findings that required checks report although they pass, by kind
	Totals   []string     // the sums over the whole run, a sentence each
}

// Incident is what is told in one line: findings of one check, rule and class.
type Incident struct {
	checker.Found // the one that ranks first

	Count int
	First int64 // the beginning of the earliest of them
}

// Step is one event of a story.
type Step struct {
	At     int64
	Party  string // the client, the node or the nemesis whose step it is
	Kind   StepKind
	Events []int64 // indexes in the history that show it
	Text   string  // a sentence
	Bad    bool    // the damage itself
}

// StepKind is the kind of a step.
type StepKind string

// Kinds of steps.
const (
	StepGranted     StepKind = "granted"     // a client is granted the lock
	StepWaits       StepKind = "waits"       // a client begins to wait for a lock that it never gets
	StepRenewed     StepKind = "renewed"     // a lease is renewed, on which a finding turns
	StepLeaseOver   StepKind = "lease-over"  // the lease of a grant runs out
	StepTold        StepKind = "told"        // a client is told that its lock is lost
	StepRead        StepKind = "read"        // a client reads the resource
	StepWrite       StepKind = "write"       // a client writes the resource
	StepRefused     StepKind = "refused"     // the fence refuses a request
	StepRelease     StepKind = "release"     // a client releases
	StepFault       StepKind = "fault"       // a fault strikes
	StepProof       StepKind = "proof"       // the effect of a fault is observed, clearly later
	StepHeal        StepKind = "heal"        // a fault is over
	StepDeath       StepKind = "death"       // a node is killed
	StepRole        StepKind = "role"        // a node reports its present role
	StepLost        StepKind = "lost"        // an acknowledged update is lost for good
	StepOverwritten StepKind = "overwritten" // an acknowledged update is overwritten unseen, and a later write brings it back
)

// Survived is the story of a run without a violation.
type Survived struct {
	Headline string
	Steps    []Step // the first faults
	More     int    // how many faults are left out
}

// tell makes the story of a run.
func tell(r *checker.Results, rec *history.Record) *Story {
	s := &Story{Totals: totals(r)}
	s.Happened, s.More = happened(r, rec)
	for _, f := range foundIn(r) {
		if c := r.Checks[f.Check]; c.Required && c.Verdict == checker.Pass {
			s.Noted = withKind(s.Noted, f)
		}
	}
	if r.Verdict == checker.Pass && r.Stats["violations"] == 0 {
		s.Survived = withstood(r, rec)
	}
	return s
}

// failures are what required checks found that failed: what to tell in full, and the others by kind.
func (s *Story) failures(r *checker.Results) (worst *happening, also []Incident) {
	for _, h := range s.Happened {
		i := slices.IndexFunc(h.found, func(f listedFinding) bool {
			c := r.Checks[f.Check]
			return c.Required && c.Verdict == checker.Fail
		})
		switch {
		case i < 0:
		case worst == nil:
			worst = h
		default:
			also = withKind(also, h.found[i])
		}
	}
	return worst, also
}

// withKind adds a finding, which ranks after those before it, to its kind.
func withKind(kinds []Incident, f listedFinding) []Incident {
	i := slices.IndexFunc(kinds, func(in Incident) bool {
		return in.Check == f.Check && in.Finding.Rule == f.Finding.Rule && in.Finding.Class == f.Finding.Class
	})
	if i < 0 {
		return append(kinds, Incident{f.Found, 1, f.Finding.From})
	}
	kinds[i].Count++
	kinds[i].First = min(kinds[i].First, f.Finding.From)
	return kinds
}

// telling is the order of checks among findings that rank alike.
func telling(r *checker.Results) []string {
	order := slices.Clone(r.Order)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(checker.RankOfCheck(a), checker.RankOfCheck(b)) })
	return order
}

// isCore reports whether the grants that a finding shares with another one are the whole
// core of a violation of linearizability: one grant that was gone too early is that of the
// overlap that came of it.
func isCore(check string, f checker.Finding, shared int) bool {
	return check == checker.LockLinearizability && shared > 0 && shared == len(f.Grants)
}

// headOf says in front of a headline what kind of finding it is.
func headOf(c checker.Class) string {
	switch c {
	case checker.Inherent:
		return "Inherent to leases: "
	case checker.Defect:
		return "A defect of the lock: "
	default:
		return ""
	}
}
