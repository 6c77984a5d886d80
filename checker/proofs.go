package checker

// LockProof is the proof of lock-linearizability: how much was judged.
type LockProof struct {
	Locks      int `json:"locks"`
	Operations int `json:"operations"`
	Pieces     int `json:"pieces"`   // a lock for which an order exists counts as one
	Replayed   int `json:"replayed"` // operations in orders that were replayed, the optional ones that they need included
}

// DataProof is the proof of the data checks: whether an order of sections explains what the clients were told.
type DataProof struct {
	Clients Verdict `json:"clients"`
}

// Recovery is how long after a fault was over a client asked for a lock and was granted it, for the slowest lock. The
// proof of liveness has one for each fault. A fault with nothing to heal, and a fail-over, count from their
// beginning, and then only for clients that were not hurt by it.
type Recovery struct {
	Fault string `json:"fault"`
	ID    int    `json:"id"`
	Lock  string `json:"lock"`
	From  int64  `json:"from_ns"`
	Took  int64  `json:"took_ns"`
}

// Rules for records that are unsound because of the host: a client that could not end its log in time, and a wall
// clock that was set. All other rules blame the writer of the record.
const (
	RuleDied      = "died"
	RuleClockStep = "clock-step"
)

// RuleBreach is the rule for a record whose lock broke the protocol that drives it.
const RuleBreach = "breach"
