package reports

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Story is what happened in a run, as data: [Tell] makes it from results and record, the terminal and the page render
// it, and its JSON form is for reports over many runs and for other programs. All times are ns since the start of the
// run.
type Story struct {
	// Incidents are the failures of required checks, one for each kind, the worst first. Only the first MaxTold have
	// steps.
	Incidents []Incident `json:"incidents,omitempty"`
	// Survived has what a lock without a violation survived; nil for every other run.
	Survived *Survived `json:"withstood,omitempty"`
	// Noted has findings that required checks report although they pass.
	Noted []Incident `json:"noted,omitempty"`
	// Totals are the sums over the whole run.
	Totals []Total `json:"totals,omitempty"`
}

// MaxTold is how many incidents a story tells step by step.
const MaxTold = 6

// Kind is what the findings that are told as one incident have in common.
type Kind struct {
	Check string        `json:"check"`
	Rule  string        `json:"rule"`
	Class checker.Class `json:"class"`
}

// Incident is one kind of finding, told by the finding that shows it best.
type Incident struct {
	Kind
	Count    int             `json:"count"`    // listed findings of the kind
	First    int64           `json:"first_ns"` // the beginning of the earliest of them
	Headline string          `json:"headline"` // a sentence
	Finding  checker.Finding `json:"finding"`  // the one that is told
	Steps    []Step          `json:"steps,omitempty"`
	Cause    string          `json:"cause"`
	// Seen are other kinds under which the same finding is listed.
	Seen []Kind `json:"seen,omitempty"`
}

// Step is one event of a story.
type Step struct {
	At     int64    `json:"at_ns"`
	Party  string   `json:"party"` // the client, the node or the nemesis whose step it is
	Kind   StepKind `json:"kind"`
	Events []int64  `json:"events,omitempty"` // indexes in the history that show it
	Text   string   `json:"text"`             // a sentence
	Bad    bool     `json:"bad,omitempty"`    // the damage itself
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
	Headline string `json:"headline"`
	Steps    []Step `json:"steps,omitempty"` // the first faults
	More     int    `json:"more,omitempty"`  // how many faults are left out
}

// Total is one sum over the whole run.
type Total struct {
	Kind  TotalKind `json:"kind"`
	Count int64     `json:"count"`
	Text  string    `json:"text"` // a sentence
}

// TotalKind says what was summed up.
type TotalKind string

// Kinds of totals.
const (
	TotalOverlaps   TotalKind = "overlaps"    // pairs of clients that were inside at once
	TotalLostPlain  TotalKind = "lost-plain"  // updates lost for good without a fence
	TotalLostFenced TotalKind = "lost-fenced" // updates lost with the fence
	TotalLostLedger TotalKind = "lost-ledger" // updates of the ledger of a stock lost for good
	TotalNoFence    TotalKind = "no-fence"    // updates lost that no fence could have saved
)

// Tell makes the story of a run. It is a pure function: the same results and the same record give the same story.
func Tell(r *checker.Results, rec *history.Record) *Story {
	s := &Story{Incidents: incidents(r, checker.Fail), Noted: incidents(r, checker.Pass), Totals: totals(r)}
	for i := range s.Told() {
		in := &s.Incidents[i]
		in.Steps = steps(&in.Finding, r, rec)
	}
	if r.Verdict == checker.Pass && r.Stats["violations"] == 0 {
		s.Survived = withstood(r, rec)
	}
	return s
}

// Told returns the incidents that are told step by step.
func (s *Story) Told() []Incident { return s.Incidents[:min(len(s.Incidents), MaxTold)] }

// Untold returns the incidents that are only counted.
func (s *Story) Untold() []Incident { return s.Incidents[len(s.Told()):] }

// Worst returns the finding that is told first; nil if no required check failed with one.
func (s *Story) Worst() *checker.Finding {
	if len(s.Incidents) == 0 {
		return nil
	}
	return &s.Incidents[0].Finding
}
