package sim

import "github.com/lockstorm/lockstorm/history"

// Trace is a simulated run: its record, and what really happened.
type Trace struct {
	Config  Config
	History *history.History
	Truth   *Truth
}

// Truth is what really happened. No judge can see it.
type Truth struct {
	Grants []*Grant // in order of the attempts
	Writes []*Write // what registers took, in order
	// Last is the write whose value each register of a lock had in the end, as far as its log, or the answer of a read
	// after it, has shown; by lock and register.
	Last     map[[2]string]*Write
	Answers  []*Answer
	Breaches []Breach // where the service or a register broke its word
	Faults   []*Fault
	Held     []HeldUp
	Final    int64               // when the final sections began
	Bound    int64               // for how long from then on clients may have to wait
	Stopped  int64               // when the clients were told to stop
	Over     int64               // when the run was over
	Stuck    map[string][]string // lock -> clients that never were granted their last section
	Blockers map[string][]*Grant // lock -> who held it in the service when the run was stopped
	Jobs     map[int64][]*Grant  // by period: who did its job and knew of it, in order
}

// Grant is an acquire attempt as the service and its client saw it.
type Grant struct {
	ID, Client, Lock, Mode, Owner, Lease string

	Asked   int64 // the acquire's invocation
	Sent    int64 // of the request that was granted, as recorded
	Applied int64 // when the service granted it; Never if it did not
	Ended   int64 // when the service ended it; Forever if it did not
	Known   int64 // when the client learned that it has it; Never
	Unknown bool  // the client never learned the outcome
	Doubt   int64 // since when it did not
	Refused int64 // when the client learned that it does not have it; Never
	Waits   bool  // it was asked for, or still waited, in the final sections
	Tries   bool  // it was one try
	Over    int64 // when its client had its answer, or gave up; Never
	Wire    history.Wire
	Token   int64

	Deadlines []Told // what the client was told, in order
	Base      int64  // the latest sent + ttl that it was told of; 0: none
	Unsure    int64  // the latest invocation + ttl of a renewal of unknown outcome; 0: none
	Renewed   int    // renewals asked for

	Released int64 // its client's first release; Never
	Back     int64 // the return of the release that settled it; Never
	Settled  string
	Retried  bool  // it was asked for more than once
	Denied   int64 // the return of the first answer that says that it is not held; Never
	Lost     int64 // first notice of a loss; Never
	Killed   int64 // its client was killed; Never
	Moved    int64 // its client asked for the lock again without having released it; Never
	LastUse  int64 // the last use that was invoked; Never
	Used     map[string][]*Use
	Late     []HeldUp // requests to the resource that were on their way for long
}

// Told is a deadline and since when its client knew of it.
type Told struct{ At, Deadline int64 }

// Use is a read or a write of a register under a grant.
type Use struct {
	F        string
	Register string
	Invoked  int64
	Applied  int64 // Never: not, or refused
	Acked    bool
	Outcome  history.Type // empty: its client never had one
	Returned int64
	Base     int64 // what it read, or replaces
	New      int64

	turn int    // of a read: its place among the requests that the register answered
	saw  *Write // and whose value it was answered with
}

// Write is a write that a register took.
type Write struct {
	Grant          *Grant
	Lock, Register string
	At             int64
	Since          int // how many writes of the register came before its grant's last read
	Use            *Use
	Parent         *Write // whose value its grant knew; nil: the first value
}

// Answer is an answer of a fence that means something.
type Answer struct {
	Kind  string // one of the next
	Grant *Grant
	At    int64
}

// The answers of a fence.
const (
	Refused   = "refused"
	TookStale = "stale-accepted"
	TookEqual = "equal-token"
	TookNone  = "no-token"
)

// Breach is a moment in which the service or a register broke its word, because of the bug or
// of a fault that destroys what is kept.
type Breach struct {
	Kind   Bug
	At     int64
	Grant  *Grant // who got what it should not, or lost what it had
	Victim *Grant // whose right it was; nil: nobody's
	Fault  int    // id of the fault that did it; 0: the bug
	// Register is the one that broke its word; empty: the service did.
	Register string
}

// Fault is an injection as it really was.
type Fault struct {
	ID       int
	Name     string
	Family   string
	Clients  []string
	From, To int64 // at work
	Invoked  int64
	Healed   int64
	Delays   bool
}

// HeldUp is a span in which a client, or one of its requests to the resource, was held up.
type HeldUp struct {
	Client   string
	From, To int64
	Fault    int   // 0: by the host, or by nobody's fault
	Waited   int64 // of a request: until when its client waited for the answer
}

// LeaseAt is the deadline that the client of a grant knew of at a moment; Forever where
// grants do not run out.
func (g *Grant) LeaseAt(t int64) int64 {
	d := Forever
	for i, told := range g.Deadlines {
		if told.At <= t {
			if i == 0 || d == Forever {
				d = told.Deadline
			}
			d = max(d, told.Deadline)
		}
	}
	return d
}

func (g *Grant) denied(code string, at int64) {
	if code == history.ErrNotHeld && g.Denied < 0 {
		g.Denied = at
	}
}
