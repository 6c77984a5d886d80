package reports

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Story is what happened in a run: [Tell] makes it from results and record, the terminal and the page render it. All times are ns
// since the start of the run.
type Story struct {
	Incidents []Incident // failures of required checks, one for each kind, the worst first; only the first has steps
	Survived  *Survived  // what a lock without a violation survived; nil for every other run
	Noted     []Incident // findings that required checks report although they pass
	Totals    []string   // the sums over the whole run, a sentence each
}

// Kind is what the findings that are told as one incident have in common.
type Kind struct {
	Check, Rule string
	Class       checker.Class
}

// Incident is one kind of finding, told by the finding that shows it best.
type Incident struct {
	Kind

	Count   int   // listed findings of the kind
	First   int64 // the beginning of the earliest of them
	Finding checker.Finding
	Steps   []Step
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

// Tell makes the story of a run. It is a pure function: the same results and the same record give the same story.
func Tell(r *checker.Results, rec *history.Record) *Story {
	s := &Story{Incidents: incidents(r, checker.Fail), Noted: incidents(r, checker.Pass), Totals: totals(r)}
	if len(s.Incidents) > 0 {
		s.Incidents[0].Steps = steps(&s.Incidents[0].Finding, r, rec)
	}
	if r.Verdict == checker.Pass && r.Stats["violations"] == 0 {
		s.Survived = withstood(r, rec)
	}
	return s
}

// kindOf is all findings of one kind.
type kindOf struct {
	Kind
	findings []checker.Finding
}

// incidents makes one incident of each kind of finding of the required checks that answered
// with a verdict, the worst first. A kind of which every finding is the event of a worse
// kind, as another check sees it, is not told again.
func incidents(r *checker.Results, verdict checker.Verdict) []Incident {
	kinds := kinds(r, verdict)
	var out []Incident
	for i, k := range kinds {
		if fresh := k.unseen(kinds[:i]); len(fresh) > 0 {
			out = append(out, k.incident(slices.MinFunc(fresh, checker.Rank)))
		}
	}
	return out
}

// kinds are the findings by their kind, in the order of the first of each; those of a kind in order of
// their beginning.
func kinds(r *checker.Results, verdict checker.Verdict) []*kindOf {
	var out []*kindOf
	for _, name := range telling(r) {
		c := r.Checks[name]
		if !c.Required || c.Verdict != verdict {
			continue
		}
		for _, f := range c.Findings {
			kind := Kind{Check: name, Rule: f.Rule, Class: f.Class}
			i := slices.IndexFunc(out, func(k *kindOf) bool { return k.Kind == kind })
			if i < 0 {
				i, out = len(out), append(out, &kindOf{Kind: kind})
			}
			out[i].findings = append(out[i].findings, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *kindOf) int { return checker.RankFound(a.first(), b.first()) })
	return out
}

// telling is the order of checks among findings that rank alike.
func telling(r *checker.Results) []string {
	order := slices.Clone(r.Order)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(checker.RankOfCheck(a), checker.RankOfCheck(b)) })
	return order
}

// first is the finding of a kind that ranks first.
func (k *kindOf) first() checker.Found {
	return checker.Found{Check: k.Check, Finding: slices.MinFunc(k.findings, checker.Rank)}
}

// unseen are the findings that are not an event of the worse kinds.
func (k *kindOf) unseen(worse []*kindOf) []checker.Finding {
	return slices.DeleteFunc(slices.Clone(k.findings), func(f checker.Finding) bool {
		return slices.ContainsFunc(worse, func(w *kindOf) bool { return w.sees(k.Kind, f) })
	})
}

// sees reports whether one of the findings is the same event as a finding of another check: of the same class, about
// the same grants. A token that comes twice is never taken for the overlap behind it: there, the fence broke.
func (k *kindOf) sees(other Kind, f checker.Finding) bool {
	if k.Check == other.Check || k.Class != other.Class || k.Check == checker.FencingTokens || other.Check == checker.FencingTokens {
		return false
	}
	return slices.ContainsFunc(k.findings, func(g checker.Finding) bool {
		switch n := checker.SharedGrants(&f, &g); {
		case n >= 2:
			return aboutWriter(k.Check, g, f) && aboutWriter(other.Check, f, g)
		default:
			return isCore(k.Check, g, n) || isCore(other.Check, f, n)
		}
	})
}

// aboutWriter reports whether another finding is about the writer of a finding on data,
// which comes first: two of those that lost their updates to it did nothing to each other.
func aboutWriter(check string, f, other checker.Finding) bool {
	return !isData(check) || slices.Contains(other.Grants, f.Grants[0])
}

// isCore reports whether the grants that a finding shares with another one are the whole
// core of a violation of linearizability: one grant that was gone too early is that of the
// overlap that came of it.
func isCore(check string, f checker.Finding, shared int) bool {
	return check == checker.LockLinearizability && shared > 0 && shared == len(f.Grants)
}

func (k *kindOf) incident(f checker.Finding) Incident {
	in := Incident{Kind: k.Kind, Count: len(k.findings), First: f.From, Finding: f}
	for _, g := range k.findings {
		in.First = min(in.First, g.From)
	}
	return in
}

// dataChecks are the checks whose findings are updates that were lost.
var dataChecks = []string{checker.DataPlain, checker.DataFenced}

func isData(check string) bool { return slices.Contains(dataChecks, check) }

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
